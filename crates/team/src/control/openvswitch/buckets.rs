//! Which member each bucket has: what is counted, who gives, who gets.
//!
//! balance-slb's buckets are given their members by the dataplane, at their first frames (`choose_output_member`);
//! what it gave comes back with the loads. balance-tcp's are all given members here at once, at random
//! (`bond_update_post_recirc_rules__`). Two differences: another `bond-rebalance-interval`, or another primary, takes no bucket from its
//! member (`bond_reconfigure` does so without need). And when a member is enabled, balance-tcp's buckets that have carried nothing
//! yet are given anew: Open vSwitch gives them all at the bond's first frame, which this side does not see, and LACP
//! enables one member after the other.

use std::mem;

use nicteam_events::{Effect, TeamError};
use nicteam_machine::{MemberId, Time, split_mix};
use nicteam_options::mode::Sends;

use super::super::Team;
use super::{Bond, Move, interval, moves, settle, uses_buckets};
use crate::balance::Loads;
use crate::control::monitor::Members;
use crate::hash::slb::BUCKETS;
use crate::{Config, TimerReason};

impl Team {
    /// Gives a bucket a member (`bond/migrate`).
    ///
    /// # Errors
    /// The mode is not balance-slb; no member has this place, or it is not enabled.
    pub fn migrate(&mut self, bucket: u8, to: MemberId, now: Time) -> Result<(), TeamError> {
        self.assert_drained();
        let member = self.members.get(&to).ok_or(TeamError::NoMember(to))?;
        let Some(bond) = self.parts.bond.as_mut().filter(|_| self.traits.sends == Sends::BySource) else {
            return Err(TeamError::NoBuckets(self.config.mode));
        };
        if !member.is_live() {
            return Err(TeamError::NotEnabled { name: member.name.clone(), state: member.state });
        }
        bond.buckets[usize::from(bucket)].member = Some(to);
        self.settle(false, now);
        Ok(())
    }

    /// What the dataplane counted has been read.
    pub(in super::super) fn bond_loads(&mut self, loads: &Loads) {
        let (negotiation, begins) = (self.negotiation(), self.begins());
        let Some(bond) = &mut self.parts.bond else { return };
        bond.take(loads);
        if !begins
            && mem::take(&mut bond.spreads)
            && self.traits.sends == Sends::ByFlow
            && uses_buckets(self.traits, negotiation)
        {
            bond.give_up_unused(loads);
            bond.populate(&self.members, self.active);
        }
        if mem::take(&mut bond.rebalances) {
            let moves: Vec<Move> = moves(&bond.buckets, &bond.enabled);
            settle(&mut bond.buckets, &moves);
        }
    }

    /// A run of rebalancing is due.
    pub(in super::super) fn bond_due(&mut self, due: &[TimerReason], now: Time) {
        let Some(bond) = self.parts.bond.as_mut().filter(|_| due.contains(&TimerReason::Rebalance)) else { return };
        bond.rebalances = true;
        self.effects.push_back(Effect::ReadLoads);
        self.time_rebalancing(now);
    }

    /// Buckets and their rebalancing follow the members' states; plan and carrier follow after it.
    pub(in super::super) fn bond_members(&mut self, now: Time) {
        let (negotiation, begins) = (self.negotiation(), self.begins());
        let Some(bond) = &mut self.parts.bond else { return };
        bond.follow(&self.members);
        match uses_buckets(self.traits, negotiation) {
            // The first that joins would get those of the others.
            true if begins => {}
            true if self.traits.sends == Sends::ByFlow => {
                bond.populate(&self.members, self.active);
                if bond.spreads {
                    // Which buckets have carried something.
                    self.effects.push_back(Effect::ReadLoads);
                }
            }
            true => {}
            false => bond.reset(),
        }
        if !self.is_balanced() {
            self.timers.stop(TimerReason::Rebalance);
        } else if !self.timers.is_set(TimerReason::Rebalance) {
            self.time_rebalancing(now);
            // From here on bytes are counted.
            self.effects.push_back(Effect::ReadLoads);
        }
    }

    /// True if buckets change members by their loads (`bond_is_balanced`).
    pub(super) fn is_balanced(&self) -> bool {
        let bonds = self.parts.bond.is_some() && self.traits.bonds_by_buckets();
        let falls_back = super::falls_back(&self.config, self.negotiation());
        bonds && !falls_back && self.rebalance_interval().is_some()
    }

    fn rebalance_interval(&self) -> Option<std::time::Duration> {
        interval(i32::try_from(self.config.bond.rebalance_interval_ms).unwrap_or(i32::MAX))
    }

