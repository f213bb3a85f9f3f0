//! What a user changes while the team runs: options, the active member, a member's name.
//!
//! Linux drivers/net/bonding/bond_options.c, the `bond_option_*_set` functions.
//! Options of which the kernel says `BOND_OPTFLAG_IFDOWN` or
//! `BOND_OPTFLAG_NOSLAVES` are those that cannot change under traffic there.
//! Here everything changes by one new plan, and so all but the mode may change
//! at any time; and the mode may, too, between modes whose members carry the
//! same address and that agree on nothing with the other end.

use std::mem;

use nicteam_events::{Effect, Event, LinkState, TeamError};
use nicteam_machine::{MAX_MEMBERS, MemberId, Time};

use super::monitor::millis;
use super::parts::Parts;
use super::{Team, TimerReason, active};
use crate::{ActiveSlave, Config};

impl Team {
    /// Goes on with another configuration; what follows from it is one plan,
    /// so that a dataplane changes over between two frames.
    ///
    /// As in the kernel, a `primary` that is named takes over at once
    /// (`bond_option_primary_set`), a changed `primary_reselect` lets the best
    /// member be chosen anew, and `miimon` that is switched on reads the links
    /// at once, as `arp_interval` that is switched on asks its targets. Delays that
    /// are running end when the new value says. An [`active_slave`](Config::active_slave)
    /// is granted last, and [`Team::config`] does not show it.
    ///
    /// # Errors
    /// What [`Config::check`] refuses; another mode that is not
    /// [exchangeable](crate::Mode::changes_live) while there are members, and another
    /// [`Config::mac_policy`]; an `active_slave` that is no member or not up.
    /// Nothing has changed then.
    pub fn set_config(&mut self, mut config: Config, now: Time) -> Result<(), TeamError> {
        self.assert_drained();
        config.check()?;
        let wish = config.active_slave.take();
        let wished = self.wished(wish.as_ref())?;
        let (from, to) = (self.config.mode, config.mode);
        if from != to && !self.members.is_empty() && !from.changes_live(to) {
            return Err(TeamError::ModeNeedsNoMembers { from, to });
        }
        if self.config.mac_policy() != config.mac_policy() && !self.members.is_empty() {
            return Err(TeamError::AddressesNeedNoMembers);
        }
        let before = mem::replace(&mut self.config, config);
        self.traits = to.traits();
        self.time_anew(&before, now);
        let primary_changed = before.primary != self.config.primary;
        if primary_changed {
            self.force_primary = self.primary().is_some();
        }
        if from != to {
            let aggregate = self.parts.aggregate.take().filter(|_| self.aggregates());
            self.parts = Parts { aggregate, ..Parts::of(self.traits, &self.config, self.seed()) };
            self.balance_vlans();
            self.discover_anew(now);
        } else if (&before.stripe_key, &before.stripe_key_old) != (&self.config.stripe_key, &self.config.stripe_key_old)
        {
            self.take_key(now);
        }
        if !self.traits.openvswitch {
            // Elsewhere a member's link alone says how it is.
            self.members.values_mut().for_each(|member| member.may_enable = true);
        }
        self.begin_or_end_lacp(now);
        self.reconfigure_lacp(&before, now);
        self.reconfigure_bond(&before);
        if let Some(discovery) = &mut self.parts.discovery {
            discovery.set_interval(millis(self.config.stripe_interval_ms));
        }
        if from.uses_primary() && !to.uses_primary() {
            self.leave_active();
        }
        let choose_again = primary_changed
            || from != to
            || before.primary_reselect != self.config.primary_reselect
            || before.prio != self.config.prio;
        let granted = wish.is_some() && self.traits.has_active;
        if granted {
            self.grant(wished, now);
        }
        self.settle(choose_again && !granted, now);
        Ok(())
    }

    /// The member that an `active_slave` names, if it names one and that is up.
    fn wished(&self, wish: Option<&ActiveSlave>) -> Result<Option<MemberId>, TeamError> {
        let Some(ActiveSlave::Member(name)) = wish else { return Ok(None) };
        let found = self.members.iter().find(|(_, member)| member.name == *name);
        let (&id, member) = found.ok_or_else(|| TeamError::NotAMember(name.clone()))?;
        match member.state {
            LinkState::Up => Ok(Some(id)),
            state => Err(TeamError::NotUp { name: name.clone(), state }),
        }
    }

    /// Makes this member, or else the best one, the active one
    /// (`bond_option_active_slave_set`); one that is chosen again stays undisturbed.
    fn grant(&mut self, wished: Option<MemberId>, now: Time) {
        let to = wished.or_else(|| {
            let wishes = active::Wishes { primary: self.primary(), force: false, config: &self.config };
            active::choose(&self.members, None, wishes)
        });
        if self.traits.openvswitch {
            to.into_iter().for_each(|id| self.activate_in_bond(id));
            return;
        }
        // A primary that was to be forced has had its turn.
        self.force_primary &= !self.primary().is_some_and(|id| active::is_up(&self.members, id));
        if to != self.active {
            self.make_active(to, now);
        }
    }

