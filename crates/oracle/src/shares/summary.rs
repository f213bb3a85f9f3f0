//! What an experiment showed, in a few figures.

use super::{Experiment, Second, busiest, jain};

/// Seconds over which a load is taken: enough datagrams that their number is no chance.
const WINDOW: usize = 5;
/// Seconds until anything was measured.
const FIRST: usize = 9;
/// Seconds between two assignments.
const BETWEEN_ASSIGNMENTS: f64 = 10.0;

/// What an experiment showed. Where it says *settled*, in the seconds of
/// [`Experiment::settled`].
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Settled: each member's share of the bytes sent.
    pub sent: Vec<f64>,
    /// Settled: each member's share of the datagrams received.
    pub received: Vec<f64>,
    /// [`busiest`] of what was sent in each settled window of five seconds.
    pub busiest: Vec<f64>,
    /// [`jain`] of the same.
    pub jain: Vec<f64>,
    /// [`busiest`] of what was sent before anything was measured.
    pub busiest_at_first: f64,
    /// Settled: hosts whose datagrams took another member, for every ten seconds.
    pub moved_by_assignment: f64,
    /// Datagrams of the team that did not arrive, share of all.
    pub lost_sent: f64,
    /// Datagrams of the hosts that did not, share of all.
    pub lost_received: f64,
    /// Hosts by the member that their team's address leads to, at the end.
    pub held: Vec<u32>,
    /// Hosts that were told another address since the latest fault.
    pub retold: u32,
}

impl Summary {
    /// Of what was seen in each second.
    pub fn of(experiment: &Experiment, seconds: &[Second]) -> Summary {
        let speeds = &experiment.speeds_mbps;
        let settled: Vec<usize> = experiment.settled().filter(|&second| second < seconds.len()).collect();
        let sum = |of: fn(&Second) -> &[u64], which: &[usize]| -> Vec<f64> {
            let member = |place: usize| which.iter().map(|&second| of(&seconds[second])[place] as f64).sum();
            (0..speeds.len()).map(member).collect()
        };
        let sent = |which: &[usize]| sum(|second| &second.sent, which);
        let windows: Vec<Vec<f64>> =
            settled.chunks_exact(WINDOW).filter(|window| window[WINDOW - 1] - window[0] < WINDOW).map(sent).collect();
        let moved: u32 = settled.iter().map(|&second| seconds[second].moved).sum();
        let first: Vec<usize> = (0..FIRST.min(seconds.len())).collect();
        let latest_fault = experiment.faults.iter().map(|fault| fault.at_s).max().unwrap_or(0);
        let all = |of: fn(&Second) -> u64| seconds.iter().map(of).sum::<u64>() as f64;
        Summary {
            sent: shares(&sent(&settled)),
            received: shares(&sum(|second| &second.received, &settled)),
            busiest: windows.iter().map(|loads| busiest(loads, speeds)).collect(),
            jain: windows.iter().map(|loads| jain(loads, speeds)).collect(),
            busiest_at_first: busiest(&sent(&first), speeds),
            moved_by_assignment: f64::from(moved) / (settled.len() as f64 / BETWEEN_ASSIGNMENTS),
            lost_sent: 1.0 - all(|second| second.arrived) / all(|second| second.offered),
            lost_received: 1.0 - all(|second| second.delivered) / all(|second| second.asked),
            retold: seconds.iter().skip(latest_fault as usize).map(|second| second.retold).sum(),
            held: seconds.last().map(|second| second.held.clone()).unwrap_or_default(),
        }
    }
}

fn shares(loads: &[f64]) -> Vec<f64> {
    let sum: f64 = loads.iter().sum();
    loads.iter().map(|load| load / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shares::Fault;

    #[test]
    fn what_settles_does_not_count() {
        let experiment = Experiment {
            seed: 1,
            speeds_mbps: vec![1, 1],
            hosts: 2,
            load_percent: 50,
            seconds: 60,
            shifts_s: vec![],
            faults: vec![Fault { at_s: 30, member: 0, up: false }, Fault { at_s: 45, member: 0, up: true }],
        };
        let second = |number: usize| Second {
            sent: if number < 11 || (30..56).contains(&number) { vec![100, 0] } else { vec![50, 50] },
            received: vec![3, 1],
            held: vec![1, number as u32],
            offered: 10,
            arrived: 9,
            asked: 4,
            delivered: 4,
            moved: u32::from(number.is_multiple_of(10)),
            retold: u32::from(number >= 45),
        };
        let seconds: Vec<Second> = (0..60).map(second).collect();
        let summary = Summary::of(&experiment, &seconds);
        assert_eq!((summary.sent, summary.received), (vec![0.5, 0.5], vec![0.75, 0.25]));
        assert!(summary.busiest.len() >= 3 && summary.busiest.iter().all(|&busiest| busiest == 1.0));
        assert_eq!((summary.busiest_at_first, summary.held), (2.0, vec![1, 59]));
        assert!((summary.lost_sent - 0.1).abs() < 1e-9 && summary.lost_received == 0.0);
        // In second 20, of 11 to 29 and 56 to 59.
        assert!((summary.moved_by_assignment - 1.0 / 2.3).abs() < 1e-9);
        assert_eq!(summary.retold, 15);
    }
}
