//! `xtask bench`: the micro-benchmarks.

mod arguments;
mod choice;
mod device;
pub(crate) mod instructions;
mod netkit;
pub(crate) mod network;
mod openvswitch;
pub(crate) mod stream;
pub(crate) mod throughput;
mod topology;

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
    #[arg(long, value_name = "PART", value_parser = part::names(&PARTS))]
    only: Vec<String>,
    #[command(flatten)]
    arguments: Arguments,
}

/// The parts, in the order in which they are measured.
const PARTS: [&Part<Arguments>; 7] = [
    &throughput::PART,
    &device::PART,
    &choice::PART,
    &instructions::PART,
    &netkit::PART,
    &openvswitch::PART,
    &topology::PART,
];

/// Measures, and prints each part as soon as it is there.
pub(crate) fn run(command: &Command) -> Result<Vec<Section>, Failure> {
    let measured = Measured { prefix: "", script: "scripts/bench.sh" };
    part::run(&PARTS, &command.only, &command.arguments, &command.save.of(measured))
}
