//! `nicteam team`: teams on this host.

mod add;
mod ask;
mod failures;
mod record;
mod replay;
mod run;
mod spec;

pub(crate) use add::begin;
pub(crate) use ask::{order, remove};
pub(crate) use failures::{not_started, refused, require_root};

use crate::failure::Failure;

/// Teams on this host.
///
/// Each runs in a process of its own, in the network namespace it was added in,
/// and is found there by name.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    // Described at their arguments, or `--help` would show no more than a line.
    Add(add::Add),
    Run(run::Run),
    Del(ask::Del),
    Set(ask::Set),
    /// Take devices into a running team, or let members go.
    #[command(subcommand)]
    Member(ask::MemberCommand),
    Show(ask::Show),
    Activate(ask::Activate),
    Events(ask::Events),
    List(ask::List),
    Record(record::Record),
    Replay(replay::Replay),
    Restart(add::Restart),
    /// The process of a team; started by `team add` and `team restart` alone.
    #[command(hide = true)]
    Serve,
}

/// Carries a command out.
pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Add(add) => add::add(&add),
        Command::Run(run) => run::run(&run),
        Command::Del(del) => ask::del(&del),
        Command::Set(set) => ask::set(&set),
        Command::Member(member) => ask::member(&member),
        Command::Show(show) => ask::show(&show),
        Command::Activate(activate) => ask::activate(&activate),
        Command::Events(events) => ask::events(&events),
        Command::List(list) => ask::list(&list),
        Command::Record(wanted) => record::record(&wanted),
        Command::Replay(wanted) => replay::replay(&wanted),
        Command::Restart(restart) => add::restart(&restart),
        Command::Serve => run::serve(),
    }
}
