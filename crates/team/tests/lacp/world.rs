//! Drives a net: cables, faults, time. Every observation goes to the checkers.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_team::lacp::{Lacp, LacpConfig, LacpEffect, LacpEvent, LacpRate};
use nicteam_team::{MemberLink, Time};
use nicteam_wire::SlowPdu;

use crate::lacp::checkers::{Checkers, Observation};
use crate::lacp::net::{End, Net, Rest, id, link, ms, system_mac};

/// Where a frame has the actor's state, and its bits Synchronization, Collecting, Distributing.
const STATE: usize = 32;
const CARRIES: u8 = 0x38;
/// As in `bpf/lease.h`: from when on a system is spoken for, and how often.
const SILENCE: Duration = Duration::from_millis(400);
const ANSWER_INTERVAL: Duration = Duration::from_millis(300);
/// By what the long timer is longer than the short one.
const LONGER: Duration = Duration::from_secs(90 - 3);
/// More effects than any one change may have.
const ENDLESS: usize = 200;

#[derive(Clone, Debug)]
pub struct World {
    pub net: Net,
    checkers: Checkers,
    random: Random,
    /// Frozen systems whose partners are answered.
    spoken_for: BTreeMap<usize, Stall>,
    /// Frames that wait for a system that is spoken for.
    backlog: Vec<(End, Vec<u8>)>,
}

/// A system that is spoken for.
#[derive(Clone, Debug)]
struct Stall {
    since: Time,
    has_lease: bool,
    /// When each port was spoken for last.
    answered: BTreeMap<usize, Time>,
}

/// splitmix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A fast system that waits for nobody.
pub fn fast(system: usize) -> LacpConfig {
    LacpConfig { lacp_rate: LacpRate::Fast, aggregate_wait_ms: 0, ..LacpConfig::new(system_mac(system)) }
}

impl World {
    pub fn new(configs: Vec<LacpConfig>, ports: usize) -> World {
        World::with_seed(configs, ports, 0)
    }

    /// `seed` decides which frames the weather takes.
    pub fn with_seed(configs: Vec<LacpConfig>, ports: usize, seed: u64) -> World {
        let net = Net::new(configs, ports);
        let checkers = Checkers::default();
        let (spoken_for, backlog) = (BTreeMap::new(), Vec::new());
        let mut world = World { net, checkers, random: Random(seed), spoken_for, backlog };
        (0..world.net.systems.len()).for_each(|system| world.start(system));
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
        self.net.cables.insert(one, other);
        self.net.cables.insert(other, one);
        self.set_carrier(one, true);
        if one != other {
            self.set_carrier(other, true);
        }
    }

    /// Takes a port's cable away; both ends lose carrier.
    pub fn unplug(&mut self, end: End) {
        if let Some(other) = self.net.cables.remove(&end) {
            self.net.cables.remove(&other);
            self.set_carrier(end, false);
            if end != other {
                self.set_carrier(other, false);
            }
        }
    }

    /// Exchanges the far ends of two cables behind a media converter: nobody loses carrier.
    pub fn cross_unnoticed(&mut self, one: End, other: End) {
        let far = (self.net.cables.get(&one).copied(), self.net.cables.get(&other).copied());
        if let (Some(far_one), Some(far_other)) = far
            && far_one != other
            && far_one != one
            && far_other != other
        {
            for (near, far) in [(one, far_other), (other, far_one)] {
                self.net.cables.insert(near, far);
                self.net.cables.insert(far, near);
            }
        }
    }

    pub fn set_link(&mut self, end: End, link: MemberLink) {
        let (system, port) = end;
        self.net.systems[system].ports[port].link = link;
        if !self.net.systems[system].frozen {
            if !link.carrier {
                self.net.heard.remove(&end);
            }
            self.change(system, |lacp, now| lacp.handle_link(id(port), link, now));
        }
    }

