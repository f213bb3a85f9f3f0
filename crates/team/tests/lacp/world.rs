//! Drives a net: cables, faults, time. Every observation goes to the checkers.

use std::time::Duration;

use nicteam_team::lacp::{LacpConfig, LacpEvent, LacpRate};
use nicteam_team::{MemberLink, Time};

use crate::lacp::checkers::{Checkers, Observation};
use crate::lacp::net::{End, Net, id, link, ms, system_mac};
use crate::lacp::system::{Happened, Rest, System};
use crate::lacp::twin::Twin;

#[derive(Clone, Debug)]
pub struct World {
    pub net: Net,
    checkers: Checkers,
}

/// A fast system that waits for nobody.
pub fn fast(system: usize) -> LacpConfig {
    LacpConfig { lacp_rate: LacpRate::Fast, aggregate_wait_ms: 0, ..LacpConfig::new(system_mac(system)) }
}

impl World {
    /// What the systems are told is recorded, and replayed at their end.
    pub fn new(configs: Vec<LacpConfig>, ports: usize) -> World {
        World::started(Net::new(configs, ports, 0, true))
    }

    /// What they are told is not recorded from now on.
    pub fn unrecorded(mut self) -> World {
        let systems = self.net.systems().len();
        (0..systems).for_each(|system| self.net.world.node_mut(system).lacp.unrecord());
        self
    }

    /// `seed` decides which frames the weather takes. Nothing is recorded.
    pub fn with_seed(configs: Vec<LacpConfig>, ports: usize, seed: u64) -> World {
        World::started(Net::new(configs, ports, seed, false))
    }

    fn started(net: Net) -> World {
        let mut world = World { net, checkers: Checkers::default() };
        let systems = world.net.systems().len();
        (0..systems).for_each(|system| world.start(system));
        world
    }

    /// Two systems, port to port.
    pub fn pair(one: LacpConfig, other: LacpConfig, ports: usize) -> World {
        let mut world = World::new(vec![one, other], ports);
        (0..ports).for_each(|port| world.plug((0, port), (1, port)));
        world
    }

    /// Puts a cable between two ports; both get carrier.
    pub fn plug(&mut self, one: End, other: End) {
        self.unplug(one);
        self.unplug(other);
        let way = self.net.way();
        self.net.world.lay(one, other, way);
        self.set_carrier(one, true);
        if one != other {
            self.set_carrier(other, true);
        }
    }

    /// Takes a port's cable away; both ends lose carrier.
    pub fn unplug(&mut self, end: End) {
        if let Some(other) = self.net.world.lift(end) {
            self.set_carrier(end, false);
            if end != other {
                self.set_carrier(other, false);
            }
        }
    }

    /// Exchanges the far ends of two cables behind a media converter: nobody loses carrier.
    pub fn cross_unnoticed(&mut self, one: End, other: End) {
        self.net.world.cross(one, other);
    }

    pub fn set_link(&mut self, (system, port): End, link: MemberLink) {
        self.alter(system, |it, now| {
            it.ports[port].link = link;
            if !it.frozen {
                it.tell_link(port, now);
            }
        });
    }

    pub fn set_speed(&mut self, end: End, speed_mbps: u32) {
        let carrier = self.net.system(end.0).ports[end.1].link.carrier;
        self.checkers.see(&self.net, &Observation::Configured { system: end.0 });
        self.set_link(end, link(carrier, speed_mbps));
    }

    /// Changes a system and does what it wants.
    pub fn change(&mut self, system: usize, change: impl FnOnce(&mut Twin, Time)) {
        self.alter(system, |it, now| it.change(now, change));
    }

    pub fn set_priority(&mut self, end: End, priority: u16) {
        self.net.world.node_mut(end.0).ports[end.1].priority = priority;
        self.checkers.see(&self.net, &Observation::Configured { system: end.0 });
        self.change(end.0, |lacp, now| lacp.set_port_priority(id(end.1), priority, now));
    }

    pub fn configure(&mut self, system: usize, change: impl FnOnce(&mut LacpConfig)) {
        let mut config = self.net.lacp(system).config().clone();
        let before = config.lacp_rate;
        change(&mut config);
        self.alter(system, |it, now| it.count_on(before, config.lacp_rate, now));
        self.checkers.see(&self.net, &Observation::Configured { system });
        self.change(system, |lacp, now| lacp.set_config(config, now));
    }

