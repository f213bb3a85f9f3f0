//! What a gigabit takes beside Open vSwitch's userspace datapath: processor time of the whole machine.
//!
//! The hosts are built anew for each measurement, ours and theirs in turn, so that nothing of the one runs while the other
//! is measured, and where memory happens to lie favours nobody.

use std::time::Duration;

use nicteam_sys::shape::Granularity;

use super::network::{Links, Network};
use crate::accept::Arguments;
use crate::bench::stream::{self, Cost};
use crate::bench::throughput;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::stats::Estimate;

/// What a gigabit takes, machine-wide.
pub(in crate::accept) const PART: Part<Arguments> = Part {
    tools: &[("ovs-vswitchd", "openvswitch-switch")],
    ..Part::new(
        "ovs-cost",
        "processor seconds a gigabit beside Open vSwitch's userspace datapath: two links at both ends, one plain switch, \
         cubic (bpf dataplane)",
        measure,
    )
};

/// A bond of theirs, and the team that is to do the same.
struct Setting {
    name: &'static str,
    theirs: &'static str,
    ours: &'static [(&'static str, &'static str)],
}

const SETTINGS: [Setting; 2] = [
    Setting { name: "active-backup", theirs: "bond_mode=active-backup", ours: &[("mode", "ovs-active-backup")] },
    Setting { name: "balance-slb", theirs: "bond_mode=balance-slb", ours: &[("mode", "ovs-balance-slb")] },
];

/// T5's links.
const GIGABIT: Option<u64> = Some(1_000_000_000);

/// Frames, and what ours may take of what theirs takes. Where nothing limits the rate, TCP itself takes nearly all that
/// ours takes, so no bundle whatever could keep to a part of theirs: told, not judged.
const FRAMES: [(&str, Links, Bound); 3] = [
    ("GSO frames, links of 1 Gbit/s", Links { granularity: Granularity::WHOLE, rate_bps: GIGABIT }, Bound::AtMost(0.2)),
    ("GSO frames, unlimited", Links { granularity: Granularity::WHOLE, rate_bps: None }, Bound::None),
    ("MTU-sized packets, unlimited", Links { granularity: Granularity::Packets, rate_bps: None }, Bound::AtMost(1.0)),
];
const STREAMS: [usize; 2] = [1, 8];
/// Left out at the start of each measurement.
const SETTLE: Duration = Duration::from_millis(500);

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for setting in &SETTINGS {
        for (frames, links, bound) in FRAMES {
            let (costs, noise) = Noise::around(|| in_turn(context, setting, links, frames))?;
            for (streams, [ours, theirs]) in STREAMS.iter().zip(costs) {
                let name = format!("{}, {frames}, {}: ours / Open vSwitch", setting.name, throughput::words(*streams));
                let ratio = Estimate::of_ratios(&busy(&ours), &busy(&theirs));
                let peer = format!("ours {}; Open vSwitch {}", words(&ours), words(&theirs));
                figures.push(Figure::ratio(name, ratio, bound).noise(noise).peer(peer));
            }
        }
    }
    Ok(figures)
}

/// What ours and theirs take, by number of streams.
type Costs = [[Vec<Cost>; 2]; STREAMS.len()];

fn in_turn(context: &Context<'_, Arguments>, setting: &Setting, links: Links, frames: &str) -> Result<Costs, Failure> {
    let (rounds, window) = (context.arguments.rounds, Duration::from_secs(context.arguments.seconds.into()));
    let mut costs = Costs::default();
    for round in 1..=rounds {
        eprintln!("beside Open vSwitch: {}, {frames}: {round} of {rounds}", setting.name);
        // Who goes first alternates.
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            let network = match side {
                0 => Network::ours(context.product, context.scratch.path(), setting.ours, links)?,
                _ => Network::theirs(setting.theirs, links)?,
            };
            for (streams, costs) in STREAMS.into_iter().zip(&mut costs) {
                costs[side].push(stream::cost(network.near(), network.far(), streams, SETTLE, window)?);
            }
        }
    }
    Ok(costs)
}

fn busy(costs: &[Cost]) -> Vec<f64> {
    costs.iter().map(|cost| cost.busy_s_per_gbit).collect()
}

/// `0.21 [0.20, 0.23] s, 4.7 Gbit/s`.
fn words(costs: &[Cost]) -> String {
    let rates: Vec<f64> = costs.iter().map(|cost| cost.gbps).collect();
    let (Some(busy), Some(rate)) = (Estimate::of(&busy(costs)), Estimate::of(&rates)) else { return String::new() };
    format!("{:.3} [{:.3}, {:.3}] s a gigabit at {:.1} Gbit/s", busy.median, busy.low, busy.high, rate.median)
}
