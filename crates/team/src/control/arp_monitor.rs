//! Members judged by what they receive: `arp_interval`.
//!
//! Linux 6.1 drivers/net/bonding/bond_main.c, `bond_loadbalance_arp_mon` and
//! `bond_activebackup_arp_mon` (inspect, commit, probe). Every interval the
//! shell reads links and counters ([`Effect::ReadTraffic`]); then members are
//! judged and the targets asked.
//!
//! Differences:
//! - Frames that prove a member's work by their mere arrival are seen in its
//!   counters, ARP and neighbour discovery at once. So a member whose other
//!   traffic ends may be found down an interval later than by the kernel.
//! - Without an active member (all modes but active-backup) every member is
//!   validated as an active one. The kernel takes one that is down for a backup,
//!   which with `arp_validate all` may never come up again.
//! - `arp_all_targets all` concerns members that are validated, as the kernel's
//!   documentation says; its code takes the others down.
//! - A member that was tried and did not answer is down; the kernel shows
//!   "going down" until its next turn. That members are tried is no event: it
//!   happens every interval while all are down.
//! - A member that joined without carrier is up when it was heard of; the kernel
//!   may take it up before.

use std::time::Duration;

use nicteam_events::{Effect, LinkState, Traffic};
use nicteam_machine::{MemberId, Time};
use nicteam_wire::{Frame, Mac, ethertype};

use super::hearing::{Hearing, Message, Role};
use super::monitor::millis;
use super::{Team, probe};
use crate::{ArpAllTargets, ArpMonitoring, TimerReason};

impl Team {
    /// Takes in a frame that a member received, from the destination address on,
    /// its VLAN tag among its bytes; of the kinds that [`Team::listens`] names,
    /// also on members whose frames the team does not take. Others are ignored.
    pub fn handle_frame(&mut self, member: MemberId, frame: &[u8], now: Time) {
        self.assert_drained();
        match Frame::parse_untagged(frame) {
            Ok(parsed) if parsed.ethertype() == ethertype::SLOW => self.frame_to_lacp(member, frame, now),
            Ok(parsed) if parsed.ethertype() == ethertype::HELLO => self.hello(member, &parsed, now),
            Ok(parsed) if parsed.dst() == Mac::CISCO_GROUP => return self.hear_pagp(member, &parsed, now),
            Ok(parsed) if self.hear_plain_host(member, &parsed) => return,
            Ok(parsed) if self.config.arp.is_on() => self.hear(member, &parsed, now),
            _ => {}
        }
        self.balance_hear(frame, now);
    }

    /// Takes in every member's counters, after [`Effect::ReadTraffic`]; the ARP
    /// monitor then decides which members work and asks its targets.
    pub fn handle_traffic(&mut self, traffic: &[(MemberId, Traffic)], now: Time) {
        self.assert_drained();
        if !self.config.arp.is_on() {
            return;
        }
        for &(id, counted) in traffic {
            let counts = !self.config.arp.validate.filters() && !self.is_validated(id);
            if let Some(hearing) = self.arp.hearing.get_mut(&id) {
                hearing.count(counted, counts, now);
            }
        }
        if self.traits.has_active {
            self.judge_active_and_backups(now);
            self.ask_by_the_active(now);
        } else {
            self.judge_all(now);
            self.ask_by_all(now);
        }
    }

    /// Begins, or ends, with another interval than `before`, in milliseconds.
    pub(super) fn monitor_arp_anew(&mut self, before_ms: u32, now: Time) {
        if before_ms == self.config.arp.interval_ms {
            return;
        }
        self.timers.stop(TimerReason::ArpMon);
        if let Some(id) = self.arp.candidate {
            self.enter(id, LinkState::Down, now);
            self.arp.candidate = None;
        }
        if self.config.arp.is_on() && !self.members.is_empty() {
            self.timers.set(TimerReason::ArpMon, now);
            self.arp.hearing.values_mut().for_each(|hearing| *hearing = Hearing::new(now));
        }
    }

