//! An actor system and its ports.

use std::collections::VecDeque;
use std::time::Duration;

use nicteam_machine::bytes::{Reader, Unreadable};
use nicteam_machine::state::State;
use nicteam_machine::{MemberId, MemberLink, MemberSet, Time};
use nicteam_wire::{Lacpdu, Mac, Marker, MarkerKind, SlowPdu};

use crate::config::LacpConfig;
use crate::event::{LacpEffect, LacpEvent};
use crate::markers::MarkerId;
use crate::port::{Port, PortParams, Selected};
use crate::reason::Reason;
use crate::receive::Heard;
use crate::selection::Ports;
use crate::states::{End, MuxState, ReceiveState};
use crate::status::{AggregatorStatus, PortStatus};
use crate::timer::PortTimer;
use crate::{churn, insist, marker, mux, periodic, reason, receive, selection, transmit};

/// Why [`Lacp::poll_timeout`] wants to be called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LacpTimer {
    /// The port.
    pub member: MemberId,
    /// What it waits for.
    pub timer: PortTimer,
}

/// An actor system.
#[derive(Clone, Debug)]
pub struct Lacp {
    pub(super) config: LacpConfig,
    pub(super) ports: Ports,
    /// The active aggregator.
    pub(super) active: Option<u16>,
    /// What [`LacpEffect::Changed`] was last said of.
    pub(super) told: Told,
    /// Ports are still being taken in: nothing is settled.
    pub(super) beginning: bool,
    pub(super) next_marker: u32,
    pub(super) effects: VecDeque<LacpEffect>,
}

impl State for Lacp {
    fn put(&self, to: &mut Vec<u8>) {
        // A state is taken when nothing is left to be done.
        let Lacp { config, ports, active, told, beginning, next_marker, effects: _ } = self;
        config.put(to);
        ports.put(to);
        active.put(to);
        told.put(to);
        beginning.put(to);
        next_marker.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (config, ports, active) = (State::take(from)?, State::take(from)?, State::take(from)?);
        let (told, beginning, next_marker) = (State::take(from)?, State::take(from)?, State::take(from)?);
        Ok(Lacp { config, ports, active, told, beginning, next_marker, effects: VecDeque::new() })
    }
}

/// What a caller of [`Lacp`] builds on.
type Told = (MemberSet, MemberSet, Option<u16>, bool);

impl Lacp {
    /// A system without ports.
    pub fn new(config: LacpConfig, now: Time) -> Lacp {
        // Nothing is awaited before the first port is there.
        let _ = now;
        Lacp {
            config,
            ports: Ports::new(),
            active: None,
            told: Told::default(),
            beginning: false,
            next_marker: 0,
            effects: VecDeque::new(),
        }
    }

    /// Takes a member in; one that is a port already starts anew.
    pub fn add_port(&mut self, member: MemberId, params: PortParams, now: Time) {
        self.assert_drained();
        self.drop_port(member);
        let mut port = Port::new(params, &self.config);
        receive::initialize(&mut port, &self.config, now);
        self.ports.insert(member, port);
        self.settle(now);
    }

    /// Lets a member go. The partner is told, or it would send by this link until
    /// it takes the port for silent.
    pub fn remove_port(&mut self, member: MemberId, now: Time) {
        self.assert_drained();
        let farewell = self.ports.get(&member).and_then(transmit::farewell);
        self.drop_port(member);
        self.settle(now);
        // Behind the change: what the partner still sends is taken by the others then.
        self.effects.extend(farewell.map(|frame| LacpEffect::Transmit { member, frame }));
    }

    /// Takes in what the operating system says of a member's link. Members that
    /// are no ports are ignored, here and below.
    pub fn handle_link(&mut self, member: MemberId, link: MemberLink, now: Time) {
        self.assert_drained();
        let Some(port) = self.ports.get_mut(&member) else { return };
        let (spoke, old) = (port.speaks_lacp(), port.params.link);
        // Without carrier many drivers know neither speed nor duplex: that is no change of either.
        port.params.link = if link.carrier { link } else { MemberLink { carrier: false, ..old } };
        port.configure(&self.config);
        if spoke != port.speaks_lacp() {
            receive::initialize(port, &self.config, now);
        }
        receive::follow_link(port, &self.config, now);
        port.counters.carrier_changes += u64::from(link.carrier != old.carrier);
        if link.carrier && !old.carrier {
            self.hold(member, now);
        } else if !link.carrier {
            port.timers.stop(PortTimer::Restore);
            let gone = marker::give_up(port);
            self.flushed(member, gone, false);
        }
        self.settle(now);
    }

