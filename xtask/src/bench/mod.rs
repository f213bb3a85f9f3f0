//! `xtask bench`: the micro-benchmarks.

mod choice;
mod device;
pub(crate) mod instructions;
pub(crate) mod network;
mod openvswitch;
pub(crate) mod stream;
pub(crate) mod throughput;
mod topology;

use std::time::Duration;

use crate::bench::stream::Times;
use crate::failure::Failure;
use crate::figure::Section;
use crate::part::{self, Part};
use crate::results::{Measured, Save};

/// What to measure, and how thoroughly.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    save: Save,
    /// Only this; may be repeated.
    #[arg(long, value_name = "PART", value_parser = part::names(&PARTS))]
    only: Vec<String>,
    /// Of the throughputs only those with this in their name; may be repeated.
    #[arg(long, value_name = "TEXT")]
    row: Vec<String>,
    /// How often the hosts of each throughput are built anew.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// How often each throughput is measured on them, in turn with its peer.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How long each time, milliseconds.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    window_ms: u64,
    /// How often the topology is built and taken down, in turn with mininet.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    builds: u32,
}

/// The parts, in the order in which they are measured.
const PARTS: [&Part<Arguments>; 6] =
    [&throughput::PART, &device::PART, &choice::PART, &instructions::PART, &openvswitch::PART, &topology::PART];

/// Measures, and prints each part as soon as it is there.
pub(crate) fn run(arguments: &Arguments) -> Result<Vec<Section>, Failure> {
    let measured = Measured { prefix: "", script: "scripts/bench.sh" };
    part::run(&PARTS, &arguments.only, arguments, &arguments.save.of(measured))
}

impl Arguments {
    /// How often throughputs are measured, and how long.
    fn times(&self) -> Times {
        let Arguments { pairs: builds, rounds, window_ms, .. } = *self;
        Times { builds, rounds, window: Duration::from_millis(window_ms) }
    }
}
