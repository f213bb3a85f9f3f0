//! A changed file, for a team that runs.

use std::path::Path;

use nicteam_daemon::control::{Client, Request};
use nicteam_daemon::{Notes, OptionChange, TeamStatus};
use nicteam_formats::{Import, Network, Team};

use super::{Error, named};
use crate::up::{self, Options};

/// End of the name of what is noted of the file.
const END: &str = "source";

/// What a file changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// Each change, as a sentence.
    pub changes: Vec<String>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Makes a running team what the file says of it: options, members, addresses and routes, each where it differs. What was set by hand
/// since (`nicteam team set`) goes. The team's address, MTU and dataplane stay until it is stopped.
///
/// # Errors
/// The file is wrong: then nothing has changed. Or the team refused a part, or does not run.
pub fn reload(folder: &Path, team: &str) -> Result<Reloaded, Error> {
    let wanted = named(folder, team)?;
    let before = noted(team)?;
    let mut client = Client::connect(team).map_err(crate::Error::from)?;
    let status = client.status().map_err(crate::Error::from)?;
    let mut done = Reloaded::default();
    set_options(&mut client, &wanted, &mut done)?;
    change_members(&mut client, &wanted, &status, &mut done)?;
    drop(client);
    let mut runs = |_: &_| Err(format!("team {team} has ended meanwhile"));
    // What runs is not refused.
    let options = Options { force: true, ..Options::default() };
    let up = up::bring_up(&wanted, &mut runs, options)?;
    done.changes.extend(up.changes);
    done.notes.extend(up.notes);
    done.notes.extend(before.iter().flat_map(|before| lasting(before, &wanted)));
    note(&wanted)?;
    Ok(done)
}

/// Notes what the file says of a team that has become that.
///
/// # Errors
/// The folder of the network namespace cannot be written to.
pub fn note(team: &Team) -> Result<(), crate::Error> {
    Ok(Notes::of(&team.name)?.write(END, &text_of(team))?)
}

/// True if the file says of a team what it said when it was noted.
///
/// # Errors
/// What is noted cannot be read.
pub fn is_noted(team: &Team) -> Result<bool, crate::Error> {
    Ok(Notes::of(&team.name)?.read(END)?.is_some_and(|noted| noted == text_of(team)))
}

/// Forgets it: the team has ended.
///
/// # Errors
/// The note cannot be removed.
pub fn forget(team: &str) -> Result<(), crate::Error> {
    Ok(Notes::of(team)?.remove(END)?)
}

/// All of them at once, and those that are not in the file at their defaults.
fn set_options(client: &mut Client, wanted: &Team, done: &mut Reloaded) -> Result<(), crate::Error> {
    let refused = |error: nicteam_team::ConfigError| crate::Error::NotStarted {
        team: wanted.name.clone(),
        why: format!("{error}{}", error.hint().map_or_else(String::new, |hint| format!("; hint: {hint}"))),
    };
    let config = wanted.config().map_err(refused)?;
    let options = config.options().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let set = client.order(&Request::Set { options })?;
    done.changes.extend(set.changed.iter().map(OptionChange::to_string));
    done.notes.extend(set.notes);
    Ok(())
}

/// New ones first, so that the team does not lose its last one.
fn change_members(
    client: &mut Client,
    wanted: &Team,
    status: &TeamStatus,
    done: &mut Reloaded,
) -> Result<(), crate::Error> {
    let present: Vec<&String> = status.members.iter().map(|member| &member.name).chain(&status.missing).collect();
    for device in wanted.members.iter().filter(|device| !present.contains(device)) {
        let added = client.order(&Request::AddMember { device: device.clone() })?;
        done.changes.push(format!("added member {device}"));
        done.notes.extend(added.notes);
    }
    for device in present.into_iter().filter(|device| !wanted.members.contains(device)) {
        let removed = client.order(&Request::RemoveMember { device: device.clone() })?;
        done.changes.push(format!("removed member {device}"));
        done.notes.extend(removed.notes);
    }
    Ok(())
}

/// What changes only with the next start.
fn lasting(before: &Team, wanted: &Team) -> Vec<String> {
    let changed = [
        ("mac", before.mac != wanted.mac),
        ("mtu", before.mtu != wanted.mtu),
        ("accept_ra", before.accept_ra != wanted.accept_ra),
        ("dataplane", before.dataplane != wanted.dataplane),
    ];
    let name = &wanted.name;
    let said = |key| {
        format!(
            "`{key}` of team {name} changes when it is stopped and started: `nicteam down {name}`, then `nicteam up`"
        )
    };
    changed.into_iter().filter(|(_, changed)| *changed).map(|(key, _)| said(key)).collect()
}

fn noted(team: &str) -> Result<Option<Team>, crate::Error> {
    let Some(text) = Notes::of(team)?.read(END)? else { return Ok(None) };
    let source = nicteam_formats::Source::new("-", text);
    let network = nicteam_formats::toml::read(&[source]).unwrap_or_default();
    Ok(network.teams.into_iter().next())
}

/// A team in the words of the file, without its comments and its order.
fn text_of(team: &Team) -> String {
    let network = Network { teams: vec![team.clone()] };
    nicteam_formats::toml::write(&Import { network, ..Import::default() })
}