    /// Gives a port another priority (`actor_port_prio`).
    pub fn set_port_priority(&mut self, member: MemberId, priority: u16, now: Time) {
        self.assert_drained();
        if let Some(port) = self.ports.get_mut(&member) {
            port.params.priority = priority;
            port.configure(&self.config);
        }
        self.settle(now);
    }

    /// Takes in a frame that a member received; what is neither LACPDU nor
    /// marker is counted and ignored.
    pub fn handle_frame(&mut self, member: MemberId, frame: &[u8], now: Time) {
        self.assert_drained();
        let Some(port) = self.ports.get_mut(&member) else { return };
        match SlowPdu::parse(frame) {
            Ok(SlowPdu::Lacp(pdu)) => self.handle_lacpdu(member, &pdu, now),
            Ok(SlowPdu::Marker(marker)) => self.handle_marker(member, marker, now),
            Err(_) => port.counters.malformed += 1,
        }
        self.settle(now);
    }

    /// Time has come to a deadline of [`Lacp::poll_timeout`]; harmless earlier or later.
    pub fn handle_timeout(&mut self, now: Time) {
        self.assert_drained();
        let members: Vec<MemberId> = self.ports.keys().copied().collect();
        for member in members {
            let due = self.ports.get_mut(&member).map_or_else(Vec::new, |port| port.timers.take_due(now));
            due.into_iter().for_each(|timer| self.expire(member, timer, now));
        }
        self.settle(now);
    }

    /// Changes the configuration while everything runs.
    pub fn set_config(&mut self, config: LacpConfig, now: Time) {
        self.assert_drained();
        let old_rate = std::mem::replace(&mut self.config, config).lacp_rate;
        for port in self.ports.values_mut() {
            port.configure(&self.config);
            receive::reconfigure(port, &self.config, old_rate, now);
            if self.config.wait_to_restore_ms == 0 {
                port.timers.stop(PortTimer::Restore);
            }
        }
        self.settle(now);
    }

    /// Asks the partner whether everything that was sent by this member has
    /// arrived; [`LacpEvent::Flushed`] tells the answer, after a second at the
    /// latest. Stop sending the flow by the member first, and send it by another
    /// after. Nothing: no such port, no carrier, or five markers within a
    /// second; then only waiting helps.
    pub fn flush(&mut self, member: MemberId, now: Time) -> Option<MarkerId> {
        let port = self.ports.get_mut(&member)?;
        let id = MarkerId(self.next_marker);
        let frame = marker::ask(port, id, now)?;
        self.next_marker = self.next_marker.wrapping_add(1);
        self.effects.push_back(LacpEffect::Transmit { member, frame });
        Some(id)
    }

    /// The next thing to do, in order.
    pub fn poll_effect(&mut self) -> Option<LacpEffect> {
        self.effects.pop_front()
    }

    /// When to call [`Lacp::handle_timeout`] next, and why.
    pub fn poll_timeout(&self) -> Option<(Time, LacpTimer)> {
        let next = |(&member, port): (&MemberId, &Port)| {
            port.timers.next().map(|(at, timer)| (at, LacpTimer { member, timer }))
        };
        self.ports.iter().filter_map(next).min_by_key(|(at, _)| *at)
    }

    /// The configuration.
    pub fn config(&self) -> &LacpConfig {
        &self.config
    }

    /// The members whose frames are taken in.
    pub fn collecting(&self) -> MemberSet {
        self.members_that(Port::collects)
    }

    /// The members that frames are sent by.
    pub fn distributing(&self) -> MemberSet {
        self.members_that(Port::distributes)
    }

    /// True if the team has carrier: at least `min_links` members of the active
    /// aggregator distribute. Without `lacp_strict` those count that only wait
    /// for their partner (Linux `bond_3ad_set_carrier`).
    pub fn carrier(&self) -> bool {
        let active = |port: &&Port| self.active.is_some() && port.aggregator_id() == self.active;
        let up =
            |port: &&Port| port.distributes() || !self.config.lacp_strict && port.receive != ReceiveState::PortDisabled;
        let up = self.ports.values().filter(active).filter(up).count();
        up.max(self.senders().iter().count()) >= self.config.min_links.max(1) as usize
    }

