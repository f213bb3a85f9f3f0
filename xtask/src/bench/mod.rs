//! `xtask bench`: the micro-benchmarks.

pub(crate) mod instructions;
mod netkit;
mod openvswitch;
mod plain;

use crate::failure::Failure;
use crate::figure::Section;
use crate::part::{self, Part};
use crate::results::{Measured, Save};

/// What to measure, and how thoroughly.
#[derive(Debug, clap::Args)]
pub(crate) struct Command {
    #[command(flatten)]
    save: Save,
    /// Only this; may be repeated.
    #[arg(long, value_name = "PART", value_parser = part::names(&PARTS))]
    only: Vec<String>,
}

/// The parts, in the order in which they are measured.
const PARTS: [&Part<()>; 4] = [&instructions::PART, &netkit::PART, &openvswitch::PART, &plain::PART];

/// Measures, and prints each part as soon as it is there.
pub(crate) fn run(command: &Command) -> Result<Vec<Section>, Failure> {
    let measured = Measured { prefix: "", script: "scripts/bench.sh" };
    part::run(&PARTS, &command.only, &(), &command.save.of(measured))
}