    pub fn set_speed(&mut self, end: End, speed_mbps: u32) {
        let carrier = self.net.systems[end.0].ports[end.1].link.carrier;
        self.checkers.see(&self.net, &Observation::Configured { system: end.0 });
        self.set_link(end, link(carrier, speed_mbps));
    }

    /// Changes a system and does what it wants.
    pub fn change(&mut self, system: usize, change: impl FnOnce(&mut Lacp, Time)) {
        let before = self.net.rest(system);
        let now = self.net.now;
        change(&mut self.net.systems[system].lacp, now);
        self.drain(system, &before);
    }

    pub fn set_priority(&mut self, end: End, priority: u16) {
        self.net.systems[end.0].ports[end.1].priority = priority;
        self.checkers.see(&self.net, &Observation::Configured { system: end.0 });
        self.change(end.0, |lacp, now| lacp.set_port_priority(id(end.1), priority, now));
    }

    pub fn configure(&mut self, system: usize, change: impl FnOnce(&mut LacpConfig)) {
        let mut config = self.net.lacp(system).config().clone();
        let before = config.lacp_rate;
        change(&mut config);
        if (before, config.lacp_rate) == (LacpRate::Slow, LacpRate::Fast) {
            // The short timer starts when it is set; what is left of the long one may be less.
            let now = self.net.now;
            let heard = self.net.heard.range_mut((system, 0)..(system + 1, 0));
            heard.for_each(|(_, (at, _))| *at = now.min(*at + LONGER));
        }
        self.checkers.see(&self.net, &Observation::Configured { system });
        self.change(system, |lacp, now| lacp.set_config(config, now));
    }

    /// The system stops, its ports forward on.
    pub fn freeze(&mut self, system: usize) {
        self.net.systems[system].frozen = true;
    }

    /// It goes on and sees at once what became of its links and timers.
    pub fn thaw(&mut self, system: usize) {
        if self.spoken_for.contains_key(&system) {
            return self.go_on(system);
        }
        for port in 0..self.net.systems[system].ports.len() {
            let link = self.net.systems[system].ports[port].link;
            if !link.carrier {
                self.net.heard.remove(&(system, port));
            }
            self.change(system, |lacp, now| lacp.handle_link(id(port), link, now));
        }
        self.net.systems[system].frozen = false;
        self.checkers.see(&self.net, &Observation::Thawed { system });
        self.change(system, Lacp::handle_timeout);
    }

    /// The system stops; whoever holds its answers speaks for it.
    pub fn stall(&mut self, system: usize) {
        self.freeze(system);
        let stall = Stall { since: self.net.now, has_lease: true, answered: BTreeMap::new() };
        self.spoken_for.insert(system, stall);
    }

    /// The lease of a system that stalls is over.
    pub fn end_lease(&mut self, system: usize) {
        self.spoken_for.entry(system).and_modify(|stall| stall.has_lease = false);
    }

    /// A system that stalled goes on: it hears what waits, then looks at its clock.
    pub fn go_on(&mut self, system: usize) {
        for port in 0..self.net.systems[system].ports.len() {
            let link = self.net.systems[system].ports[port].link;
            if !link.carrier {
                self.net.heard.remove(&(system, port));
            }
            self.change(system, |lacp, now| lacp.handle_link(id(port), link, now));
        }
        self.spoken_for.remove(&system);
        let (mine, others) = std::mem::take(&mut self.backlog).into_iter().partition(|(end, _)| end.0 == system);
        self.backlog = others;
        let mine: Vec<(End, Vec<u8>)> = mine;
        // To be looked at once it has heard everything, and its clock.
        mine.into_iter().for_each(|(end, frame)| self.take_in(end, &frame));
        self.net.systems[system].frozen = false;
        self.checkers.see(&self.net, &Observation::Thawed { system });
        self.change(system, Lacp::handle_timeout);
    }