    /// The active aggregator, if there is one.
    pub fn active_aggregator(&self) -> Option<AggregatorStatus> {
        self.aggregators().into_iter().find(|aggregator| aggregator.active)
    }

    /// Every aggregator that has ports, by number.
    pub fn aggregators(&self) -> Vec<AggregatorStatus> {
        let mut all: Vec<AggregatorStatus> = Vec::new();
        for (&member, port) in &self.ports {
            let Some((id, lag)) = port.aggregator else { continue };
            match all.iter_mut().find(|aggregator| aggregator.id == id) {
                Some(aggregator) => aggregator.ports.insert(member),
                None => all.push(AggregatorStatus {
                    id,
                    active: self.active == Some(id),
                    ports: MemberSet::one(member),
                    actor_key: lag.actor_key,
                    partner_key: lag.partner_key,
                    partner_system: lag.partner_system,
                }),
            }
        }
        all.sort_by_key(|aggregator| aggregator.id);
        all
    }

    /// The ports, by member.
    pub fn ports(&self) -> Vec<PortStatus> {
        let status = |(&member, port)| PortStatus::of(member, port, reason::why_not(port, &self.ports, self.active));
        self.ports.iter().map(status).collect()
    }

    /// Why a member does not carry traffic; nothing if it does, or is no port.
    pub fn why_not(&self, member: MemberId) -> Option<Reason> {
        reason::why_not(self.ports.get(&member)?, &self.ports, self.active)
    }

    pub(super) fn assert_drained(&self) {
        debug_assert!(self.effects.is_empty(), "a change before the effects of the last one were polled");
    }

    fn members_that(&self, has: fn(&Port) -> bool) -> MemberSet {
        self.ports.iter().filter(|(_, port)| has(port)).map(|(member, _)| *member).collect()
    }

    pub(super) fn drop_port(&mut self, member: MemberId) {
        if let Some(mut port) = self.ports.remove(&member) {
            let gone = marker::give_up(&mut port);
            self.flushed(member, gone, false);
        }
    }

    fn handle_lacpdu(&mut self, member: MemberId, pdu: &Lacpdu, now: Time) {
        self.forget_moved(member, pdu, now);
        let Some(port) = self.ports.get_mut(&member) else { return };
        let before = (port.receive, port.partner.system, port.is_looped());
        match receive::pdu(port, pdu, &self.config, now) {
            Heard::Nothing => {}
            Heard::Ourselves => {
                port.counters.looped += 1;
                if !before.2 && port.is_looped() {
                    self.tell(LacpEvent::Looped { member });
                }
            }
            Heard::Partner => {
                port.counters.lacpdus_received += 1;
                if before.0 != ReceiveState::Current {
                    self.hold(member, now);
                }
            }
        }
        self.tell_partner(member, before.1);
    }

    /// `port_moved`: the partner's port is heard here now, so a port without
    /// carrier that remembers it can forget it.
    fn forget_moved(&mut self, member: MemberId, pdu: &Lacpdu, now: Time) {
        let partner = (pdu.actor.system, pdu.actor.port);
        for (&other, port) in &mut self.ports {
            let remembers = !port.defaulted && (port.partner.system, port.partner.port) == partner;
            if other != member && remembers && port.receive == ReceiveState::PortDisabled {
                receive::initialize(port, &self.config, now);
            }
        }
    }

    fn handle_marker(&mut self, member: MemberId, marker: Marker, now: Time) {
        let Some(port) = self.ports.get_mut(&member) else { return };
        match marker.kind {
            MarkerKind::Information => {
                port.counters.markers_received += 1;
                if let Some(frame) = marker::answer(port, marker, now) {
                    self.effects.push_back(LacpEffect::Transmit { member, frame });
                }
            }
            MarkerKind::Response => {
                port.counters.responses_received += 1;
                let settled = marker::answered(port, marker);
                self.flushed(member, settled, true);
            }
        }
    }

