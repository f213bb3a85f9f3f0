//! 802.3ad: what the team asks of link aggregation control, and takes from it.
//!
//! A member's link counts for LACP as the link monitor sees it, so `updelay` and
//! `downdelay` hold as in every mode. The plan and the carrier follow LACP alone.
//! In Linux drivers/net/bonding: `bond_3ad_bind_slave`, `bond_3ad_handle_link_change`,
//! `bond_3ad_adapter_speed_duplex_changed`, `bond_3ad_set_carrier`.

use std::mem;
use std::time::Duration;

use nicteam_events::{Effect, Event, LinkState};
use nicteam_lacp::{Answer, Lacp, LacpConfig, LacpEffect, PortParams};
use nicteam_machine::{MemberId, MemberLink, Time};
use nicteam_wire::Mac;

use super::parts::Aggregate;
use super::{Team, balance};
use crate::{Config, LacpMode, TimerReason, Traits};

impl Team {
    /// Until [`Team::members_complete`], LACP agrees on nothing and says
    /// nothing: so the members of a team join together. To be called before the
    /// first one joins.
    pub fn begin_members(&mut self) {
        if let Some(aggregate) = &mut self.parts.aggregate {
            aggregate.beginning.get_or_insert_default();
        }
    }

    /// An ended process of this team last said this to the partner of the member
    /// that is to join at the answer's place, and the partner was heard to say
    /// what it answers so long ago. In 802.3ad the member goes on from there,
    /// unless the partner would notice. Between [`Team::begin_members`] and its end.
    pub fn remember(&mut self, answer: Answer, silence: Duration) {
        if let Some(remembered) = self.parts.aggregate.as_mut().and_then(|aggregate| aggregate.beginning.as_mut()) {
            remembered.insert(answer.member, (answer, silence));
        }
    }

    /// The members have joined.
    pub fn members_complete(&mut self, now: Time) {
        self.assert_drained();
        if let Some(aggregate) = &mut self.parts.aggregate {
            aggregate.beginning = None;
        }
        if let Some(lacp) = self.parts.lacp_mut() {
            lacp.ports_complete(now);
            self.drain_lacp(now);
            self.settle(false, now);
        }
        self.forget_last_active();
    }

    /// True from [`Team::begin_members`] to [`Team::members_complete`], where LACP is spoken.
    pub(super) fn begins(&self) -> bool {
        self.parts.aggregate.as_ref().is_some_and(|aggregate| aggregate.beginning.is_some())
    }

    /// What each member would say to its partner, if the partner says what it said last: for the dataplane, which
    /// answers while no process calls this team. Empty but in 802.3ad.
    pub fn answers(&self) -> Vec<Answer> {
        self.lacp().map(Lacp::answers).unwrap_or_default()
    }

    /// For how long the plan is good without this process.
    pub(super) fn lease(&self) -> Option<Duration> {
        match self.aggregates() {
            true => Some(self.config.lacp.lease()),
            false => self.traits.balances_receiving().then_some(balance::PUNT_LEASE),
        }
    }

    /// True if the member to join at this place goes on with its partner.
    pub(super) fn remembers(&self, id: MemberId) -> bool {
        let remembered = self.parts.aggregate.as_ref().and_then(|aggregate| aggregate.beginning.as_ref());
        remembered.is_some_and(|remembered| remembered.contains_key(&id))
    }

    /// A member received a frame of a slow protocol.
    pub(super) fn frame_to_lacp(&mut self, member: MemberId, frame: &[u8], now: Time) {
        if let Some(lacp) = self.parts.lacp_mut() {
            lacp.handle_frame(member, frame, now);
            self.drain_lacp(now);
            self.settle(false, now);
        }
    }

    /// Link aggregation control: its ports and aggregators; in 802.3ad alone,
    /// from the first member on.
    pub fn lacp(&self) -> Option<&Lacp> {
        self.parts.lacp()
    }

    /// A member has joined. With the first the system gets its address: as in
    /// the kernel it keeps it when the team's own changes later.
    pub(super) fn join_lacp(&mut self, id: MemberId, now: Time) {
        let Some(Aggregate { lacp, beginning, .. }) = &mut self.parts.aggregate else { return };
        if lacp.is_none() {
            let mut first = Lacp::new(settings(&self.config, self.traits, self.announcer.mac), now);
            if beginning.is_some() {
                first.begin_ports();
            }
            *lacp = Some(first);
        }
        let (Some(lacp), Some(member)) = (lacp, self.members.get(&id)) else { return };
        let params = PortParams {
            mac: self.announcer.mac,
            // Ports are counted from 1.
            port_number: id.index() as u16 + 1,
            priority: self.config.port_prio(&member.name),
            link: if self.traits.openvswitch { member.link } else { link(member.state, member.link) },
        };
        match beginning.as_mut().and_then(|remembered| remembered.remove(&id)) {
            Some((answer, silence)) => lacp.resume_port(id, params, (&answer, silence), now),
            None => lacp.add_port(id, params, now),
        }
        self.drain_lacp(now);
    }

    /// LACP begins with the members that there are, or ends, where an option says so.
    pub(super) fn begin_or_end_lacp(&mut self, now: Time) {
        if self.aggregates() == self.parts.aggregate.is_some() {
            return;
        }
        self.timers.stop(TimerReason::Lacp);
        self.parts.aggregate = if self.aggregates() { Some(Aggregate::default()) } else { None };
        let members: Vec<MemberId> = self.members.keys().copied().collect();
        members.into_iter().for_each(|id| self.join_lacp(id, now));
    }

