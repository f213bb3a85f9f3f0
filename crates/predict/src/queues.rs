//! TCP connections that wait in several full queues.
//!
//! Max-min fairness gives a connection over two full links as much as one over either. TCP does not: behind two full queues a
//! round trip takes twice as long and loses twice as many segments. A connection's rate falls with its round trip and with the
//! root of its losses (Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm",
//! 1997). So its weight is that of a connection with one queue, divided by the number of queues to the power of 1.5.

use crate::rates::{Rates, Uses, max_min};

/// Other weights fill other links. After so many rounds the links are the same, or change for ever.
const MOST_ROUNDS: usize = 3;
/// From this part of its capacity on a link is full.
const FULL: f64 = 1.0 - 1e-6;

/// The uses of a flow's payload, the first of all: how many, and what a bit of payload takes on the wire.
pub(crate) type Payload = (u8, f32);

/// The rates of flows over resources of these capacities, bit/s. The first `links` of them are directions of links.
pub(crate) fn rates(
    capacities: &[f64],
    links: usize,
    flows: &mut Uses,
    payload: &[Payload],
    is_tcp: impl Fn(usize) -> bool,
) -> Rates {
    let own: Vec<f64> = (0..flows.len()).map(|flow| flows.weight(flow)).collect();
    let mut rates = max_min(capacities, flows);
    for _ in 0..MOST_ROUNDS {
        let queues = Queues::of(&capacities[..links], &rates, flows, payload);
        let mut has_changed = false;
        for flow in (0..flows.len()).filter(|flow| is_tcp(*flow)) {
            let passed = queues.passed_by(flow, flows, payload);
            has_changed |= flows.set_weight(flow, own[flow] * passed.max(1.0).powf(-1.5));
        }
        if !has_changed {
            break;
        }
        rates = max_min(capacities, flows);
    }
    rates
}

/// The full links, and who passes them.
struct Queues {
    is_full: Vec<bool>,
    /// The full links that all flows of a link have passed before; none before its first flow.
    before: Vec<Option<Vec<u32>>>,
}

impl Queues {
    fn of(capacities: &[f64], rates: &Rates, flows: &Uses, payload: &[Payload]) -> Queues {
        let is_full = capacities.iter().zip(&rates.used_bps).map(|(capacity, used)| *used > FULL * capacity);
        let is_full = is_full.zip(capacities).map(|(is_full, capacity)| is_full && *capacity > 0.0).collect();
        let mut queues = Queues { is_full, before: vec![None; capacities.len()] };
        let mut passed: Vec<u32> = Vec::new();
        for flow in 0..flows.len() {
            passed.clear();
            passed.extend(queues.full(flow, flows, payload).map(|(link, _)| link as u32));
            for (at, link) in passed.iter().enumerate() {
                let earlier = &passed[..at];
                match &mut queues.before[*link as usize] {
                    Some(common) => common.retain(|before| earlier.contains(before)),
                    none => *none = Some(earlier.to_vec()),
                }
            }
        }
        queues
    }

    /// The full links of a flow's payload, each with the part of its frames.
    fn full<'f>(
        &'f self,
        flow: usize,
        flows: &'f Uses,
        payload: &[Payload],
    ) -> impl Iterator<Item = (usize, f64)> + 'f {
        let (uses, cost) = payload[flow];
        let links = flows.of(flow).take(usize::from(uses));
        let links = links.filter(|(resource, _)| self.is_full.get(*resource).copied().unwrap_or(false));
        links.map(move |(link, factor)| (link, factor / f64::from(cost)))
    }

    /// The queues in which a flow waits. Where all flows of a link come from one that is as full, nothing is left to wait for.
    fn passed_by(&self, flow: usize, flows: &Uses, payload: &[Payload]) -> f64 {
        let waits = |link: usize| {
            let common = self.before[link].as_deref().unwrap_or_default();
            common.iter().all(|before| *before as usize == link)
        };
        self.full(flow, flows, payload).filter(|(link, _)| waits(*link)).map(|(_, part)| part).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flows over links of 100, each with what of its payload goes there.
    fn rates_of(uses: &[&[(u32, f64)]], is_tcp: bool) -> Vec<f64> {
        let mut flows = Uses::default();
        uses.iter().for_each(|uses| flows.push(1.0, None, uses.iter().copied()));
        let payload: Vec<Payload> = uses.iter().map(|uses| (uses.len() as u8, 1.0)).collect();
        rates(&[100.0; 2], 2, &mut flows, &payload, |_| is_tcp).bps
    }

    #[test]
    fn two_full_queues_leave_a_third_of_the_weight() {
        let bps = rates_of(&[&[(0, 1.0), (1, 1.0)], &[(0, 1.0)], &[(1, 1.0)]], true);
        // As measured: 5.5, 13.2 and 13.2 Mbit/s of 18.8.
        assert!((bps[0] - 26.1).abs() < 0.1 && (bps[1] - 73.9).abs() < 0.1, "{bps:?}");
    }

    #[test]
    fn turns_are_one_queue_and_datagrams_do_not_yield() {
        let turns: [&[(u32, f64)]; 3] = [&[(0, 0.5), (1, 0.5)], &[(0, 1.0)], &[(1, 1.0)]];
        assert_eq!(rates_of(&turns, true), rates_of(&turns, false));
    }

    #[test]
    fn a_link_whose_flows_all_come_from_a_full_one_has_no_queue() {
        let bps = rates_of(&[&[(0, 1.0), (1, 1.0)], &[(0, 1.0), (1, 1.0)], &[(0, 1.0)]], true);
        assert!(bps.iter().all(|bps| (bps - 100.0 / 3.0).abs() < 1e-3), "{bps:?}");
    }
}
