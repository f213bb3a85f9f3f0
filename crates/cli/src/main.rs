//! The `nicteam` command: parses arguments, calls, prints.
//!
//! Data goes to standard output, talk to standard error. Exit codes: 0 done;
//! 1 it could not be done; 2 the command line or a file is wrong; 3 the
//! machine lacks something that is named; 130 stopped by a signal.
#![forbid(unsafe_code)]

mod advise;
mod capture;
mod convert;
mod doctor;
mod elsewhere;
mod explain;
mod failure;
mod host;
mod lab;
mod manual;
mod metrics;
mod ovs;
mod privileges;
mod say;
mod serve;
mod service;
mod storage;
mod sweep;
mod team;
mod top;
mod value;
mod which;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use failure::Failure;

/// Bundle network links, and prove what the bundle delivers.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 it could not be done, 2 the command line or a file is wrong,
3 the machine lacks something that is named, 130 stopped by a signal.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Experiments: build hosts, switches and links, drive traffic, measure, explain.
    #[command(subcommand)]
    Lab(lab::Command),
    /// Teams on this host.
    #[command(subcommand)]
    Team(team::Command),
    Check(host::Check),
    Up(host::Up),
    Confirm(host::Confirm),
    Down(host::Down),
    #[command(hide = true)]
    AwaitConfirmation(host::AwaitConfirmation),
    /// Print our own file of teams, from the configuration that there is.
    Import(convert::Import),
    /// Write teams as another program's configuration, or as the switch's end.
    Export(convert::Export),
    /// Tell which member a flow, or each frame of a capture, takes.
    Which(which::Args),
    Advise(advise::Args),
    Capture(capture::Args),
    Top(top::Args),
    Metrics(metrics::Args),
    /// Open vSwitch's commands about bonds, in its words.
    #[command(subcommand)]
    Ovs(ovs::Command),
    /// Disks over many paths: an iSCSI target's, exported to any program.
    #[command(subcommand)]
    Storage(storage::Command),
    Sweep(sweep::Args),
    Serve(serve::Args),
    Doctor(doctor::Args),
    Explain(explain::Args),
    #[command(subcommand, hide = true)]
    Service(service::Command),
    #[command(hide = true)]
    Completions(manual::Completions),
    #[command(hide = true)]
    Man(manual::Man),
    /// The lab's hand on one host or switch; started by the lab alone.
    #[command(hide = true)]
    Agent {
        /// Host or switch it works on.
        #[arg(long)]
        node: String,
        /// The lab it belongs to.
        #[arg(long)]
        lab: String,
    },
    /// Keeps the links that an agent borrows on another machine; started by the lab alone.
    #[command(hide = true)]
    Keep(lab::Keep),
}

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        match ovs::wrong_number(&words).filter(|_| error.use_stderr()) {
            Some(failure) => {
                say::line(&failure);
                std::process::exit(failure.number().into())
            }
            None => error.exit(),
        }
    });
    let done = match arguments.command {
        Command::Lab(command) => return ended(lab::run(command)),
        Command::Team(command) => team::run(command),
        Command::Check(args) => host::check(&args),
        Command::Up(args) => host::up(&args),
        Command::Confirm(args) => host::confirm(&args),
        Command::Down(args) => host::down(&args),
        Command::AwaitConfirmation(args) => host::await_confirmation(&args),
        Command::Import(args) => return ended(convert::import(&args)),
        Command::Export(args) => return ended(convert::export(&args)),
        Command::Which(args) => which::run(&args),
        Command::Advise(args) => advise::run(&args),
        Command::Capture(args) => capture::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Metrics(args) => metrics::run(&args),
        Command::Storage(command) => storage::run(&command),
        Command::Sweep(args) => sweep::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Doctor(args) => return ended(doctor::run(&args)),
        Command::Explain(args) => return ended(explain::run(&args)),
        Command::Ovs(command) => return ended(ovs::run(&command)),
        Command::Service(command) => return ended(service::run(&command)),
        Command::Completions(args) => manual::completions(&args, &Arguments::command()),
        Command::Man(args) => manual::man(&args, Arguments::command()),
        Command::Keep(args) => lab::keep(args),
        Command::Agent { node: _, lab: _ } => {
            nicteam_lab::agent::serve().map_err(|error| Failure::failed(error.to_string()))
        }
    };
    ended(done.map(|()| ExitCode::SUCCESS))
}

/// The exit code; says what could not be done.
fn ended(done: Result<ExitCode, Failure>) -> ExitCode {
    done.unwrap_or_else(|failure| {
        say::line(&failure);
        failure.code()
    })
}
