//! How thoroughly to measure: what each part is given.

use std::path::PathBuf;

/// How thoroughly to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How often each run of an experiment is carried out at first; fewer than six times have no interval of 95 %.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) repeats: u32,
    /// How often at most, while something is undecided.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) most: u32,
    /// How long each run of an experiment is measured, whole seconds; as its file says if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) seconds: Option<u32>,
    /// Rate of T3's links with the packet dataplane, which passes every packet through user space four times.
    #[arg(long, default_value = "100mbit")]
    pub(super) packet_rate: String,
    /// Compare with this program, in turn: figures of experiments, and instructions.
    #[arg(long, value_name = "OLD_BINARY")]
    pub(super) against: Option<PathBuf>,
    /// Of the service's course only this step, and those without which there is no team; may be repeated. For work on
    /// one step: the whole course takes minutes.
    #[arg(long, value_name = "STEP", hide_short_help = true, value_parser = clap::builder::PossibleValuesParser::new(nicteam_course::steps()))]
    pub(super) step: Vec<String>,
}
