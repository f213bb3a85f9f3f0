//! `nicteam down`.

use std::path::Path;

use nicteam_daemon::control;
use nicteam_formats::Format;
use nicteam_host::down;
use nicteam_sys::process;

use super::file;
use crate::failure::Failure;
use crate::{convert, say, team};

/// Take teams down, and restore what `nicteam up` found on their members.
///
/// After a crash, too, of the team's process, of `nicteam up`, or of `nicteam down` itself. What was found before a reboot is
/// forgotten.
#[derive(Debug, clap::Args)]
pub(crate) struct Down {
    /// Teams; or files with teams, as `nicteam up` reads them, and names of teams in them.
    #[arg(required = true, value_name = "NAME|FILE")]
    words: Vec<String>,
    /// The files' format; found out by default.
    #[arg(long, value_name = "FORMAT", value_parser = convert::FORMAT, hide_possible_values = true)]
    from: Option<&'static dyn Format>,
    /// Say what was changed.
    #[arg(long, short)]
    verbose: bool,
}

/// Takes teams down; one that cannot be keeps nobody from the others. A signal stops it between two teams, for half a team down
/// would leave the host without a network.
pub(super) fn run(args: &Down) -> Result<(), Failure> {
    team::require_root()?;
    process::catch_termination()?;
    let mut failure = None;
    for name in names(args)? {
        if process::termination().is_some() {
            return Err(Failure::interrupted(format!("stopped by a signal before team {name} was taken down")));
        }
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

/// A team of the first word's name goes before a file of it.
fn names(args: &Down) -> Result<Vec<String>, Failure> {
    let first = args.words.first().map_or("", String::as_str);
    let meant: Vec<String> = args.words.iter().map(|word| control::meant(word)).collect();
    let is_first = |team: &String| meant.first() == Some(team);
    let runs = control::teams().is_ok_and(|teams| teams.iter().any(|listed| is_first(&listed.team)));
    let is_up = down::teams().is_ok_and(|teams| teams.iter().any(is_first));
    if runs || is_up || !(first == "-" || Path::new(first).exists()) {
        return Ok(meant);
    }
    let (import, names) = file::read(&args.words, args.from)?;
    // The last one up is the first one down.
    Ok(file::teams(&import, names)?.into_iter().rev().map(|team| team.name).collect())
}
