//! What a team is told, and asked, that shares load or whose members have addresses of their own.

use nicteam_events::Effect;
use nicteam_machine::{MemberId, Time};
use nicteam_wire::Mac;

use super::super::monitor::millis;
use super::buckets::Channel;
use super::{Balancer, REBALANCE, Situation};
use crate::TimerReason;
use crate::balance::Loads;
use crate::control::{Team, planning};

impl Team {
    /// The address that a member's device is to carry now; [`Effect::SetMac`] reports changes.
    pub fn device_mac(&self, id: MemberId) -> Mac {
        let (team, balancer) = (self.announcer.mac, self.parts.balancer.as_ref());
        balancer.map_or(team, |balancer| balancer.device_mac(self.traits, id, team))
    }

    /// What the dataplane counted, the answer to [`Effect::ReadLoads`].
    pub fn handle_loads(&mut self, loads: &Loads, now: Time) {
        self.assert_drained();
        if let Some(buckets) = &mut self.parts.buckets {
            buckets.take_loads(loads, now, self.active);
        }
        self.bond_loads(loads);
        self.update_plan();
    }

    /// A frame from the stack that the plan punted ([`crate::Action::Punt`]), a
    /// tag among its bytes.
    pub fn handle_punted(&mut self, frame: &[u8], now: Time) {
        self.assert_drained();
        if let Some((member, frame)) = self.say_to_peer(frame) {
            self.effects.push_back(Effect::Transmit { member, frame });
            return;
        }
        let mut said = None;
        self.balance(now, |balancer, at| {
            said = balancer.say(frame, at);
            Vec::new()
        });
        let elsewhere = said.as_ref().map(|(member, _)| self.say_elsewhere(*member, frame)).unwrap_or_default();
        let all = said.into_iter().chain(elsewhere);
        self.effects.extend(all.map(|(member, frame)| Effect::Transmit { member, frame }));
        self.send_waiting();
    }

    /// A member has said the address it had before it joined. Clients are told at the next call.
    pub(in super::super) fn balance_joined(&mut self, id: MemberId, mac: Mac) {
        self.balance(Time::ZERO, |balancer, at| balancer.set_permanent(id, mac, at));
        self.update_plan();
        self.send_waiting();
    }

    /// A member heard this: ARP and neighbour discovery tell balance-alb of its clients.
    pub(in super::super) fn balance_hear(&mut self, frame: &[u8], now: Time) {
        if self.traits.balances_receiving() {
            self.balance(now, |balancer, at| {
                balancer.hear(frame, at);
                Vec::new()
            });
            self.send_waiting();
        }
    }

    /// Addresses, clients and buckets follow the members' states; plan and carrier follow after it.
    pub(in super::super) fn balance_members(&mut self, now: Time) {
        self.balance(now, Balancer::follow);
        self.share_load();
        if self.members.is_empty() {
            self.timers.stop(TimerReason::Learning);
            self.timers.stop(TimerReason::Rebalance);
            return;
        }
        if self.parts.balancer.is_some() && !self.timers.is_set(TimerReason::Learning) {
            self.timers.set(TimerReason::Learning, now + millis(1000) * self.config.lp_interval_s);
        }
        let measures = self.parts.buckets.is_some() && self.config.tlb_dynamic_lb;
        if measures && !self.timers.is_set(TimerReason::Rebalance) {
            self.timers.set(TimerReason::Rebalance, now + REBALANCE);
            self.effects.push_back(Effect::ReadLoads);
        }
    }

    /// Buckets follow the members that may send.
    pub(in super::super) fn share_load(&mut self) {
        if self.parts.buckets.is_none() {
            return;
        }
        let senders = self.parts.heard(planning::senders(&self.members, self.parts.lacp()));
        let channel = |id| Some(Channel { id, speed_mbps: self.members.get(&id)?.link.speed_mbps });
        let channels: Vec<Channel> = senders.into_iter().filter_map(channel).collect();
        if let Some(buckets) = &mut self.parts.buckets {
            buckets.follow(&channels, self.active);
        }
    }

    /// The frames that wait for the plan are sent.
    pub(in super::super) fn send_waiting(&mut self) {
        if let Some(balancer) = &mut self.parts.balancer {
            self.effects.extend(balancer.take_frames());
        }
        let balancer = self.parts.balancer.as_ref();
        match balancer.and_then(Balancer::updates_due) {
            Some(at) => self.timers.set(TimerReason::ClientUpdate, at),
            None => self.timers.stop(TimerReason::ClientUpdate),
        }
        match balancer.and_then(Balancer::inherits_until) {
            Some(at) => self.timers.set(TimerReason::Inheritance, at),
            None => self.timers.stop(TimerReason::Inheritance),
        }
    }

    /// A deadline of the two modes has come.
    pub(in super::super) fn balance_due(&mut self, due: &[TimerReason], now: Time) {
        if let Some(balancer) = self.parts.balancer.as_mut().filter(|_| due.contains(&TimerReason::Learning)) {
            balancer.learn();
            self.timers.set(TimerReason::Learning, now + millis(1000) * self.config.lp_interval_s);
        }
        if self.parts.buckets.is_some() && due.contains(&TimerReason::Rebalance) {
            self.timers.set(TimerReason::Rebalance, now + REBALANCE);
            self.effects.push_back(Effect::ReadLoads);
        }
        if let Some(balancer) = self.parts.balancer.as_mut().filter(|_| due.contains(&TimerReason::ClientUpdate)) {
            balancer.update_clients(now);
        }
        if due.contains(&TimerReason::Inheritance) {
            self.balance(now, Balancer::follow);
            self.update_plan();
        }
        self.send_waiting();
    }

    /// A member has left.
    pub(in super::super) fn balance_leave(&mut self, id: MemberId, now: Time) {
        self.balance(now, |balancer, at| balancer.leave(id, at));
    }

    /// The team's address has changed. Clients are told at the next call.
    pub(in super::super) fn balance_mac(&mut self) {
        if self.parts.balancer.is_some() {
            self.balance(Time::ZERO, Balancer::set_team);
            self.update_plan();
            self.send_waiting();
        }
    }

    /// The VLANs above the team are those in which it has addresses.
    pub(in super::super) fn balance_vlans(&mut self) {
        if let Some(balancer) = &mut self.parts.balancer {
            balancer.set_vlans(self.announcer.addresses.iter().map(|(vlan, _)| *vlan));
        }
    }

    fn balance(&mut self, now: Time, act: impl FnOnce(&mut Balancer, &Situation<'_>) -> Vec<Effect>) {
        let silent = self.parts.silent();
        let Some(balancer) = &mut self.parts.balancer else { return };
        let (config, traits, members) = (&self.config, self.traits, &self.members);
        let at = Situation { config, traits, team: self.announcer.mac, members, active: self.active, silent, now };
        let effects = act(balancer, &at);
        self.effects.extend(effects);
    }
}
