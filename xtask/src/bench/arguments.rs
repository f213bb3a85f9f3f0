//! How thoroughly to measure: what each part is given.

use std::time::Duration;

use crate::bench::stream::Times;

/// How thoroughly to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Of the throughputs only those with this in their name; may be repeated.
    #[arg(long, value_name = "TEXT")]
    pub(super) row: Vec<String>,
    /// How often the hosts of each throughput are built anew.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) pairs: u32,
    /// How often each throughput is measured on them, in turn with its peer.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) rounds: u32,
    /// How long each time, milliseconds.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) window_ms: u64,
    /// How often the topology is built and taken down, in turn with mininet.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) builds: u32,
}

impl Arguments {
    /// How often throughputs are measured, and how long.
    pub(super) fn times(&self) -> Times {
        let Arguments { pairs: builds, rounds, window_ms, .. } = *self;
        Times { builds, rounds, window: Duration::from_millis(window_ms) }
    }
}