    /// Makes this member the active one (the kernel's `active_slave`,
    /// `bond_option_active_slave_set`). It stays until the rules choose
    /// another: when it fails, or when the `primary` comes up.
    ///
    /// # Errors
    /// The mode has no active member, or this one is not up.
    pub fn activate(&mut self, id: MemberId, now: Time) -> Result<(), TeamError> {
        self.assert_drained();
        let member = self.members.get(&id).ok_or(TeamError::NoMember(id))?;
        if !self.traits.has_active {
            return Err(TeamError::NoActiveMember(self.config.mode));
        }
        if self.active == Some(id) {
            return Ok(());
        }
        if self.traits.openvswitch && member.is_live() {
            self.activate_in_bond(id);
            self.settle(false, now);
            return Ok(());
        }
        if !active::is_up(&self.members, id) {
            return Err(TeamError::NotUp { name: member.name.clone(), state: member.state });
        }
        self.make_active(Some(id), now);
        self.settle(false, now);
        Ok(())
    }

    /// The place that the next member gets; `None` if the team is full.
    pub fn next_place(&self) -> Option<MemberId> {
        (0..MAX_MEMBERS).filter_map(MemberId::new).find(|id| !self.members.contains_key(id))
    }

    /// A member's device has another name now. `primary`, `prio` and `queue_id`
    /// are meant for the same device, so they follow.
    pub fn rename_member(&mut self, id: MemberId, name: &str) -> Result<(), TeamError> {
        let member = self.members.get_mut(&id).ok_or(TeamError::NoMember(id))?;
        let before = mem::replace(&mut member.name, name.to_owned());
        if self.config.primary.as_deref() == Some(&before) {
            self.config.primary = Some(name.to_owned());
        }
        if let Some(prio) = self.config.prio.remove(&before) {
            self.config.prio.insert(name.to_owned(), prio);
        }
        if let Some(queue) = self.config.queue_id.remove(&before) {
            self.config.queue_id.insert(name.to_owned(), queue);
        }
        if let Some(rate) = self.config.stripe_rate_mbps.remove(&before) {
            self.config.stripe_rate_mbps.insert(name.to_owned(), rate);
        }
        if let Some(prio) = self.config.lacp.actor_port_prio.remove(&before) {
            self.config.lacp.actor_port_prio.insert(name.to_owned(), prio);
        }
        Ok(())
    }

    /// Timers and running delays under the new configuration.
    fn time_anew(&mut self, before: &Config, now: Time) {
        if before.miimon_ms != self.config.miimon_ms {
            self.timers.stop(TimerReason::MiiMon);
            if self.config.miimon_ms > 0 && !self.members.is_empty() {
                self.timers.set(TimerReason::MiiMon, now + millis(self.config.miimon_ms));
                if before.miimon_ms == 0 {
                    self.effects.push_back(Effect::ReadLinks);
                }
            }
        }
        self.monitor_arp_anew(before.arp.interval_ms, now);
        if (before.lp_interval_s, before.tlb_dynamic_lb) != (self.config.lp_interval_s, self.config.tlb_dynamic_lb) {
            // Set anew where everything follows the members.
            self.timers.stop(TimerReason::Learning);
            self.timers.stop(TimerReason::Rebalance);
        }
        let delayed: Vec<(MemberId, LinkState)> = self
            .members
            .iter()
            .filter(|(id, member)| {
                self.arp.candidate != Some(**id) && matches!(member.state, LinkState::Back | LinkState::Fail)
            })
            .map(|(&id, member)| (id, member.state))
            .collect();
        for (id, state) in delayed {
            self.delay_anew(id, state, now);
        }
    }

    /// A delay that is running ends when the new value says; without `miimon` at
    /// once, and under the ARP monitor the member has to be heard of.
    fn delay_anew(&mut self, id: MemberId, state: LinkState, now: Time) {
        if self.config.miimon_ms == 0 {
            let comes_up = state == LinkState::Back && !self.config.arp.is_on();
            let to = if comes_up { LinkState::Up } else { LinkState::Down };
            self.enter(id, to, now);
        } else if let Some((at, reason)) = self.members.get(&id).and_then(|member| member.delay(id, &self.config)) {
            self.timers.set(reason, at);
        }
    }

    /// Nobody is the active member in another mode.
    fn leave_active(&mut self) {
        self.timers.stop(TimerReason::PeerNotify);
        self.announcer.rounds = 0;
        self.force_primary = false;
        if let Some(from) = self.active.take() {
            self.effects.push_back(Effect::Event(Event::Active { from: Some(from), to: None }));
        }
    }
}
