//! Requests by two ways in turn: how long they take by the one, of the other.

use nicteam_netlink::shape::{self, Granularity, Sizes};
use nicteam_netlink::{Link, Netlink};

use super::{Answered, Load, ask};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::held::Ends;
use nicteam_statistics::Estimate;

/// What is measured, and what each figure of the first way may be of the second's.
#[derive(Clone, Copy, Debug)]
pub(in crate::accept) struct Case {
    pub(in crate::accept) name: &'static str,
    /// The ways; the first is ours.
    pub(in crate::accept) ways: [&'static str; 2],
    pub(in crate::accept) load: Load,
    /// Rounds of each way, in turn.
    pub(in crate::accept) rounds: u32,
    pub(in crate::accept) p50: Bound,
    pub(in crate::accept) p99: Bound,
}

/// One frame and a little: a longer burst lets short frames pass at once.
const BURST_BYTES: u32 = 1600;
/// What a queue holds at its link's rate, milliseconds.
const QUEUE_MS: u64 = 16;

impl Case {
    /// What each way answered, by round; who goes first alternates.
    pub(in crate::accept) fn measure(&self, ends: &[Ends; 2]) -> Result<[Vec<Answered>; 2], Failure> {
        let mut rounds = [Vec::new(), Vec::new()];
        for round in 0..self.rounds as usize {
            eprintln!("{}, {}: {} of {}", self.ways.join(" and "), self.name, round + 1, self.rounds);
            for which in [round % 2, 1 - round % 2] {
                rounds[which].push(ask(&ends[which], self.load)?);
            }
        }
        Ok(rounds)
    }

    /// Percentiles, and what bulk connections delivered meanwhile.
    pub(in crate::accept) fn figures(&self, rounds: &[Vec<Answered>; 2]) -> Vec<Figure> {
        let all = rounds.each_ref().map(|way| way.iter().flat_map(|round| round.us.clone()).collect::<Vec<f64>>());
        let ways = self.ways.join(" / ");
        let figure = |(what, share, bound)| {
            let of_rounds = |way: &[Answered]| way.iter().map(|round| percentile(&round.us, share)).collect();
            let [ours, other]: [Vec<f64>; 2] = rounds.each_ref().map(|way| of_rounds(way));
            let name = format!("{}: {what}, {ways}", self.name);
            let peer = format!(
                "of {} requests each: {:.0} and {:.0} us",
                all[0].len(),
                percentile(&all[0], share),
                percentile(&all[1], share)
            );
            Figure::ratio(name, Estimate::of_ratios(&ours, &other), bound).peer(peer)
        };
        let mut figures: Vec<Figure> =
            [("p50", 0.5, self.p50), ("p99", 0.99, self.p99)].into_iter().map(figure).collect();
        if self.load.bulk > 0 {
            let mbps = |way: &[Answered]| way.iter().map(|round| round.bulk_bps / 1e6).collect();
            let [ours, other]: [Vec<f64>; 2] = rounds.each_ref().map(|way| mbps(way));
            let peer = format!(
                "{:.0} and {:.0} Mbit/s",
                nicteam_statistics::median(&ours),
                nicteam_statistics::median(&other)
            );
            let name = format!("{}: bulk, {ways}", self.name);
            figures.push(Figure::ratio(name, Estimate::of_ratios(&ours, &other), Bound::None).peer(peer));
        }
        figures
    }
}

/// Gives the links of the caller's namespace a burst of one frame and a short queue: those for which there is a
/// rate, bit/s.
pub(in crate::accept) fn smooth(rate_bps: impl Fn(&Link) -> Option<u64>) -> Result<(), Failure> {
    let mut netlink = Netlink::open()?;
    for link in netlink.links()? {
        if let Some(rate_bps) = rate_bps(&link) {
            let queue_bytes = (rate_bps / 8 * QUEUE_MS / 1000) as u32;
            let sizes = Sizes { burst_bytes: BURST_BYTES, queue_bytes };
            shape::shape_with(&mut netlink, link.index, rate_bps, Granularity::Packets, sizes)?;
        }
    }
    Ok(())
}

/// True of what a cable of the lab's leads to: a switch's ports, a host's numbered devices.
pub(in crate::accept) fn is_cable(link: &Link, at_switch: bool) -> bool {
    if at_switch { link.kind == "veth" } else { link.name.starts_with("eth") }
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
    use super::super::Transport;
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_samples() {
        let samples: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!((percentile(&samples, 0.5), percentile(&samples, 0.99)), (100.0, 198.0));
        assert_eq!((percentile(&[7.0], 0.5), percentile(&[7.0], 0.99)), (7.0, 7.0));
        assert!(percentile(&[], 0.5).is_nan());
    }

    #[test]
    fn the_first_way_is_measured_by_the_second() {
        let load = Load { transport: Transport::Tcp, clients: 1, each: 2, bulk: 1 };
        let case = Case { name: "idle", ways: ["a", "b"], load, rounds: 1, p50: Bound::None, p99: Bound::AtMost(1.0) };
        let answered = |us: f64| vec![Answered { us: vec![us, us], bulk_bps: us * 1e6 }];
        let figures = case.figures(&[answered(30.0), answered(20.0)]);
        let told: Vec<_> = figures.iter().map(|figure| (figure.name.as_str(), figure.holds)).collect();
        assert_eq!(told, [("idle: p50, a / b", None), ("idle: p99, a / b", Some(false)), ("idle: bulk, a / b", None)]);
        assert_eq!(figures[1].estimate.map(|estimate| estimate.median), Some(1.5));
    }
}