    /// The monitor's next round.
    pub(super) fn start_arp_round(&mut self, now: Time) {
        self.timers.set(TimerReason::ArpMon, now + self.interval());
        self.effects.push_back(Effect::ReadTraffic);
    }

    fn hear(&mut self, id: MemberId, frame: &Frame<'_>, now: Time) {
        let Some(message) = Message::read(frame, &self.config.arp, &self.arp.subnets) else { return };
        let proven = self.is_validated(id).then(|| message.proves(self.role(id, now)));
        let Some(hearing) = self.arp.hearing.get_mut(&id) else { return };
        match proven {
            None => hearing.heard(now),
            Some(Some(target)) => hearing.heard_of(target, now),
            Some(None) => {}
        }
    }

    /// `bond_loadbalance_arp_mon`.
    fn judge_all(&mut self, now: Time) {
        let (interval, missed_max) = (self.interval(), self.config.arp.missed_max);
        let judged: Vec<(MemberId, LinkState, LinkState)> = self
            .members
            .iter()
            .filter_map(|(&id, member)| {
                let hearing = self.arp.hearing.get(&id)?;
                let last_rx = hearing.last_rx(None);
                let is_up = member.state == LinkState::Up;
                let intervals = if is_up { missed_max } else { 1 };
                let alive = (is_up || last_rx.is_some())
                    && hearing.sent_within(intervals, interval, now)
                    && hearing.within(last_rx, intervals, interval, now);
                let to = if alive { LinkState::Up } else { LinkState::Down };
                Some((id, member.state, to))
            })
            .collect();
        let mut changed = false;
        for (id, _, to) in judged.into_iter().filter(|(_, from, to)| from != to) {
            self.enter(id, to, now);
            changed = true;
        }
        if changed {
            self.settle(false, now);
        }
    }

    fn ask_by_all(&mut self, now: Time) {
        let ids: Vec<MemberId> = self.members.iter().filter(|(_, m)| m.link.carrier).map(|(&id, _)| id).collect();
        ids.into_iter().for_each(|id| self.ask(id, now));
    }

    /// `bond_ab_arp_inspect` and `bond_ab_arp_commit`.
    fn judge_active_and_backups(&mut self, now: Time) {
        let ids: Vec<MemberId> = self.members.keys().copied().collect();
        let judged: Vec<(MemberId, LinkState)> =
            ids.into_iter().filter_map(|id| Some((id, self.judge(id, now)?))).collect();
        let (mut choose_again, changed) = (false, !judged.is_empty());
        for (id, to) in judged {
            let was_tried = self.members.get(&id).is_some_and(|member| member.state == LinkState::Back);
            self.enter(id, to, now);
            match to {
                LinkState::Up => {
                    self.arp.candidate = None;
                    choose_again |= self.active.is_none() || self.is_preferred(id);
                }
                LinkState::Down if self.active == Some(id) => {
                    self.arp.candidate = None;
                    choose_again = true;
                }
                // Somebody else is the active one by now: nobody is looked for.
                LinkState::Down if was_tried && self.active.is_some() => self.arp.candidate = None,
                LinkState::Down | LinkState::Fail | LinkState::Back => {}
            }
        }
        if changed {
            self.settle(choose_again, now);
        }
    }