    /// The system stops, its ports forward on.
    pub fn freeze(&mut self, system: usize) {
        self.net.world.node_mut(system).frozen = true;
    }

    /// The system stops; the holder of its answers sends them for it.
    pub fn stall(&mut self, system: usize) {
        self.alter(system, System::stall);
    }

    /// The lease of a system that stalls is over.
    pub fn end_lease(&mut self, system: usize) {
        self.net.world.node_mut(system).end_lease();
    }

    /// A system goes on: it sees what became of its links, hears what waits, then looks at its clock.
    pub fn thaw(&mut self, system: usize) {
        for port in 0..self.net.system(system).ports.len() {
            self.alter(system, |it, now| it.tell_link(port, now));
        }
        // To be looked at once it has heard everything, and its clock.
        for (port, frame) in self.net.world.node_mut(system).take_backlog() {
            self.alter(system, |it, now| it.take_in(port, &frame, now));
        }
        self.net.world.node_mut(system).frozen = false;
        self.checkers.see(&self.net, &Observation::Thawed { system });
        self.change(system, Twin::handle_timeout);
    }

    /// A new process of the system goes on with what it would have answered.
    pub fn succeed(&mut self, system: usize) {
        self.alter(system, System::succeed);
        self.checkers.see(&self.net, &Observation::Restarted { system });
        self.alter(system, |it, now| {
            it.lacp.ports_complete(now);
            // The new process has reported nothing yet.
            it.drain(Rest::default());
        });
    }

    /// The system forgets everything and starts anew; its links stay up.
    pub fn restart(&mut self, system: usize) {
        self.alter(system, System::forget);
        self.checkers.see(&self.net, &Observation::Restarted { system });
        self.start(system);
    }

    /// Lets time pass.
    pub fn run(&mut self, duration: Duration) {
        let end = self.net.now() + duration;
        while let Some(system) = self.net.world.step_until(end) {
            self.see(system);
        }
        self.checkers.see(&self.net, &Observation::Passed);
    }

    /// Lets time pass to the next thing that happens, and makes it happen.
    pub fn step(&mut self) {
        if let Some(system) = self.net.world.step() {
            self.see(system);
        }
    }

    /// How long it takes until this holds; panics if it does not within `limit`.
    pub fn until(&mut self, limit: Duration, holds: impl Fn(&Net) -> bool) -> Duration {
        let start = self.net.now();
        while !holds(&self.net) {
            let next = self.net.world.next_time().unwrap_or(start + limit + ms(1));
            assert!(next - start <= limit, "not within {limit:?}: {:#?}", self.all_status());
            self.step();
        }
        self.net.now() - start
    }

    /// Everything that is to be seen of every port.
    pub fn all_status(&self) -> Vec<nicteam_team::lacp::PortStatus> {
        self.net.systems().flat_map(|system| system.lacp.ports()).collect()
    }

    /// What a system said to users since the last time, oldest first.
    pub fn events(&mut self, system: usize) -> Vec<LacpEvent> {
        std::mem::take(&mut self.net.world.node_mut(system).events)
    }

    /// Hands a frame to a port as if it had come by its cable.
    pub fn deliver(&mut self, end: End, frame: &[u8]) {
        self.net.world.deliver(end, frame);
        self.see(end.0);
    }

    fn start(&mut self, system: usize) {
        for port in 0..self.net.system(system).ports.len() {
            let params = self.net.system(system).ports[port];
            self.change(system, |lacp, now| lacp.add_port(id(port), params, now));
        }
    }

    fn set_carrier(&mut self, end: End, carrier: bool) {
        let old = self.net.system(end.0).ports[end.1].link;
        self.set_link(end, MemberLink { carrier, ..old });
    }

    /// Does something to a system, and looks at what follows.
    fn alter(&mut self, system: usize, change: impl FnOnce(&mut System, Time)) {
        self.net.world.change(system, change);
        self.see(system);
    }

    /// Shows the checkers what happened to a system.
    fn see(&mut self, system: usize) {
        if self.net.system(system).happened.is_empty() {
            return;
        }
        for happened in std::mem::take(&mut self.net.world.node_mut(system).happened) {
            let seen = match happened {
                Happened::Sent(port) => Observation::Sent { end: (system, port) },
                Happened::Rested { before, changed } => Observation::Rested { system, before, changed },
            };
            self.checkers.see(&self.net, &seen);
        }
    }
}