    /// A member has gone.
    pub(super) fn leave_lacp(&mut self, id: MemberId, now: Time) {
        if let Some(lacp) = self.parts.lacp_mut() {
            lacp.remove_port(id, now);
            self.drain_lacp(now);
        }
        if let Some(aggregate) = self.parts.aggregate.as_mut().filter(|_| self.members.is_empty()) {
            aggregate.lacp = None;
        }
    }

    /// Options may have changed. As in the kernel (`bond_3ad_update_ad_actor_settings`)
    /// the system then takes the address that the team has now.
    pub(super) fn reconfigure_lacp(&mut self, before: &Config, now: Time) {
        let (mac, prios) = (self.announcer.mac, |config: &Config| config.lacp.actor_port_prio.clone());
        let after = settings(&self.config, self.traits, mac);
        let same = settings(before, before.mode.traits(), mac) == after && prios(before) == prios(&self.config);
        let Some(lacp) = self.parts.lacp_mut().filter(|_| !same) else { return };
        lacp.set_config(after, now);
        self.drain_lacp(now);
        let prios: Vec<(MemberId, u16)> =
            self.members.iter().map(|(&id, member)| (id, self.config.port_prio(&member.name))).collect();
        for (id, prio) in prios {
            if let Some(lacp) = self.parts.lacp_mut() {
                lacp.set_port_priority(id, prio, now);
                self.drain_lacp(now);
            }
        }
    }

    /// A member's state, speed or duplex has changed. While it is failing nothing
    /// has happened yet.
    pub(super) fn link_to_lacp(&mut self, id: MemberId, now: Time) {
        let (Some(lacp), Some(member)) = (self.parts.lacp_mut(), self.members.get(&id)) else { return };
        if self.traits.openvswitch {
            lacp.handle_link(id, member.link, now);
            self.drain_lacp(now);
        } else if member.state != LinkState::Fail {
            lacp.handle_link(id, link(member.state, member.link), now);
            self.drain_lacp(now);
        }
    }

    /// A deadline of LACP has come.
    pub(super) fn time_out_lacp(&mut self, now: Time) {
        if let Some(lacp) = self.parts.lacp_mut() {
            lacp.handle_timeout(now);
            self.drain_lacp(now);
            self.settle(false, now);
        }
    }

    /// Does what LACP asks for: the change of plan before the PDU that tells the
    /// partner of it.
    fn drain_lacp(&mut self, now: Time) {
        while let Some(effect) = self.parts.lacp_mut().and_then(Lacp::poll_effect) {
            match effect {
                LacpEffect::Transmit { member, frame } => self.effects.push_back(Effect::Transmit { member, frame }),
                LacpEffect::Changed => {
                    if self.traits.openvswitch {
                        self.follow_links_of_bond(now);
                        self.choose_active_of_bond(now);
                        self.bond_members(now);
                    }
                    self.share_load();
                    self.update_plan();
                    self.update_carrier();
                    self.announce_from_new_ports();
                }
                LacpEffect::Event(event) => self.effects.push_back(Effect::Event(Event::Lacp(event))),
            }
        }
        match self.lacp().and_then(Lacp::poll_timeout) {
            Some((at, _)) => self.timers.set(TimerReason::Lacp, at),
            None => self.timers.stop(TimerReason::Lacp),
        }
    }
}

impl Team {
    /// With `broadcast_neighbor` a switch that gets a port learns from the
    /// announcements what is behind it (bond_3ad.c, `ad_cond_set_peer_notif`).
    fn announce_from_new_ports(&mut self) {
        let Some(aggregate) = &mut self.parts.aggregate else { return };
        let now = aggregate.lacp.as_ref().map(Lacp::distributing).unwrap_or_default();
        let before = mem::replace(&mut aggregate.distributing, now);
        if self.config.lacp.broadcast_neighbor && now.iter().any(|id| !before.contains(id)) {
            self.announcer.rounds = self.config.num_grat_arp;
            self.timers.stop(TimerReason::PeerNotify);
        }
    }
}

/// A member's link as LACP is to see it.
fn link(state: LinkState, link: MemberLink) -> MemberLink {
    MemberLink { carrier: matches!(state, LinkState::Up | LinkState::Fail), ..link }
}

/// The configuration of a team with this address, as LACP has it.
fn settings(config: &Config, traits: &Traits, mac: Mac) -> LacpConfig {
    let options = &config.lacp;
    let kernels = LacpConfig {
        ad_actor_system: options.actor_system.unwrap_or(mac),
        ad_actor_sys_prio: config.actor_sys_prio(),
        ad_user_port_key: options.user_port_key,
        lacp_active: options.active,
        lacp_rate: options.rate,
        ad_select: options.select,
        min_links: config.min_links,
        lacp_strict: options.strict,
        coupled_control: options.coupled_control,
        aggregate_wait_ms: options.aggregate_wait_ms,
        wait_to_restore_ms: options.wait_to_restore_ms,
        one_key: None,
    };
    match traits.openvswitch {
        false => kernels,
        // lib/lacp.c: members that speak with one partner aggregate at once, whatever their speeds are, and one without a partner
        // carries nothing; what falls back is decided elsewhere.
        true => LacpConfig {
            lacp_active: config.bond.lacp == LacpMode::Active,
            lacp_strict: true,
            aggregate_wait_ms: 0,
            one_key: Some(1),
            ..kernels
        },
    }
}
