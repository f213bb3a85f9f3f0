//! A system that speaks LACP: the node of these tests.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use nicteam_simnet::{Bytes, Node};
use nicteam_team::Time;
use nicteam_team::lacp::{LacpConfig, LacpEffect, LacpEvent, LacpRate, PortParams, PortStatus};
use nicteam_wire::{Lacpdu, SlowPdu};

use crate::lacp::net::{id, ms};
use crate::lacp::twin::Twin;

/// Where a frame has the actor's state, and its bits Synchronization, Collecting, Distributing.
const STATE: usize = 32;
const CARRIES: u8 = 0x38;
/// As in `bpf/lease.h`: from when on a system is spoken for, and how often.
const SILENCE: Duration = ms(400);
const ANSWER_INTERVAL: Duration = ms(300);
/// By what the long timer is longer than the short one.
const LONGER: Duration = Duration::from_secs(90 - 3);
/// More effects than any one change may have.
const ENDLESS: usize = 200;

/// A system and what its ports are made of.
#[derive(Clone, Debug)]
pub struct System {
    pub lacp: Twin,
    pub ports: Vec<PortParams>,
    /// It neither hears nor speaks nor looks at its clock; its ports forward on.
    pub frozen: bool,
    /// Ports that hear nothing though they have carrier.
    pub not_receiving: BTreeSet<usize>,
    /// The last LACPDU each port was given, as long as the link has been up.
    pub heard: BTreeMap<usize, (Time, Lacpdu)>,
    /// The ports as they were when the system came to rest last.
    pub seen: Vec<PortStatus>,
    /// Everything it said to users.
    pub events: Vec<LacpEvent>,
    /// What the checkers have yet to see.
    pub happened: Vec<Happened>,
    /// It is frozen, and its partners are answered.
    spoken_for: Option<Stall>,
    /// Frames that wait for it meanwhile.
    backlog: Vec<(usize, Bytes)>,
    leaving: VecDeque<(usize, Bytes)>,
}

/// What became of a system in one change.
#[derive(Clone, Debug)]
pub enum Happened {
    /// A LACPDU left by this port.
    Sent(usize),
    /// It did all that followed.
    Rested { before: Rest, changed: bool },
}

/// What was to be seen of a system when it came to rest last.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    pub distributing: u32,
    pub receivers: u32,
    pub senders: u32,
    pub active: Option<u16>,
    pub carrier: bool,
}

/// What speaks for a system that does not run.
#[derive(Clone, Debug)]
struct Stall {
    since: Time,
    has_lease: bool,
    /// When each port was spoken for last.
    answered: BTreeMap<usize, Time>,
}

impl System {
    /// `is_recorded`: what it is told is recorded, and replayed at its end.
    pub fn new(config: LacpConfig, ports: Vec<PortParams>, is_recorded: bool) -> System {
        System {
            lacp: Twin::new(config, Time::ZERO, is_recorded),
            ports,
            frozen: false,
            not_receiving: BTreeSet::new(),
            heard: BTreeMap::new(),
            seen: Vec::new(),
            events: Vec::new(),
            happened: Vec::new(),
            spoken_for: None,
            backlog: Vec::new(),
            leaving: VecDeque::new(),
        }
    }

    pub fn rest(&self) -> Rest {
        Rest {
            distributing: self.lacp.distributing().bits(),
            receivers: self.lacp.receivers().bits(),
            senders: self.lacp.senders().bits(),
            active: self.lacp.active_aggregator().map(|aggregator| aggregator.id),
            carrier: self.lacp.carrier(),
        }
    }

    /// Changes what speaks LACP, and does what it wants.
    pub fn change(&mut self, now: Time, change: impl FnOnce(&mut Twin, Time)) {
        let before = self.rest();
        change(&mut self.lacp, now);
        self.drain(before);
    }

    /// Tells it what a port's link is like.
    pub fn tell_link(&mut self, port: usize, now: Time) {
        let link = self.ports[port].link;
        if !link.carrier {
            self.heard.remove(&port);
        }
        self.change(now, |lacp, now| lacp.handle_link(id(port), link, now));
    }

    /// What was heard counts on under another configuration.
    pub fn count_on(&mut self, before: LacpRate, after: LacpRate, now: Time) {
        if (before, after) == (LacpRate::Slow, LacpRate::Fast) {
            // The short timer starts when it is set; what is left of the long one may be less.
            self.heard.values_mut().for_each(|(at, _)| *at = now.min(*at + LONGER));
        }
    }

