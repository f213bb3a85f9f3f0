//! No blackhole: a port does not go on distributing to one that does not
//! collect for longer than the standard lets it. The far end needs its timer
//! to notice that it no longer hears us and 3 s more to say so; this end needs
//! its timer if it is not told.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_team::Time;

use super::Observation;
use crate::lacp::net::{End, Net, ms, timeout};

#[derive(Clone, Debug, Default)]
pub struct Checker(BTreeMap<End, Time>);

impl Checker {
    pub fn see(&mut self, net: &Net, seen: &Observation) {
        if let Observation::Configured { system } = seen {
            // Another rate is another bound, and its timers start when it is set.
            let faces = |end: &End| net.far(*end).is_some_and(|far| far.0 == *system);
            let concerned = self.0.iter_mut().filter(|(end, _)| end.0 == *system || faces(end));
            concerned.for_each(|(_, since)| *since = net.now());
        }
        if !matches!(seen, Observation::Rested { .. } | Observation::Passed) {
            return;
        }
        for system in 0..net.systems().len() {
            let distributing = net.lacp(system).distributing();
            for port in 0..net.system(system).ports.len() {
                let end = (system, port);
                let sends = distributing.contains(crate::lacp::net::id(port)) && !net.system(system).frozen;
                // Who serves anyone cannot know whether anyone is there.
                let arrives = !sends || net.far(end).is_none_or(|far| net.collects(far)) || net.serves_anyone(end);
                if arrives {
                    self.0.remove(&end);
                    continue;
                }
                let age = net.now() - *self.0.entry(end).or_insert(net.now());
                assert!(age <= bound(net, end), "{end:?} has sent into a blackhole for {age:?}");
            }
        }
    }
}

fn bound(net: &Net, end: End) -> Duration {
    let far = net.far(end).map_or(Duration::ZERO, |far| timeout(net.lacp(far.0).config()));
    timeout(net.lacp(end.0).config()) + far + ms(3000) + ms(1000)
}
