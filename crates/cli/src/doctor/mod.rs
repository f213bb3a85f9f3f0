//! `nicteam doctor`: whether a machine, or the way to another, is fit for what is wanted.

mod host;
mod lab;
mod path;

use std::process::ExitCode;
use std::time::Duration;

use nicteam_experiment::show_duration;

use crate::failure::Failure;
use crate::{elsewhere, value};

const EXIT_CODES: &str = "\
Exit codes: 0 nothing will disappoint, 1 something will. With --lab: 0 every program is there, 3 one
is missing; what the kernel cannot does not count, the lab does without, as it says. Of several
machines the highest counts, and 1 for one that cannot be asked.";

/// Look whether this machine, or the way to another, is fit for what is wanted.
///
/// Without arguments: what will disappoint on this host, and the cure. Links, bonds and teams, offloads, limits of drivers,
/// what the kernel lacks, who else manages the network, and the switch as far as it tells. Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Look at these machines instead, which `ssh` takes: `root@node1`. The program is copied there, executed, and nothing of
    /// it stays.
    #[arg(value_name = "HOST")]
    hosts: Vec<String>,
    /// Look at what the lab can use: programs of others, and what the kernel can.
    #[arg(long)]
    lab: bool,
    /// Listen so long to what the ports at the other ends say by LLDP and LACP, each of which comes every 30 s: `35s`. It
    /// takes CAP_NET_RAW. Without it nothing is listened to.
    #[arg(long, value_name = "TIME", value_parser = value::duration, conflicts_with = "lab")]
    listen: Option<Duration>,
    /// Print what was found as JSON.
    #[arg(long)]
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
        None if !args.hosts.is_empty() => elsewhere::run_on_each(&args.hosts, &words(args), args.json),
        None if args.lab => lab::run(args.json),
        None => host::run(args.listen.unwrap_or_default(), args.json),
    }
}

/// The same command for another machine.
fn words(args: &Args) -> Vec<String> {
    let mut words = vec!["doctor".to_owned()];
    words.extend(args.lab.then(|| "--lab".to_owned()));
    words.extend(args.listen.map(|listen| format!("--listen={}", show_duration(listen))));
    words.extend(args.json.then(|| "--json".to_owned()));
    words
}
