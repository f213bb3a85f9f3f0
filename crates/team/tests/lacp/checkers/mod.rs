//! What must be true of every net at every moment: one property a file.

mod distributes_in_sync;
mod no_blackhole;
mod no_flap;
mod no_loop;
mod one_aggregator;
mod pdu_rate;
mod says_changes;

use crate::lacp::net::{End, Net};
use crate::lacp::system::Rest;

/// Something that happened in a net, seen just after it did.
#[derive(Clone, Debug)]
pub enum Observation {
    /// A LACPDU left a port.
    Sent { end: End },
    /// A system did all that followed from one change.
    Rested { system: usize, before: Rest, changed: bool },
    /// A system's configuration is about to change.
    Configured { system: usize },
    /// A system forgot everything.
    Restarted { system: usize },
    /// A system goes on after it was frozen.
    Thawed { system: usize },
    /// Time passed and nothing else happened.
    Passed,
}

/// Every checker.
#[derive(Clone, Debug, Default)]
pub struct Checkers {
    blackhole: no_blackhole::Checker,
    flap: no_flap::Checker,
    loops: no_loop::Checker,
    rate: pdu_rate::Checker,
}

impl Checkers {
    pub fn see(&mut self, net: &Net, seen: &Observation) {
        distributes_in_sync::see(net, seen);
        one_aggregator::see(net, seen);
        says_changes::see(net, seen);
        self.blackhole.see(net, seen);
        self.flap.see(net, seen);
        self.loops.see(net, seen);
        self.rate.see(net, seen);
    }
}