    /// The state that a member is to enter, if it is another.
    fn judge(&self, id: MemberId, now: Time) -> Option<LinkState> {
        let (member, hearing) = (self.members.get(&id)?, self.arp.hearing.get(&id)?);
        let (interval, missed_max) = (self.interval(), self.config.arp.missed_max);
        let last_rx = self.last_rx(id, hearing);
        let heard_within = |intervals| hearing.within(last_rx, intervals, interval, now);
        if member.state != LinkState::Up {
            return match (heard_within(1) && last_rx.is_some(), member.state) {
                (true, _) => Some(LinkState::Up),
                (false, LinkState::Back) => Some(LinkState::Down),
                (false, _) => None,
            };
        }
        if hearing.within(Some(hearing.tried), 2, interval, now) {
            return None;
        }
        let is_dead = if self.is_active(id) {
            !hearing.sent_within(missed_max, interval, now) || !heard_within(missed_max)
        } else {
            self.arp.candidate.is_none() && !heard_within(missed_max + 1)
        };
        is_dead.then_some(LinkState::Down)
    }

    /// `bond_ab_arp_probe`: the active member asks; without one, members with
    /// carrier are tried in turn, one an interval.
    fn ask_by_the_active(&mut self, now: Time) {
        if let Some(active) = self.active {
            return self.ask(active, now);
        }
        let ids: Vec<MemberId> = self.members.keys().copied().collect();
        let after = self.arp.candidate.or(ids.first().copied());
        let with_carrier = |id: &&MemberId| self.members.get(id).is_some_and(|member| member.link.carrier);
        let next = ids.iter().filter(with_carrier).find(|&&id| Some(id) > after);
        let next = next.or_else(|| ids.iter().find(with_carrier)).copied();
        // Up by name, although nobody chose it and it has no carrier.
        let only_in_name = |id: &MemberId| {
            self.members.get(id).is_some_and(|member| member.state == LinkState::Up && !member.link.carrier)
        };
        let dead: Vec<MemberId> = ids.iter().copied().filter(only_in_name).collect();
        let changed = !dead.is_empty() || next.is_some();
        dead.into_iter().for_each(|id| self.enter(id, LinkState::Down, now));
        if let Some(id) = next {
            self.arp.candidate = Some(id);
            self.enter(id, LinkState::Back, now);
            if let Some(hearing) = self.arp.hearing.get_mut(&id) {
                hearing.tried = now;
            }
        }
        if changed {
            self.settle(false, now);
        }
        if let Some(id) = next {
            self.ask(id, now);
        }
    }

    /// Asks every target by this member.
    fn ask(&mut self, id: MemberId, now: Time) {
        let questions = probe::questions(&self.config.arp, &self.arp.subnets, self.mac_of(id));
        let Some(hearing) = self.arp.hearing.get_mut(&id) else { return };
        if !questions.is_empty() {
            hearing.sent(now);
        }
        self.effects.extend(questions.into_iter().map(|frame| Effect::Transmit { member: id, frame }));
    }

    fn interval(&self) -> Duration {
        millis(self.config.arp.interval_ms)
    }

    /// True if it carries the traffic, or is tried: it gets the answers.
    fn is_active(&self, id: MemberId) -> bool {
        !self.traits.has_active || self.active == Some(id) || self.arp.candidate == Some(id)
    }

    fn is_validated(&self, id: MemberId) -> bool {
        self.config.arp.validate.validates(self.is_active(id))
    }

    fn role(&self, id: MemberId, now: Time) -> Role {
        if self.is_active(id) {
            return Role::Active;
        }
        let active_works = self.active.and_then(|active| {
            let hearing = self.arp.hearing.get(&active)?;
            Some(self.last_rx(active, hearing)? > hearing.tried)
        });
        let candidate = self.arp.candidate.and_then(|candidate| self.arp.hearing.get(&candidate));
        let candidate_asked = candidate.is_some_and(|hearing| hearing.sent_within(1, self.interval(), now));
        Role::Standby { active_works: active_works.unwrap_or(false), candidate_asked }
    }

    /// `slave_last_rx`.
    fn last_rx(&self, id: MemberId, hearing: &Hearing) -> Option<Time> {
        let monitor: &ArpMonitoring = &self.config.arp;
        let of_all = monitor.all_targets == ArpAllTargets::All && self.is_validated(id);
        hearing.last_rx(of_all.then_some(monitor))
    }
}
