//! `nicteam doctor`: whether a machine, or the way to another, is fit for what is wanted.

mod lab;

use std::process::ExitCode;

use crate::failure::Failure;

/// Look whether this machine is fit for what is wanted.
#[derive(Debug, clap::Args)]
#[command(after_help = lab::EXIT_CODES)]
pub(crate) struct Args {
    /// Look at what the lab can use: programs of others, and what the kernel can.
    #[arg(long)]
    lab: bool,
    /// Print what was found as JSON.
    #[arg(long, requires = "lab")]
    json: bool,
}

/// Carries the command out.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.lab {
        return lab::run(args.json);
    }
    Err(Failure::wrong_input("what is to be looked at?").hint(Some("`--lab`: what the lab can use of this machine")))
}
