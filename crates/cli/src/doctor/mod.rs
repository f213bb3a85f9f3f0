//! `nicteam doctor`: what is wrong with a host or a path, and the cure.

mod path;

use std::process::ExitCode;

use crate::failure::Failure;

/// What is wrong with a host or a path, and the cure.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Find out which packets pass the way to another host and back, with nothing of nicteam's at the other end.
    Path(path::Args),
}

/// Carries a command out.
pub(crate) fn run(command: &Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Path(args) => path::run(args),
    }
}
