//! Commands that ask the process of a team.

use clap::ValueEnum;
use nicteam_daemon::control::{
    Client, Done, Listed, Refusal, RefusalKind, Request, TeamState, meant, teams, wait_until_free,
};
use nicteam_daemon::{Entry, TeamStatus, show, take_down};
use nicteam_host::down;

use super::failures::{not_started, require_root};
use super::spec::assignments;
use crate::failure::Failure;
use crate::{host, say, value};

/// Take a team down and give its members back as they were, also one whose process has ended.
#[derive(Debug, clap::Args)]
pub(crate) struct Del {
    /// The team.
    name: String,
}

/// Change options of a running team, all at once and without losing a frame.
///
/// Every option of `team add -o` may change, and the mode among the modes that
/// agree on nothing with the other end: balance-rr, active-backup, balance-xor,
/// broadcast. What changed is printed.
#[derive(Debug, clap::Args)]
pub(crate) struct Set {
    /// The team.
    name: String,
    /// Options by the kernel's names: `mode=balance-xor xmit_hash_policy=layer3+4`.
    #[arg(required_unless_present = "named", value_name = "OPTION=VALUE")]
    options: Vec<String>,
    /// The same as `team add` takes them.
    #[arg(short = 'o', long = "option", value_name = "OPTION=VALUE")]
    named: Vec<String>,
}

/// Members of a running team.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum MemberCommand {
    /// Take devices in.
    Add(Members),
    /// Let members go, and give them back as they were.
    Del(Members),
}

/// A team and devices.
#[derive(Debug, clap::Args)]
pub(crate) struct Members {
    /// The team.
    name: String,
    /// The devices.
    #[arg(required = true, value_delimiter = ',', value_parser = value::device)]
    devices: Vec<String>,
}

/// Show how a team is, or all teams of this network namespace.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The team; all by default.
    name: Option<String>,
    /// In which form.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Forms of a team's status.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people, and what is wrong in words.
    Text,
    /// As /proc/net/bonding/NAME.
    Proc,
    /// For programs; described in docs/team.md.
    Json,
    /// As `teamdctl NAME state dump`.
    Teamdctl,
    /// As `teamdctl NAME state`.
    TeamdctlView,
}

/// Make a member the active one (modes active-backup, balance-tlb, balance-alb, stripe).
///
/// It stays until the rules choose another: when it fails, or when the primary comes up.
#[derive(Debug, clap::Args)]
pub(crate) struct Activate {
    /// The team.
    name: String,
    /// The member.
    member: String,
}

/// Print what happened to a team since its process began; the last 1000 events are kept.
#[derive(Debug, clap::Args)]
pub(crate) struct Events {
    /// The team.
    name: String,
    /// Go on with each event when it happens, until the team ends.
    #[arg(long, short)]
    follow: bool,
    /// A JSON value a line; described in docs/team.md.
    #[arg(long)]
    json: bool,
}

/// List the teams of this network namespace.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// A JSON array.
    #[arg(long)]
    json: bool,
}

/// Takes a team down.
pub(super) fn del(del: &Del) -> Result<(), Failure> {
    let name = meant(&del.name);
    // What `nicteam up` found on its members is restored, too.
    if nicteam_host::down::teams().is_ok_and(|teams| teams.contains(&name)) {
        require_root()?;
        return host::taken_down(&name, false);
    }
    remove(&name)
}