    /// A new process of the system goes on with what it would have answered.
    pub fn succeed(&mut self, system: usize) {
        let old = self.net.lacp(system);
        let (answers, config) = (old.answers(), old.config().clone());
        let mut new = Lacp::new(config, self.net.now);
        new.begin_ports();
        for (port, params) in self.net.systems[system].ports.iter().enumerate() {
            let heard = self.net.heard.get(&(system, port)).map(|(at, _)| self.net.now - *at);
            match answers.iter().find(|answer| answer.member == id(port)).zip(heard) {
                Some(left) => new.resume_port(id(port), *params, left, self.net.now),
                None => new.add_port(id(port), *params, self.net.now),
            }
        }
        self.net.systems[system].lacp = new;
        self.checkers.see(&self.net, &Observation::Restarted { system });
        self.net.systems[system].lacp.ports_complete(self.net.now);
        // Nothing was told of the new process yet.
        self.drain(system, &Rest::default());
    }

    /// The system forgets everything and starts anew; its links stay up.
    pub fn restart(&mut self, system: usize) {
        let config = self.net.lacp(system).config().clone();
        self.net.systems[system].lacp = Lacp::new(config, self.net.now);
        self.net.heard.retain(|end, _| end.0 != system);
        self.checkers.see(&self.net, &Observation::Restarted { system });
        self.start(system);
    }

    /// Lets time pass.
    pub fn run(&mut self, duration: Duration) {
        let end = self.net.now + duration;
        while self.next_time().is_some_and(|at| at <= end) {
            self.step();
        }
        self.net.now = end;
        self.checkers.see(&self.net, &Observation::Passed);
    }

    /// Lets time pass to the next thing that happens, and makes it happen.
    pub fn step(&mut self) {
        let Some(at) = self.next_time() else { return };
        self.net.now = self.net.now.max(at);
        let arrived = self.net.flights.first_key_value().map(|(key, _)| *key).filter(|(arrives, _)| *arrives <= at);
        if let Some((end, frame)) = arrived.and_then(|key| self.net.flights.remove(&key)) {
            self.deliver(end, &frame);
            return;
        }
        let due = |system: &usize| self.deadline(*system).is_some_and(|deadline| deadline <= self.net.now);
        if let Some(system) = (0..self.net.systems.len()).find(due) {
            self.change(system, Lacp::handle_timeout);
            let ahead = self.deadline(system).is_none_or(|deadline| deadline > self.net.now);
            assert!(ahead, "{:?} is not after {}", self.net.lacp(system).poll_timeout(), self.net.now);
        }
    }

    /// How long it takes until this holds; panics if it does not within `limit`.
    pub fn until(&mut self, limit: Duration, holds: impl Fn(&Net) -> bool) -> Duration {
        let start = self.net.now;
        while !holds(&self.net) {
            let next = self.next_time().unwrap_or(start + limit + ms(1));
            assert!(next - start <= limit, "not within {limit:?}: {:#?}", self.all_status());
            self.step();
        }
        self.net.now - start
    }

    /// Everything that is to be seen of every port.
    pub fn all_status(&self) -> Vec<nicteam_team::lacp::PortStatus> {
        self.net.systems.iter().flat_map(|system| system.lacp.ports()).collect()
    }

    /// What a system said to users since the last time, oldest first.
    pub fn events(&mut self, system: usize) -> Vec<LacpEvent> {
        let (mine, others) = std::mem::take(&mut self.net.events).into_iter().partition(|(_, who, _)| *who == system);
        self.net.events = others;
        let mine: Vec<(Time, usize, LacpEvent)> = mine;
        mine.into_iter().map(|(_, _, event)| event).collect()
    }

    /// Hands a frame to a port as if it had come by its cable.
    pub fn deliver(&mut self, end: End, frame: &[u8]) {
        let (system, port) = end;
        let it = &self.net.systems[system];
        if !it.ports[port].link.carrier || self.net.deaf.contains(&end) {
            return;
        }
        if it.frozen {
            return self.speak_for(end, frame);
        }
        self.take_in(end, frame);
    }