    fn time_rebalancing(&mut self, now: Time) {
        match self.rebalance_interval() {
            Some(interval) => self.timers.set(TimerReason::Rebalance, now + interval),
            None => self.timers.stop(TimerReason::Rebalance),
        }
    }

    /// Options of buckets may have changed.
    pub(in super::super) fn reconfigure_bond(&mut self, before: &Config) {
        let (was, is) = (&before.bond, &self.config.bond);
        if was.rebalance_interval_ms != is.rebalance_interval_ms || was.hash_basis != is.hash_basis {
            // Set anew where everything follows the members.
            self.timers.stop(TimerReason::Rebalance);
        }
        if was.hash_basis != is.hash_basis
            && let Some(bond) = &mut self.parts.bond
        {
            bond.reset();
            // They were other frames' buckets.
            bond.read.iter_mut().for_each(|read| read.members = [None; BUCKETS]);
        }
    }
}

impl Bond {
    /// Adds what was counted since the last reading, of the first one nothing, and takes over which member each bucket has been given.
    fn take(&mut self, loads: &Loads) {
        if let Some(before) = self.read.replace(Box::new(loads.clone())) {
            let counted = loads.buckets.iter().zip(before.buckets);
            for (bucket, (now, before)) in self.buckets.iter_mut().zip(counted) {
                // A dataplane that began anew counts from nothing.
                let bytes = now.checked_sub(before).unwrap_or(*now);
                bucket.bytes = bucket.bytes.saturating_add(bytes);
            }
        }
        for (bucket, member) in self.buckets.iter_mut().zip(loads.members) {
            let member = member.filter(|member| self.enabled.contains(member));
            bucket.member = bucket.member.or(member);
        }
    }

    /// The members that may send, new ones behind the others; a bucket of another one is to be given anew.
    fn follow(&mut self, members: &Members) {
        let live = |id: &MemberId| members.get(id).is_some_and(|member| member.is_live());
        self.enabled.retain(live);
        let new: Vec<MemberId> = members.keys().copied().filter(|id| live(id) && !self.enabled.contains(id)).collect();
        self.enabled.extend(new);
        for bucket in self.buckets.iter_mut() {
            bucket.member = bucket.member.filter(live);
        }
    }

    /// Gives every bucket without a member the one that sent its last frame, so that a new process leaves connections where
    /// they are; else one at random, the active one in place of one that may not send.
    fn populate(&mut self, members: &Members, active: Option<MemberId>) {
        let all: Vec<MemberId> = members.keys().copied().collect();
        for place in 0..BUCKETS {
            if self.buckets[place].member.is_none() {
                let drawn = (self.draw() as usize).checked_rem(all.len()).and_then(|place| all.get(place)).copied();
                let last = self.read.as_ref().and_then(|read| read.members[place]);
                let may_send = |id: &MemberId| self.enabled.contains(id);
                self.buckets[place].member = last.filter(may_send).or(drawn.filter(may_send)).or(active);
            }
        }
    }

    /// Buckets by which no frame has left yet have no member.
    fn give_up_unused(&mut self, loads: &Loads) {
        for (bucket, last) in self.buckets.iter_mut().zip(loads.members) {
            bucket.member = bucket.member.filter(|_| last.is_some());
        }
    }

    /// No bucket has a member, or carried anything (`bond_entry_reset`).
    fn reset(&mut self) {
        self.buckets.iter_mut().for_each(|bucket| *bucket = super::Bucket::default());
        self.rebalances = false;
    }

    /// The member of a bucket; one without gets the next of those that may send.
    pub(super) fn member_of(&mut self, bucket: u8) -> Option<MemberId> {
        let place = usize::from(bucket);
        if self.buckets[place].member.is_none() {
            let turn = (self.turn as usize).checked_rem(self.enabled.len())?;
            self.turn = self.turn.wrapping_add(1);
            self.buckets[place].member = self.enabled.get(turn).copied();
        }
        self.buckets[place].member
    }

    fn draw(&mut self) -> u32 {
        split_mix(&mut self.random) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_stay_with_those_that_sent_last() {
        let id = |place| MemberId::new(place).unwrap();
        let mut bond = Bond::new(1);
        let members = std::array::from_fn(|place| [Some(id(0)), Some(id(1)), Some(id(2)), None][place % 4]);
        bond.take(&Loads { members, ..Loads::default() });
        bond.enabled = vec![id(0), id(1)];
        bond.populate(&Members::new(), Some(id(1)));
        let given: [Option<MemberId>; BUCKETS] = std::array::from_fn(|place| bond.buckets[place].member);
        assert_eq!(given, std::array::from_fn(|place| Some(id(usize::from(place % 4 != 0)))));
    }
}
