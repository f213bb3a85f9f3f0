//! `nicteam service reload`: a changed file, for a team that runs.

use nicteam_host::service;

use super::of_file::OfFile;
use crate::failure::Failure;
use crate::say;
use crate::team::require_root;

/// Make a running team what its file says now: options, members, addresses and routes.
#[derive(Debug, clap::Args)]
pub(crate) struct Reload {
    #[command(flatten)]
    team: OfFile,
}

/// Prints what changed.
pub(super) fn run(reload: &Reload) -> Result<(), Failure> {
    require_root()?;
    let done = service::reload(&reload.team.config, &reload.team.name)?;
    done.notes.iter().for_each(|note| say::line(format_args!("note: {}", say::visible(note))));
    done.changes.iter().try_for_each(|change| say::data(say::visible(change) + "\n"))
}
