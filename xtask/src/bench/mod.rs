//! `xtask bench`: the micro-benchmarks.

mod choice;
mod device;
mod instructions;
mod network;
mod stream;
mod throughput;
mod topology;

use std::time::Duration;

use nicteam_sys::process;

use crate::bench::stream::Times;
use crate::failure::Failure;
use crate::figure::{Figure, Section};
use crate::product::Product;
use crate::results::Save;
use crate::side;
use crate::tools::{self, Tool};

/// What to measure, and how thoroughly.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    save: Save,
    /// Only this; may be repeated.
    #[arg(long, value_enum)]
    only: Vec<Part>,
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

/// A part of the benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Teams beside the raw veth.
    Throughput,
    /// A veth end beside a TAP as the team's device.
    Device,
    /// Nanoseconds per choice of the plan.
    Choice,
    /// Instructions per packet beside the kernel's bonding driver.
    Instructions,
    /// Time to build and to take down T3, beside mininet.
    Topology,
}

const PARTS: [Part; 5] = [Part::Throughput, Part::Device, Part::Choice, Part::Instructions, Part::Topology];

/// Measures, and prints each part as soon as it is there.
pub(crate) fn run(arguments: &Arguments) -> Result<Vec<Section>, Failure> {
    let wanted: Vec<Part> =
        PARTS.into_iter().filter(|part| arguments.only.is_empty() || arguments.only.contains(part)).collect();
    let tools: Vec<Tool> = wanted.iter().flat_map(|part| part.tools()).copied().collect();
    tools::require(&tools)?;
    let product = Product::find()?;
    if wanted.contains(&Part::Choice) {
        // Nothing may be compiled while something is measured.
        choice::build()?;
    }
    let mut sections = Vec::new();
    for part in wanted {
        let section = Section::new(part.title(), measure(part, arguments, &product));
        print!("{section}");
        arguments.save.part("bench", &part, std::slice::from_ref(&section))?;
        sections.push(section);
        if process::termination().is_some() {
            return Err(Failure::Interrupted);
        }
    }
    Ok(sections)
}

fn measure(part: Part, arguments: &Arguments, product: &Product) -> Result<Vec<Figure>, Failure> {
    let Arguments { pairs: builds, rounds, window_ms, .. } = *arguments;
    let times = Times { builds, rounds, window: Duration::from_millis(window_ms) };
    match part {
        Part::Throughput => throughput::measure(times, &arguments.row),
        Part::Device => device::measure(times),
        Part::Choice => choice::measure(),
        Part::Instructions => instructions::measure(product),
        Part::Topology => topology::measure(product, arguments.builds),
    }
}

impl Part {
    fn title(self) -> &'static str {
        match self {
            Part::Throughput => "throughput beside a raw veth: 4 members, teams at both ends, unlimited, cubic",
            Part::Device => "the team's device: a veth end beside a TAP, balance-rr, bpf",
            Part::Choice => "choice of the plan",
            Part::Instructions => {
                "instructions per packet, in a guest that counts them: 4 members, all packets made anew"
            }
            Part::Topology => {
                "T3's topology: five hosts, four links each (ours with nine teams and rates, mininet's with rates)"
            }
        }
    }

    fn tools(self) -> &'static [Tool] {
        match self {
            Part::Topology => &topology::TOOLS,
            Part::Instructions => &side::TOOLS,
            Part::Throughput | Part::Device | Part::Choice => &[],
        }
    }
}
