//! `nicteam up`.

use std::time::Duration;

use nicteam_daemon::Kept;
use nicteam_formats::Team;
use nicteam_host::{check, confirm as confirmation, up};

use super::confirm::Guard;
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

/// Brings teams up, one after the other; the first failure ends it.
pub(super) fn run(args: &Up) -> Result<(), Failure> {
    let (import, names) = args.given.read()?;
    let active = up::refuse_active(&import);
    if !active.is_empty() && !args.force {
        return Err(Failure::failed(super::refused(&active)));
    }
    let teams = file::teams(&import, names)?;
    team::require_root()?;
    let guards = teams.iter().map(|team| bring_up(team, args)).collect::<Result<Vec<_>, _>>()?;
    if !args.wait {
        return Ok(());
    }
    let decided =
        teams.iter().zip(guards).map(|(team, mut guard)| confirm::wait_until_decided(&team.name, guard.as_mut()));
    // All are waited for, whatever becomes of the first.
    decided.collect::<Vec<_>>().into_iter().collect()
}

/// Brings one up; what awaits its confirmation.
fn bring_up(wanted: &Team, args: &Up) -> Result<Option<Guard>, Failure> {
    let name = &wanted.name;
    let options = || up::Options { force: args.force, ..up::Options::default() };
    // One that is up, and was confirmed, is not to be taken down.
    let is_new = !check::check(wanted, &options().root)?.is_up;
    let guard = args.confirm.filter(|_| is_new).map(|wait| confirm::guard(name, wait)).transpose()?;
    let mut failed = None;
    let mut start = |kept: &Kept| match team::begin(kept) {
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
        count => say::line(format_args!("team {name} is up as the file says now: {count} changes")),
    }
    match &guard {
        Some(guard) => guard.begin()?,
        None => confirm::remind(name),
    }
    Ok(guard)
}
