//! No forwarding loop: what a system sends does not come back to it by another
//! way, and it does not join two partners into one, for longer than it can know.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_team::Time;

use super::Observation;
use crate::lacp::net::{End, Net, ms, timeout};

#[derive(Clone, Debug, Default)]
pub struct Checker {
    /// Since when each cable that leads back has carried traffic.
    looped: BTreeMap<End, Time>,
    /// Since when each system has sent to several others.
    split: BTreeMap<usize, Time>,
}

impl Checker {
    pub fn see(&mut self, net: &Net, seen: &Observation) {
        if let Observation::Configured { system } = seen {
            // Another rate is another bound, and its timers start when it is set.
            self.looped.iter_mut().filter(|(end, _)| end.0 == *system).for_each(|(_, since)| *since = net.now());
            self.split.entry(*system).and_modify(|since| *since = net.now());
        }
        if !matches!(seen, Observation::Rested { .. } | Observation::Passed) {
            return;
        }
        for end in net.ends() {
            let back = net.far(end).filter(|far| far.0 == end.0 && !net.system(end.0).frozen);
            // Who never speaks, or is not heard, cannot hear itself.
            let speaks = net.lacp(end.0).config().lacp_active
                && net.weather().loss_percent == 0
                && back.is_some_and(|far| net.receives(far) && net.receives(end));
            let loops = speaks && back.is_some_and(|far| net.distributes(end) && net.collects(far));
            // A loop is heard within a period, the slow one if nobody answers.
            held(&mut self.looped, end, loops, net, bound(net, end.0) + ms(33_000), "sends to itself");
        }
        for system in 0..net.systems().len() {
            let mut partners: Vec<usize> = net
                .lacp(system)
                .distributing()
                .iter()
                .filter_map(|member| net.far((system, member.index())))
                .map(|far| far.0)
                .collect();
            partners.dedup();
            let split = partners.len() > 1 && !net.system(system).frozen;
            held(&mut self.split, system, split, net, bound(net, system), "sends to several systems");
        }
    }
}

fn bound(net: &Net, system: usize) -> Duration {
    timeout(net.lacp(system).config()) + ms(1000)
}

/// Panics if something has held for too long.
fn held<K: Ord + Copy + std::fmt::Debug>(
    since: &mut BTreeMap<K, Time>,
    key: K,
    holds: bool,
    net: &Net,
    bound: Duration,
    what: &str,
) {
    if !holds {
        since.remove(&key);
        return;
    }
    let age = net.now() - *since.entry(key).or_insert(net.now());
    assert!(age <= bound, "{key:?} {what} for {age:?}");
}
