//! When which datagram leaves.

use super::experiment::{Experiment, PAYLOAD, STEPS};
use crate::frames::Random;

/// Bytes of a datagram in its frame: Ethernet, IPv4 and UDP headers in front.
const FRAME: u64 = 14 + 20 + 8 + PAYLOAD as u64;
/// The heaviest flow has up to so many times the rate of the lightest.
const SPREAD: usize = 16;

/// The flows to the hosts, of unlike rates.
#[derive(Debug)]
pub(super) struct Rates {
    random: Random,
    /// Of all together, bytes a second.
    total: u64,
    /// Bytes a second of each.
    rates: Vec<u64>,
    /// What each may send by now, bytes times steps of a second.
    credits: Vec<u64>,
}

impl Rates {
    pub(super) fn new(experiment: &Experiment) -> Rates {
        let speed_mbps: u64 = experiment.speeds_mbps.iter().map(|&speed| u64::from(speed)).sum();
        let total = speed_mbps * 1_000_000 / 8 * u64::from(experiment.load_percent) / 100;
        let mut random = Random(experiment.seed);
        // They do not all begin with a datagram in the same step.
        let credits = (0..experiment.hosts).map(|_| random.below((FRAME * STEPS) as usize) as u64).collect();
        let mut rates = Rates { random, total, rates: vec![0; usize::from(experiment.hosts)], credits };
        rates.draw();
        rates
    }

    /// Draws all rates anew, as unlike as [`SPREAD`] says, the lighter ones more often.
    pub(super) fn draw(&mut self) {
        let weights: Vec<u64> = (0..self.rates.len())
            .map(|_| {
                let most = 1 + self.random.below(SPREAD);
                1 + self.random.below(most) as u64
            })
            .collect();
        let sum: u64 = weights.iter().sum();
        self.rates = weights.iter().map(|weight| self.total * weight / sum.max(1)).collect();
    }

    /// The hosts that get a datagram in the next step, one with two twice.
    pub(super) fn step(&mut self) -> Vec<usize> {
        let mut due = Vec::new();
        for (host, (credit, rate)) in self.credits.iter_mut().zip(&self.rates).enumerate() {
            *credit += rate;
            while *credit >= FRAME * STEPS {
                *credit -= FRAME * STEPS;
                due.push(host);
            }
        }
        due
    }
}
