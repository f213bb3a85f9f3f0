//! `nicteam storage`: disks over many paths.

mod export;
mod portal;
mod show;

use crate::failure::Failure;

/// Disks over many paths.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    // Described at its arguments, or `--help` would show no more than a line.
    Export(export::Export),
}

/// Carries a command out.
pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Export(export) => export::export(export),
    }
}

impl From<nicteam_storage::Error> for Failure {
    fn from(error: nicteam_storage::Error) -> Failure {
        match error {
            nicteam_storage::Error::Absent(absent) => Failure::missing(absent),
            nicteam_storage::Error::Spec(_) => Failure::wrong_input(error),
            error => Failure::failed(error),
        }
    }
}
