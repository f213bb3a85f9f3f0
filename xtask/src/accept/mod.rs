//! `xtask accept`: the figures of "what must be seen".

mod against;
mod arguments;
mod big_link;
mod convergence;
mod idle;
mod iperf3;
mod live;
mod one_sided;
mod openvswitch;
mod probe;
mod requests;
mod service;
mod shares;
mod stall;
mod storage;
mod stripe;
mod t2;
mod t3;
mod t5;
mod tested;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;

pub(crate) use service::counting_guest;

use crate::failure::Failure;
use crate::figure::Section;
use crate::part::{self, Part};
use crate::results::{Measured, Save};
use against::Comparison;
use arguments::Arguments;

/// What to measure, and how thoroughly.
#[derive(Debug, clap::Args)]
pub(crate) struct Command {
    #[command(flatten)]
    save: Save,
    /// Only this; may be repeated.
    #[arg(long, value_name = "PART", value_parser = names())]
    only: Vec<String>,
    /// Compare the program with this one, interleaved: throughput, stripe, stall, instructions.
    #[arg(long, value_name = "OLD_BINARY")]
    against: Option<PathBuf>,
    #[command(flatten)]
    arguments: Arguments,
    /// Of the service's course only this step, and those without which there is no team; may be repeated. For work on
    /// one step: the whole course takes minutes.
    #[arg(long, value_name = "STEP", hide_short_help = true, value_parser = service::steps())]
    step: Vec<String>,
}

/// The parts, in the order in which they are measured.
const PARTS: [&Part<Arguments>; 33] = [
    &t2::SOFTETHER,
    &t2::COMPARISONS,
    &t2::T2,
    &t3::BPF,
    &t3::PACKET,
    &t3::USER,
    &t5::PART,
    &iperf3::PART,
    &stall::PART,
    &shares::PART,
    &convergence::PART,
    &big_link::PART,
    &idle::PART,
    &openvswitch::cost::PART,
    &openvswitch::compared::PART,
    &stripe::throughput::PART,
    &stripe::hosts::PART,
    &stripe::faults::PART,
    &stripe::peers::FOUR_LINKS,
    &stripe::peers::OTHER_LINKS,
    &stripe::peers::HOSTS,
    &stripe::faults::peers::PART,
    &one_sided::PART,
    &storage::paths::PART,
    &storage::copies::PART,
    &storage::faults::PART,
    &storage::t1::PART,
    &storage::mtu::PART,
    &storage::fio::PART,
    &storage::steady::PART,
    &service::DEBIAN_12,
    &service::DEBIAN_13,
    &live::PART,
];

/// Measures, and prints each part as soon as it is there.
pub(crate) fn run(command: Command) -> Result<Vec<Section>, Failure> {
    let Command { save, only, against, arguments, step } = command;
    let arguments = Arguments { step, ..arguments };
    match against {
        None => {
            let measured = Measured { prefix: "", script: "scripts/accept.sh" };
            part::run(&PARTS, &only, &arguments, &save.of(measured))
        }
        Some(binary) => {
            let comparison = Comparison::with(&binary, &arguments)?;
            let measured = Measured { prefix: "against-", script: "scripts/accept.sh --against OLD_BINARY" };
            part::run(&against::PARTS, &only, &comparison, &save.of(measured))
        }
    }
}

/// What `--only` takes, with `--against` and without.
fn names() -> PossibleValuesParser {
    let compared = against::PARTS.iter().filter(|compared| PARTS.iter().all(|part| part.name != compared.name));
    PARTS.iter().map(|part| part.value()).chain(compared.map(|part| part.value())).collect::<Vec<_>>().into()
}
