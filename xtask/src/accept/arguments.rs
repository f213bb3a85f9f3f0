//! How thoroughly to measure: what each part is given.

/// How thoroughly to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How often T3 is run in each setting, and T5.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) repeats: u32,
    /// How many pairs of runs are compared: with iperf3, with the big link, with the old program. The interval
    /// of twelve leaves two out at each end.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) rounds: u32,
    /// Rate of T3's links with the packet dataplane, which passes every packet
    /// through user space four times; the table states it.
    #[arg(long, default_value = "100mbit")]
    pub(super) packet_rate: String,
    /// How long each run is measured, whole seconds.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) seconds: u32,
    /// Of the service's course only these steps, and those without which there is no team; empty: all.
    #[arg(skip)]
    pub(super) step: Vec<String>,
}
