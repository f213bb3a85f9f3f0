//! `nicteam doctor`: whether a machine, or the way to another, is fit for what is wanted.

mod lab;
mod path;

use std::process::ExitCode;

use crate::failure::Failure;

/// Look whether this machine, or the way to another, is fit for what is wanted.
#[derive(Debug, clap::Args)]
#[command(after_help = lab::EXIT_CODES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Look at what the lab can use: programs of others, and what the kernel can.
    #[arg(long)]
    lab: bool,
    /// Print what was found as JSON.
    #[arg(long, requires = "lab")]
    json: bool,
}

/// What else to look at.
#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Find out which packets pass the way to another host and back, with nothing of nicteam's at the other end.
    Path(path::Args),
}

/// Carries the command out.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.command {
        Some(Command::Path(path)) => path::run(path),
        None if args.lab => lab::run(args.json),
        None => Err(Failure::wrong_input("what is to be looked at?").hint(Some(
            "`--lab`: what the lab can use of this machine; `path HOST`: which packets pass the way to another host",
        ))),
    }
}
