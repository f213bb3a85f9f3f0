//! What a gigabit takes beside Open vSwitch's userspace datapath: processor time of the whole machine.
//!
//! The hosts are built anew for each measurement, ours and theirs in turn, so that nothing of the one runs while the other
//! is measured, and where memory happens to lie favours nobody.
//!
//! Where nothing limits the rate, TCP alone takes most of what ours takes, so no bundle whatever could keep to a fifth of theirs. There
//! the same hosts without a bundle are measured, too, and what they take is subtracted from both.

use std::time::Duration;

use nicteam_netlink::shape::Granularity;

use super::network::{Links, Network};
use crate::accept::arguments::Arguments;
use crate::bench::stream::{self, Cost};
use crate::bench::throughput;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use nicteam_statistics::Estimate;

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

/// Frames, what ours may take of what theirs takes, and the same without what TCP takes, where that is measured.
struct Frames {
    name: &'static str,
    links: Links,
    whole: Bound,
    bundle: Option<Bound>,
}

/// A fifth, where frames pass whole.
const FIFTH: Bound = Bound::AtMost(0.2);
const FRAMES: [Frames; 3] = [
    Frames {
        name: "GSO frames, links of 1 Gbit/s",
        links: Links { granularity: Granularity::WHOLE, rate_bps: GIGABIT },
        whole: FIFTH,
        bundle: None,
    },
    Frames {
        name: "GSO frames, unlimited",
        links: Links { granularity: Granularity::WHOLE, rate_bps: None },
        whole: Bound::None,
        bundle: Some(FIFTH),
    },
    Frames {
        name: "MTU-sized packets, unlimited",
        links: Links { granularity: Granularity::Packets, rate_bps: None },
        whole: Bound::AtMost(1.0),
        bundle: None,
    },
];
const STREAMS: [usize; 2] = [1, 8];
/// Left out at the start of each measurement.
const SETTLE: Duration = Duration::from_millis(500);

/// Who is measured, by their places in [`Costs`].
const OURS: usize = 0;
const THEIRS: usize = 1;
/// Hosts without a bundle.
const BARE: usize = 2;

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for setting in &SETTINGS {
        for frames in &FRAMES {
            let (costs, noise) = Noise::around(|| in_turn(context, setting, frames))?;
            for (streams, costs) in STREAMS.iter().zip(&costs) {
                let name = format!("{}, {}, {}", setting.name, frames.name, throughput::words(*streams));
                figures.extend(compared(&name, frames, costs).map(|figure| figure.noise(noise)));
            }
        }
    }
    Ok(figures)
}

/// Ours beside theirs, as a whole and, where it was measured, without what TCP takes.
fn compared(name: &str, frames: &Frames, costs: &[Vec<Cost>; 3]) -> impl Iterator<Item = Figure> {
    let [ours, theirs, bare] = costs.each_ref().map(|costs| busy(costs));
    let beyond = |busy: &[f64]| busy.iter().zip(&bare).map(|(busy, bare)| busy - bare).collect::<Vec<f64>>();
    let whole =
        Figure::ratio(format!("{name}: ours / Open vSwitch"), Estimate::of_ratios(&ours, &theirs), frames.whole)
            .peer(format!("ours {}; Open vSwitch {}", words(&costs[OURS]), words(&costs[THEIRS])));
    let bundle = frames.bundle.map(|bound| {
        let ratio = Estimate::of_ratios(&beyond(&ours), &beyond(&theirs));
        let peer = format!("subtracted from both: a veth pair without a bundle, {}", words(&costs[BARE]));
        Figure::ratio(format!("{name}, what the bundle takes: ours / Open vSwitch"), ratio, bound).peer(peer)
    });
    std::iter::once(whole).chain(bundle)
}

/// What each takes, by number of streams.
type Costs = [[Vec<Cost>; 3]; STREAMS.len()];

fn in_turn(context: &Context<'_, Arguments>, setting: &Setting, frames: &Frames) -> Result<Costs, Failure> {
    // A window of rest goes before each, and there are many.
    let (rounds, window) = (context.arguments.rounds, Duration::from_secs(context.arguments.seconds.into()) / 2);
    let mut costs = Costs::default();
    for round in 1..=rounds {
        eprintln!("beside Open vSwitch: {}, {}: {round} of {rounds}", setting.name, frames.name);
        let mut order = vec![OURS, THEIRS];
        order.extend(frames.bundle.map(|_| BARE));
        // Who goes first alternates.
        if round % 2 == 1 {
            order.reverse();
        }
        for side in order {
            let network = match side {
                OURS => Network::ours(context.product, context.scratch.path(), setting.ours, frames.links)?,
                THEIRS => Network::theirs(setting.theirs, frames.links)?,
                _ => Network::bare(frames.links)?,
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

/// `0.210 [0.200, 0.230] s a gigabit at 4.7 Gbit/s`.
fn words(costs: &[Cost]) -> String {
    let rates: Vec<f64> = costs.iter().map(|cost| cost.gbps).collect();
    let (Some(busy), Some(rate)) = (Estimate::of(&busy(costs)), Estimate::of(&rates)) else { return String::new() };
    format!("{:.3} [{:.3}, {:.3}] s a gigabit at {:.1} Gbit/s", busy.median, busy.low, busy.high, rate.median)
}