    fn take_in(&mut self, end: End, frame: &[u8]) {
        let (system, port) = end;
        if let Ok(SlowPdu::Lacp(pdu)) = SlowPdu::parse(frame)
            && pdu.actor.system != self.net.lacp(system).config().ad_actor_system
        {
            self.net.heard.insert(end, (self.net.now, pdu));
        }
        self.change(system, |lacp, now| lacp.handle_frame(id(port), frame, now));
    }

    /// What the dataplane of a system does that does not run.
    fn speak_for(&mut self, end: End, frame: &[u8]) {
        let now = self.net.now;
        let Some(stall) = self.spoken_for.get_mut(&end.0) else { return };
        self.backlog.push((end, frame.to_vec()));
        let Ok(SlowPdu::Lacp(pdu)) = SlowPdu::parse(frame) else { return };
        let answers = self.net.lacp(end.0).answers();
        let answer = answers.into_iter().find(|answer| answer.member == id(end.1) && answer.partner == pdu.actor);
        let is_silent = now - stall.since >= SILENCE;
        let is_due = stall.answered.get(&end.1).is_none_or(|last| now - *last >= ANSWER_INTERVAL);
        if let Some(mut answer) = answer.filter(|_| is_silent && is_due) {
            stall.answered.insert(end.1, now);
            if !stall.has_lease {
                answer.frame[STATE] &= !CARRIES;
            }
            self.send(end, answer.frame);
        }
    }

    fn start(&mut self, system: usize) {
        for port in 0..self.net.systems[system].ports.len() {
            let params = self.net.systems[system].ports[port];
            self.change(system, |lacp, now| lacp.add_port(id(port), params, now));
        }
    }

    fn set_carrier(&mut self, end: End, carrier: bool) {
        let old = self.net.systems[end.0].ports[end.1].link;
        self.set_link(end, MemberLink { carrier, ..old });
    }

    fn deadline(&self, system: usize) -> Option<Time> {
        let it = &self.net.systems[system];
        it.lacp.poll_timeout().map(|(at, _)| at).filter(|_| !it.frozen)
    }

    fn next_time(&self) -> Option<Time> {
        let deadlines = (0..self.net.systems.len()).filter_map(|system| self.deadline(system));
        deadlines.chain(self.net.flights.first_key_value().map(|((at, _), _)| *at)).min()
    }

    fn drain(&mut self, system: usize, before: &Rest) {
        let mut changed = false;
        let mut effects = 0;
        while let Some(effect) = self.net.systems[system].lacp.poll_effect() {
            effects += 1;
            assert!(effects < ENDLESS, "the drain does not end: {effect:?}");
            match effect {
                LacpEffect::Transmit { member, frame } => self.send((system, member.index()), frame),
                LacpEffect::Changed => changed = true,
                LacpEffect::Event(event) => self.net.events.push((self.net.now, system, event)),
            }
        }
        self.net.seen[system] = self.net.lacp(system).ports();
        self.checkers.see(&self.net, &Observation::Rested { system, before: before.clone(), changed });
    }

    fn send(&mut self, end: End, frame: Vec<u8>) {
        if let Ok(SlowPdu::Lacp(_)) = SlowPdu::parse(&frame) {
            self.checkers.see(&self.net, &Observation::Sent { end });
        }
        let Some(&to) = self.net.cables.get(&end) else { return };
        let copies = 1 + u64::from(self.random.percent(self.net.weather.duplicate_percent));
        for _ in 0..copies {
            if self.random.percent(self.net.weather.loss_percent) {
                continue;
            }
            let latency = ms(1 + self.random.below(self.net.weather.latency_ms.max(1)));
            self.net.left += 1;
            self.net.flights.insert((self.net.now + latency, self.net.left), (to, frame.clone()));
        }
    }
}
