//! How long a request takes over four links of 100 Mbit/s and over one of 400, idle and beside bulk connections.

use std::time::Duration;

use nicteam_sys::netlink::Netlink;
use nicteam_sys::process;
use nicteam_sys::shape::{self, Granularity, Sizes};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::requests::{Answered, Load, Transport, ask};
use crate::accept::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::held::{Ends, Held};
use crate::noise::Noise;
use crate::part::Context;
use crate::stats::{self, Estimate};

const EXPERIMENT: &str = "big-link-latency";
/// Hosts that ask and answer: those that stripe, and those with the big link.
const SIDES: [[&str; 2]; 2] = [["left", "right"], ["big-left", "big-right"]];
const SWITCH: &str = "sw";
/// What devices of the big link begin with at the switch, and their hosts' names everywhere.
const BIG: &str = "big-";

/// Links and rates, bit/s.
const RATE_BPS: u64 = 100_000_000;
const BIG_RATE_BPS: u64 = 400_000_000;
/// One frame and a little: a longer burst lets short frames pass at once.
const BURST_BYTES: u32 = 1600;
/// What a queue holds at its link's rate, milliseconds.
const QUEUE_MS: u64 = 16;

/// What is measured, and what each figure may be of the big link's.
struct Case {
    name: &'static str,
    load: Load,
    /// Rounds of each side, in turn.
    rounds: u32,
    p50: Bound,
    p99: Bound,
    /// The processes of the teams are stopped: what is left is the dataplane's.
    stopped: bool,
}

/// 20,000 requests a side each.
const IDLE: Case = Case {
    name: "idle, TCP",
    load: Load { transport: Transport::Tcp, clients: 1, each: 1000, bulk: 0 },
    rounds: 20,
    p50: Bound::AtMost(1.15),
    p99: Bound::AtMost(1.5),
    stopped: false,
};

const CASES: [Case; 4] = [
    IDLE,
    Case { name: "idle, UDP", load: Load { transport: Transport::Udp, ..IDLE.load }, ..IDLE },
    Case {
        name: "beside 4 bulk connections, TCP",
        // A request takes as long as the queue: ten clients ask at once, or it would take ten minutes.
        load: Load { clients: 10, each: 250, bulk: 4, ..IDLE.load },
        rounds: 8,
        p50: Bound::None,
        p99: Bound::AtMost(1.2),
        ..IDLE
    },
    Case { name: "idle, TCP, teams' processes stopped", p50: Bound::None, p99: Bound::None, stopped: true, ..IDLE },
];

/// Measures both sides in turn, case by case.
pub(super) fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let held = context.product.hold(EXPERIMENT)?;
    for node in SIDES.as_flattened().iter().chain([&SWITCH]) {
        held.netns(node)?.run(|| reshape(node))??;
    }
    let sides = [held.ends(SIDES[0][0], SIDES[0][1])?, held.ends(SIDES[1][0], SIDES[1][1])?];
    // Paths are found and proven.
    process::sleep_or_termination(Duration::from_secs(3));
    let mut figures = Vec::new();
    for case in CASES {
        let stopped = case.stopped.then(|| Stopped::new(&held)).transpose()?;
        let (rounds, noise) = Noise::around(|| case.measure(&sides))?;
        drop(stopped);
        figures.extend(case.figures(&rounds).into_iter().map(|figure| figure.noise(noise)));
    }
    held.take_down()?;
    Ok(figures)
}

/// Gives the links of the caller's namespace their burst and queue.
fn reshape(node: &str) -> Result<(), Failure> {
    let mut netlink = Netlink::open()?;
    for link in netlink.links()? {
        let is_link = if node == SWITCH { link.kind == "veth" } else { link.name.starts_with("eth") };
        let is_big = node.starts_with(BIG) || link.name.starts_with(BIG);
        let rate_bps = if is_big { BIG_RATE_BPS } else { RATE_BPS };
        let queue_bytes = (rate_bps / 8 * QUEUE_MS / 1000) as u32;
        if is_link {
            let sizes = Sizes { burst_bytes: BURST_BYTES, queue_bytes };
            shape::shape_with(&mut netlink, link.index, rate_bps, Granularity::Packets, sizes)?;
        }
    }
    Ok(())
}

/// Processes of teams that stand still; they go on when this value goes.
struct Stopped(Vec<Pid>);

impl Stopped {
    fn new(held: &Held) -> Result<Stopped, Failure> {
        let pids = SIDES[0].iter().map(|host| Ok(Pid::from_raw(held.pid(host)? as i32)));
        let stopped = Stopped(pids.collect::<Result<_, Failure>>()?);
        stopped.0.iter().try_for_each(|pid| kill(*pid, Signal::SIGSTOP)).map_err(Failure::failed)?;
        Ok(stopped)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for pid in &self.0 {
            // Fails only if it has ended.
            let _ = kill(*pid, Signal::SIGCONT);
        }
    }
}

impl Case {
    /// What each side answered, by round; who goes first alternates.
    fn measure(&self, sides: &[Ends; 2]) -> Result<[Vec<Answered>; 2], Failure> {
        let mut rounds = [Vec::new(), Vec::new()];
        for round in 0..self.rounds as usize {
            eprintln!("big link, {}: {} of {}", self.name, round + 1, self.rounds);
            for which in [round % 2, 1 - round % 2] {
                rounds[which].push(ask(&sides[which], self.load)?);
            }
        }
        Ok(rounds)
    }

    fn figures(&self, rounds: &[Vec<Answered>; 2]) -> Vec<Figure> {
        let all = rounds.each_ref().map(|side| side.iter().flat_map(|round| round.us.clone()).collect::<Vec<f64>>());
        let figure = |(what, share, bound)| {
            let of_rounds = |side: &[Answered]| side.iter().map(|round| percentile(&round.us, share)).collect();
            let [ours, big]: [Vec<f64>; 2] = rounds.each_ref().map(|side| of_rounds(side));
            let name = format!("{}: {what}, stripe / big link", self.name);
            let peer = format!(
                "of {} requests each: {:.0} and {:.0} us",
                all[0].len(),
                percentile(&all[0], share),
                percentile(&all[1], share)
            );
            Figure::ratio(name, Estimate::of_ratios(&ours, &big), bound).peer(peer)
        };
        let mut figures: Vec<Figure> =
            [("p50", 0.5, self.p50), ("p99", 0.99, self.p99)].into_iter().map(figure).collect();
        if self.load.bulk > 0 {
            let mbps = |side: &[Answered]| side.iter().map(|round| round.bulk_bps / 1e6).collect();
            let [ours, big]: [Vec<f64>; 2] = rounds.each_ref().map(|side| mbps(side));
            let peer = format!("{:.0} and {:.0} Mbit/s", stats::median(&ours), stats::median(&big));
            let name = format!("{}: bulk, stripe / big link", self.name);
            figures.push(Figure::ratio(name, Estimate::of_ratios(&ours, &big), Bound::None).peer(peer));
        }
        figures
    }
}

/// The smallest of the samples that so great a share of them does not exceed; not a number if there are none.
fn percentile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_samples() {
        let samples: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!((percentile(&samples, 0.5), percentile(&samples, 0.99)), (100.0, 198.0));
        assert_eq!((percentile(&[7.0], 0.5), percentile(&[7.0], 0.99)), (7.0, 7.0));
        assert!(percentile(&[], 0.5).is_nan());
    }
}
