//! `nicteam down`.

use std::path::Path;

use nicteam_daemon::control;
use nicteam_host::down;

use super::file;
use crate::failure::Failure;
use crate::{say, team};

/// Take teams down, and restore what `nicteam up` found on their members.
///
/// After a crash, too, of the team's process, of `nicteam up`, or of `nicteam down` itself. What was found before a reboot is
/// forgotten.
#[derive(Debug, clap::Args)]
pub(crate) struct Down {
    /// A team, or a file with teams.
    #[arg(value_name = "NAME|FILE")]
    name: String,
    /// Teams of the file; all by default.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Say what was changed.
    #[arg(long, short)]
    verbose: bool,
}

/// Takes teams down; one that cannot be keeps nobody from the others.
pub(super) fn run(args: &Down) -> Result<(), Failure> {
    team::require_root()?;
    let mut failure = None;
    for name in names(args)? {
        if let Err(error) = taken_down(&name, args.verbose)
            && let Some(earlier) = failure.replace(error)
        {
            say::line(earlier);
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Takes one down.
pub(crate) fn taken_down(name: &str, verbose: bool) -> Result<(), Failure> {
    let done = down::take_down(name)?;
    if verbose {
        done.changes.iter().for_each(|change| say::line(say::visible(change)));
    }
    done.notes.iter().for_each(|note| say::line(format_args!("note: {}", say::visible(note))));
    say::line(format_args!("team {name} is down"));
    Ok(())
}

/// A team of this name goes before a file of it.
fn names(args: &Down) -> Result<Vec<String>, Failure> {
    let runs = control::teams().is_ok_and(|teams| teams.iter().any(|listed| listed.team == args.name));
    let is_up = down::teams().is_ok_and(|teams| teams.contains(&args.name));
    if runs || is_up || !(args.name == "-" || Path::new(&args.name).exists()) {
        return Ok(std::iter::once(args.name.clone()).chain(args.names.iter().cloned()).collect());
    }
    let import = file::read(&args.name, None)?;
    // The last one up is the first one down.
    Ok(file::teams(&import, &args.names)?.into_iter().rev().map(|team| team.name).collect())
}
