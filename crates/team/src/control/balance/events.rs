//! What a team is told, and asked, in balance-tlb and balance-alb.

use nicteam_wire::Mac;

use super::super::monitor::millis;
use super::{Balancer, REBALANCE, Situation};
use crate::balance::Loads;
use crate::control::{Effect, Team};
use crate::{MemberId, Time, TimerReason};

impl Team {
    /// The address that a member's device is to carry now; [`Effect::SetMac`]
    /// tells of changes.
    pub fn device_mac(&self, id: MemberId) -> Mac {
        self.balancer.device_mac(self.traits, id, self.announcer.mac)
    }

    /// What the dataplane counted, the answer to [`Effect::ReadLoads`].
    pub fn handle_loads(&mut self, loads: &Loads, now: Time) {
        self.assert_drained();
        self.balance(now, |balancer, at| {
            balancer.take_loads(loads, at);
            Vec::new()
        });
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

    /// Everything of the two modes follows the members' states; plan and carrier follow after it.
    pub(in super::super) fn balance_members(&mut self, now: Time) {
        if self.traits.buckets().is_none() {
            return;
        }
        self.balance(now, Balancer::follow);
        if self.members.is_empty() {
            self.timers.stop(TimerReason::Learning);
            self.timers.stop(TimerReason::Rebalance);
        } else if !self.timers.is_set(TimerReason::Learning) {
            self.timers.set(TimerReason::Learning, now + millis(1000) * self.config.lp_interval_s);
            if self.config.tlb_dynamic_lb {
                self.timers.set(TimerReason::Rebalance, now + REBALANCE);
                self.effects.push_back(Effect::ReadLoads);
            }
        }
    }

    /// The frames that wait for the plan are sent.
    pub(in super::super) fn send_waiting(&mut self) {
        self.effects.extend(self.balancer.take_frames());
        match self.balancer.updates_due() {
            Some(at) => self.timers.set(TimerReason::ClientUpdate, at),
            None => self.timers.stop(TimerReason::ClientUpdate),
        }
        match self.balancer.inherits_until() {
            Some(at) => self.timers.set(TimerReason::Inheritance, at),
            None => self.timers.stop(TimerReason::Inheritance),
        }
    }

    /// A deadline of the two modes has come.
    pub(in super::super) fn balance_due(&mut self, due: &[TimerReason], now: Time) {
        if due.contains(&TimerReason::Learning) {
            self.balancer.learn();
            self.timers.set(TimerReason::Learning, now + millis(1000) * self.config.lp_interval_s);
        }
        if due.contains(&TimerReason::Rebalance) {
            self.timers.set(TimerReason::Rebalance, now + REBALANCE);
            self.effects.push_back(Effect::ReadLoads);
        }
        if due.contains(&TimerReason::ClientUpdate) {
            self.balancer.update_clients(now);
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
        if self.traits.buckets().is_some() {
            self.balance(Time::ZERO, Balancer::set_team);
            self.update_plan();
            self.send_waiting();
        }
    }

    fn balance(&mut self, now: Time, act: impl FnOnce(&mut Balancer, &Situation<'_>) -> Vec<Effect>) {
        let (config, traits, members) = (&self.config, self.traits, &self.members);
        let at = Situation { config, traits, team: self.announcer.mac, members, active: self.active, now };
        let effects = act(&mut self.balancer, &at);
        self.effects.extend(effects);
    }
}