    /// A port's timer has run out.
    fn expire(&mut self, member: MemberId, timer: PortTimer, now: Time) {
        let Some(port) = self.ports.get_mut(&member) else { return };
        match timer {
            PortTimer::CurrentWhile => {
                let partner = port.partner.system;
                receive::timeout(port, &self.config, now);
                self.tell_partner(member, partner);
            }
            PortTimer::Periodic => periodic::timeout(port, now),
            PortTimer::WaitWhile => port.ready = true,
            PortTimer::Insist => insist::timeout(port),
            PortTimer::ActorChurn | PortTimer::PartnerChurn => {
                let end = if timer == PortTimer::ActorChurn { End::Actor } else { End::Partner };
                churn::timeout(port, end);
                self.tell(LacpEvent::Churned { member, end });
            }
            PortTimer::Marker => {
                let late = marker::timeout(port, now);
                self.flushed(member, late, false);
            }
            // The timer was all there was of it: the machines see that it is gone.
            PortTimer::Transmit | PortTimer::Restore | PortTimer::Loop => {}
        }
    }

    /// Lets a port that was lost stand by while others carry the traffic.
    fn hold(&mut self, member: MemberId, now: Time) {
        let wait = Duration::from_millis(self.config.wait_to_restore_ms.into());
        if let Some(port) = self.ports.get_mut(&member)
            && std::mem::take(&mut port.lost)
            && !wait.is_zero()
        {
            port.timers.set(PortTimer::Restore, now + wait);
        }
    }

    /// Runs every machine until none moves, and lets speak who has something to
    /// say: after the change is told, so that who tells its partner that it
    /// collects does.
    pub(super) fn settle(&mut self, now: Time) {
        if self.beginning {
            return;
        }
        let (active, before) = (self.active, self.mux_states());
        self.select_and_attach(now);
        self.tell_changes(active, before);
        for (&member, port) in &mut self.ports {
            periodic::step(port, &self.config, now);
            churn::step(port, now);
            insist::step(port, now);
            if let Some(frame) = transmit::step(port, now) {
                self.effects.push_back(LacpEffect::Transmit { member, frame });
            }
        }
    }

    /// Ports that have to find an aggregator anew leave their old one first, so
    /// that the active one is chosen with every port in its place.
    fn select_and_attach(&mut self, now: Time) {
        for port in self.ports.values_mut() {
            while port.selected == Selected::Unselected && mux::step(port, false, &self.config, now) {}
        }
        loop {
            self.active = selection::step(&mut self.ports, &self.config, self.active);
            while self.attach(now) {}
            if !self.stop_holding() {
                return;
            }
        }
    }

    /// One step of every mux machine; false if none moved.
    fn attach(&mut self, now: Time) -> bool {
        let ready = selection::ready(&self.ports);
        let step = |port: &mut Port| mux::step(port, ready, &self.config, now);
        // Every port shall step, not only up to the first that moves.
        self.ports.values_mut().map(step).fold(false, |moved, moves| moved | moves)
    }

    /// No port carries the traffic, so the ports are needed whose wait-to-restore time runs.
    fn stop_holding(&mut self) -> bool {
        if self.ports.values().any(|port| port.distributes()) {
            return false;
        }
        let mut held = false;
        for port in self.ports.values_mut() {
            held |= port.timers.is_set(PortTimer::Restore);
            port.timers.stop(PortTimer::Restore);
        }
        held
    }

    fn mux_states(&self) -> Vec<(MemberId, MuxState)> {
        self.ports.iter().map(|(&member, port)| (member, port.mux)).collect()
    }

    /// Says what became of the active aggregator and of the ports.
    fn tell_changes(&mut self, active: Option<u16>, before: Vec<(MemberId, MuxState)>) {
        let told = (self.receivers(), self.senders(), self.active, self.carrier());
        if std::mem::replace(&mut self.told, told) != told {
            self.effects.push_back(LacpEffect::Changed);
        }
        if active != self.active {
            self.tell(LacpEvent::Active { from: active, to: self.active });
        }
        for (member, from) in before {
            let Some(to) = self.ports.get(&member).map(|port| port.mux).filter(|to| *to != from) else { continue };
            self.tell(LacpEvent::Mux { member, from, to, why_not: self.why_not(member) });
        }
    }

    fn tell(&mut self, event: LacpEvent) {
        self.effects.push_back(LacpEffect::Event(event));
    }

    fn tell_partner(&mut self, member: MemberId, before: Mac) {
        let Some(system) = self.ports.get(&member).map(|port| port.partner.system) else { return };
        if system != before {
            let system = (system != Mac::default()).then_some(system);
            self.tell(LacpEvent::Partner { member, system });
        }
    }

    fn flushed(&mut self, member: MemberId, markers: Vec<MarkerId>, answered: bool) {
        for marker in markers {
            self.tell(LacpEvent::Flushed { member, marker, answered });
        }
    }
}
