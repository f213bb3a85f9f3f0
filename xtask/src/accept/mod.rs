//! `xtask accept`: the figures of "what must be seen": those of the experiments, and what no experiment file can say.

mod against;
mod arguments;
mod check;
mod planted;
mod service;
mod shares;
mod t3;
mod t3_ssh;

use clap::builder::PossibleValuesParser;

use crate::failure::Failure;
use crate::figure::Section;
use crate::part::{self, Part};
use crate::results::{Measured, Save};
use arguments::Arguments;

/// What to measure, and how thoroughly.
#[derive(Debug, clap::Args)]
pub(crate) struct Command {
    #[command(flatten)]
    save: Save,
    /// Only this; may be repeated.
    #[arg(long, value_name = "PART", value_parser = names())]
    only: Vec<String>,
    #[command(flatten)]
    arguments: Arguments,
}

/// What stays beside the experiments: other users, dataplanes and testbeds, the kernel's driver in a guest, a service in one.
const PARTS: [&Part<Arguments>; 7] =
    [&t3::PACKET, &t3::USER, &t3_ssh::PART, &planted::PART, &shares::PART, &service::DEBIAN_12, &service::DEBIAN_13];

/// Measures, and prints each part as soon as it is there.
pub(crate) fn run(command: Command) -> Result<Vec<Section>, Failure> {
    let Command { save, only, arguments } = command;
    let experiments = check::parts();
    let (parts, measured): (Vec<&Part<Arguments>>, _) = match &arguments.against {
        None => (experiments.iter().chain(PARTS).collect(), Measured { prefix: "", script: "scripts/accept.sh" }),
        Some(_) => {
            let compared =
                experiments.iter().filter(|part| only.contains(&part.name.to_owned()) || check::is_compared(part));
            let script = "scripts/accept.sh --against OLD_BINARY";
            (compared.chain([&against::PART]).collect(), Measured { prefix: "against-", script })
        }
    };
    part::run(&parts, &only, &arguments, &save.of(measured))
}

/// What `--only` takes, with `--against` and without.
fn names() -> PossibleValuesParser {
    check::parts().iter().chain(PARTS).chain([&against::PART]).map(|part| part.value()).collect::<Vec<_>>().into()
}