/// The same, by name.
pub(crate) fn remove(team: &str) -> Result<(), Failure> {
    match Client::connect(team) {
        Ok(client) => Ok(client.remove()?),
        Err(Refusal { kind: RefusalKind::NotRunning, .. }) => {
            require_root()?;
            wait_until_free(team)?;
            take_down(team).map_err(|error| not_started(&error))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// Changes options.
pub(super) fn set(set: &Set) -> Result<(), Failure> {
    let done = order(&set.name, &Request::Set { options: assignments(set.options.iter().chain(&set.named))? })?;
    done.changed.iter().try_for_each(|change| say::data(format_args!("{change}\n")))
}

/// Takes devices in or lets them go, one by one; the first failure ends it.
pub(super) fn member(command: &MemberCommand) -> Result<(), Failure> {
    let (members, request): (&Members, fn(String) -> Request) = match command {
        MemberCommand::Add(members) => (members, |device| Request::AddMember { device }),
        MemberCommand::Del(members) => (members, |device| Request::RemoveMember { device }),
    };
    members.devices.iter().try_for_each(|device| order(&members.name, &request(device.clone())).map(drop))
}

/// Shows a team or all.
pub(super) fn show(wanted: &Show) -> Result<(), Failure> {
    if let Some(name) = wanted.name.as_deref().map(meant) {
        let status = Client::watch(&name).and_then(|mut client| client.status());
        let status = status.map_err(|refusal| half_way(&name).unwrap_or_else(|| refusal.into()))?;
        return say::data(formatted(&status, wanted.format));
    }
    let mut outcome = Ok(());
    for listed in here()? {
        match listed.state {
            // One that does not answer keeps nobody from the others.
            TeamState::Running => match Client::watch(&listed.team).and_then(|mut client| client.status()) {
                Ok(status) => say::data(formatted(&status, wanted.format))?,
                Err(refusal) => {
                    say::line(Failure::from(refusal));
                    outcome = Err(Failure::failed("not every team could be shown"));
                }
            },
            TeamState::Held | TeamState::Stopped => say::line(format_args!("{}: {}", listed.team, words(&listed))),
        }
    }
    outcome
}

/// Of a team that is not there: that it was brought up, and nothing is restored.
fn half_way(team: &str) -> Option<Failure> {
    let is_listed = teams().is_ok_and(|teams| teams.iter().any(|listed| listed.team == team));
    let is_noted = down::teams().is_ok_and(|teams| teams.iter().any(|noted| noted == team));
    let failure = Failure::failed(format!("team {team} is gone, and what stood on its members is not restored"));
    let hint = format!("`nicteam down {team}` restores it, `nicteam up` brings the team up again");
    (is_noted && !is_listed).then(|| failure.hint(Some(hint)))
}

/// Makes a member the active one.
pub(super) fn activate(activate: &Activate) -> Result<(), Failure> {
    order(&activate.name, &Request::Activate { device: activate.member.clone() }).map(drop)
}

/// Prints events.
pub(super) fn events(events: &Events) -> Result<(), Failure> {
    let mut client = Client::watch(&meant(&events.name))?;
    let print = |entry: &Entry| match events.json {
        true => say::data_to_reader(serde_json::to_string(entry).map_err(Failure::failed)? + "\n"),
        false => say::data_to_reader(say::visible(entry) + "\n"),
    };
    if !events.follow {
        return client.events_after(0)?.iter().try_for_each(|entry| print(entry).map(drop));
    }
    for entry in client.follow()? {
        if !print(&entry?)? {
            return Ok(());
        }
    }
    say::line(format_args!("team {} has ended", events.name));
    Ok(())
}

/// Lists the teams.
pub(super) fn list(list: &List) -> Result<(), Failure> {
    let teams = here()?;
    if list.json {
        return say::data(serde_json::to_string_pretty(&teams).map_err(Failure::failed)? + "\n");
    }
    let width = teams.iter().map(|listed| listed.team.len()).max().unwrap_or(0);
    teams.iter().try_for_each(|listed| say::data(format_args!("{:width$}  {}\n", listed.team, words(listed))))
}

fn here() -> Result<Vec<Listed>, Failure> {
    teams().map_err(|error| not_started(&error))
}

/// Lets a team do something, and says what the user should know of it.
pub(crate) fn order(team: &str, request: &Request) -> Result<Done, Failure> {
    let done = Client::connect(&meant(team))?.order(request)?;
    done.notes.iter().for_each(|note| say::line(format_args!("note: {}", say::visible(note))));
    Ok(done)
}

fn formatted(status: &TeamStatus, format: Format) -> String {
    match format {
        Format::Text => say::visible(show::text(status)),
        Format::Proc => say::visible(show::proc(status)),
        Format::Json => show::json(status),
        Format::Teamdctl => show::teamdctl(status),
        Format::TeamdctlView => say::visible(show::teamdctl_view(status)),
    }
}

fn words(listed: &Listed) -> String {
    let state = match listed.state {
        TeamState::Running => "running".to_owned(),
        TeamState::Held => "running, controlled by the program that started it alone".to_owned(),
        TeamState::Stopped => {
            format!("not running; `nicteam team restart {}` takes it over", listed.team)
        }
    };
    let called = listed.device.as_ref().map(|device| format!("; its device is called {device}"));
    state + &called.unwrap_or_default()
}