    /// It stops; the holder of its answers sends them for it.
    pub fn stall(&mut self, now: Time) {
        self.frozen = true;
        self.spoken_for = Some(Stall { since: now, has_lease: true, answered: BTreeMap::new() });
    }

    /// The lease of a system that stalls is over.
    pub fn end_lease(&mut self) {
        self.spoken_for.iter_mut().for_each(|stall| stall.has_lease = false);
    }

    /// Nobody speaks for it any more; what waits for it.
    pub fn take_backlog(&mut self) -> Vec<(usize, Bytes)> {
        self.spoken_for = None;
        std::mem::take(&mut self.backlog)
    }

    /// A new process takes its place with what it would have answered, up to where all ports are there.
    pub fn succeed(&mut self, now: Time) {
        let (answers, config) = (self.lacp.answers(), self.lacp.config().clone());
        let mut new = Twin::new(config, now, self.lacp.is_recorded());
        new.begin_ports();
        for (port, params) in self.ports.iter().enumerate() {
            let heard = self.heard.get(&port).map(|(at, _)| now - *at);
            match answers.iter().find(|answer| answer.member == id(port)).zip(heard) {
                Some(left) => new.resume_port(id(port), *params, left, now),
                None => new.add_port(id(port), *params, now),
            }
        }
        self.lacp = new;
    }

    /// It forgets everything.
    pub fn forget(&mut self, now: Time) {
        self.lacp = Twin::new(self.lacp.config().clone(), now, self.lacp.is_recorded());
        self.heard.clear();
    }

    pub fn take_in(&mut self, port: usize, frame: &[u8], now: Time) {
        if let Ok(SlowPdu::Lacp(pdu)) = SlowPdu::parse(frame)
            && pdu.actor.system != self.lacp.config().ad_actor_system
        {
            self.heard.insert(port, (now, pdu));
        }
        self.change(now, |lacp, now| lacp.handle_frame(id(port), frame, now));
    }

    /// What the dataplane of a system does that does not run.
    fn speak_for(&mut self, port: usize, frame: &Bytes, now: Time) {
        let Some(stall) = &mut self.spoken_for else { return };
        self.backlog.push((port, frame.clone()));
        let Ok(SlowPdu::Lacp(pdu)) = SlowPdu::parse(frame) else { return };
        let answers = self.lacp.answers();
        let answer = answers.into_iter().find(|answer| answer.member == id(port) && answer.partner == pdu.actor);
        let is_silent = now - stall.since >= SILENCE;
        let is_due = stall.answered.get(&port).is_none_or(|last| now - *last >= ANSWER_INTERVAL);
        if let Some(mut answer) = answer.filter(|_| is_silent && is_due) {
            stall.answered.insert(port, now);
            if !stall.has_lease {
                answer.frame[STATE] &= !CARRIES;
            }
            self.send(port, answer.frame);
        }
    }

    /// Does what it wants.
    pub fn drain(&mut self, before: Rest) {
        let (mut changed, mut effects) = (false, 0);
        while let Some(effect) = self.lacp.poll_effect() {
            effects += 1;
            assert!(effects < ENDLESS, "the drain does not end: {effect:?}");
            match effect {
                LacpEffect::Transmit { member, frame } => self.send(member.index(), frame),
                LacpEffect::Changed => changed = true,
                LacpEffect::Event(event) => self.events.push(event),
            }
        }
        self.seen = self.lacp.ports();
        self.happened.push(Happened::Rested { before, changed });
    }

    fn send(&mut self, port: usize, frame: Vec<u8>) {
        if let Ok(SlowPdu::Lacp(_)) = SlowPdu::parse(&frame) {
            self.happened.push(Happened::Sent(port));
        }
        self.leaving.push_back((port, frame.into()));
    }
}

impl Node for System {
    fn handle_frame(&mut self, port: usize, frame: &Bytes, now: Time) {
        if !self.ports[port].link.carrier || self.not_receiving.contains(&port) {
            return;
        }
        if self.frozen {
            self.speak_for(port, frame, now);
        } else {
            self.take_in(port, frame, now);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.change(now, Twin::handle_timeout);
        let next = self.lacp.poll_timeout();
        assert!(next.is_none_or(|(at, _)| at > now), "{next:?} is not after {now}");
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.lacp.poll_timeout().map(|(at, _)| at).filter(|_| !self.frozen)
    }

    fn poll_transmit(&mut self) -> Option<(usize, Bytes)> {
        self.leaving.pop_front()
    }
}
