//! `nicteam up`.

use std::time::Duration;

use nicteam_daemon::PersistedTeam;
use nicteam_formats::Team;
use nicteam_host::check::{self, Plan};
use nicteam_host::{Error, Refusal, confirm as confirmation, down, up};
use nicteam_sys::process;

use super::confirm::Guard;
use super::refusals::refused;
use super::{confirm, file};
use crate::failure::Failure;
use crate::{say, team, value};

/// Bring the teams of a file up: they take over what stands on their members.
///
/// Addresses, routes, policy rules, neighbours and VLAN devices of the members move to the team, in an order in which
/// connections live on. What was found is noted, and `nicteam down` restores it. Called again, it does what is left to do.
/// `nicteam check FILE` says it without doing it.
#[derive(Debug, clap::Args)]
pub(crate) struct Up {
    #[command(flatten)]
    given: file::Given,
    /// Take the team down again unless `nicteam confirm` follows within this time, for example `60s`. For those who are
    /// logged in by a member.
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    confirm: Option<Duration>,
    /// End when that is decided, and fail if the team was taken down. For scripts that then bring back what was there before.
    #[arg(long, requires = "confirm")]
    wait: bool,
    /// Bring it up in spite of what is in the way, as far as the kernel allows that.
    #[arg(long)]
    force: bool,
    /// Say each step that is taken.
    #[arg(long, short)]
    verbose: bool,
}

/// Brings teams up, one after the other, if nothing is in the way of one of them; the first failure ends it.
pub(super) fn run(args: &Up) -> Result<(), Failure> {
    let (import, names) = args.given.read()?;
    let active = up::refuse_active(&import);
    if !active.is_empty() && !args.force {
        return Err(Failure::failed(refused(&active)));
    }
    let teams = file::teams(&import, names)?;
    team::require_root()?;
    let root = up::Options::default().root;
    let names: Vec<String> = teams.iter().map(|team| team.name.clone()).collect();
    let plan = |(ahead, team)| check::check(team, &names[..ahead], &root);
    let plans = teams.iter().enumerate().map(plan).collect::<Result<Vec<_>, _>>()?;
    let refusals: Vec<Refusal> = plans.iter().flat_map(|plan| plan.refusals.iter().cloned()).collect();
    if !refusals.is_empty() && !args.force {
        return Err(Error::Refused { refusals }.into());
    }
    // Half a way up would leave the host without a network: what was done is undone.
    process::catch_termination()?;
    let begun = teams.iter().zip(&plans).map(|(team, plan)| bring_up(team, plan, args));
    let guards = begun.collect::<Result<Vec<_>, _>>()?;
    if !args.wait {
        return Ok(());
    }
    let decided = teams.iter().zip(guards).map(|(team, guard)| confirm::wait_until_decided(&team.name, guard));
    // All are waited for, whatever becomes of the first.
    decided.collect::<Vec<_>>().into_iter().collect()
}

/// Brings one up; what awaits its confirmation.
fn bring_up(wanted: &Team, plan: &Plan, args: &Up) -> Result<Option<Guard>, Failure> {
    let name = &wanted.name;
    let options = || up::Options { force: args.force, ..up::Options::default() };
    // One that is up, and was confirmed, is not to be taken down.
    let is_new = !plan.is_up;
    let guard = args.confirm.filter(|_| is_new).map(|wait| confirm::guard(name, wait)).transpose()?;
    let mut failed = None;
    let mut start = |persisted: &PersistedTeam| match team::begin(persisted) {
        Ok(_) => Ok(()),
        Err(failure) => {
            let said = failure.to_string();
            failed = Some(failure);
            Err(said)
        }
    };
    let mut say_step = |_: usize, step: &str| say::line(say::visible(step));
    let watch = args.verbose.then_some(up::Watch(&mut say_step));
    let done = match up::bring_up(wanted, &mut start, up::Options { watch, ..options() }) {
        Ok(done) => done,
        Err(error) => {
            if guard.is_some() {
                // There is nothing to be confirmed.
                let _ = confirmation::confirm(name);
            }
            if process::termination().is_some() {
                return Err(stopped(name));
            }
            // What the process of the team said is the reason.
            return Err(failed.unwrap_or_else(|| error.into()));
        }
    };
    done.notes
        .iter()
        .for_each(|note| say::line(format_args!("note: {}", say::visible(note).replace("; hint: ", "\nhint: "))));
    match done.changes.len() {
        0 => say::line(format_args!("team {name} is up already: nothing to do")),
        // As many as `check` counts.
        _ if is_new => say::line(format_args!("team {name} is up, after {} steps", done.steps)),
        1 => say::line(format_args!("team {name} is up as the file says now: 1 change")),
        count => say::line(format_args!("team {name} is up as the file says now: {count} changes")),
    }
    match &guard {
        Some(guard) => guard.begin()?,
        None => confirm::remind(name),
    }
    Ok(guard)
}

/// A signal came on the way up.
fn stopped(team: &str) -> Failure {
    match down::teams().is_ok_and(|teams| teams.iter().any(|noted| noted == team)) {
        false => Failure::interrupted(format!("stopped by a signal: what was done for team {team} is undone")),
        true => Failure::interrupted(format!("stopped by a signal on the way of team {team}"))
            .hint(Some(format!("`nicteam down {team}` restores what was found, `nicteam up` goes on"))),
    }
}
