//! Members come and go, and so do their links.

use nicteam_events::{LinkState, TeamError};
use nicteam_machine::{MemberId, MemberLink, Time};

use super::hearing::Hearing;
use super::monitor::{self, Member, millis};
use super::team::Team;
use super::terms::TimerReason;

impl Team {
    /// Takes a device in. Its place is the lowest free one.
    pub fn add_member(&mut self, name: &str, link: MemberLink, now: Time) -> Result<MemberId, TeamError> {
        self.add_member_at(self.place_for(name)?, name, link, now)
    }

    /// Where a device of this name would join.
    pub(super) fn place_for(&self, name: &str) -> Result<MemberId, TeamError> {
        match self.next_place() {
            Some(id) => Ok(id),
            None if self.members.values().any(|member| member.name == name) => {
                Err(TeamError::Duplicate(name.to_owned()))
            }
            None => Err(TeamError::Full),
        }
    }

    /// The same at a place that the caller chooses, which nobody must have.
    pub fn add_member_at(
        &mut self,
        id: MemberId,
        name: &str,
        link: MemberLink,
        now: Time,
    ) -> Result<MemberId, TeamError> {
        self.assert_drained();
        let mut members = self.members.iter();
        if let Some((_, member)) = members.find(|(place, member)| **place == id || member.name == name) {
            return Err(TeamError::Duplicate(member.name.clone()));
        }
        // A member whose partner counts on it is not new; and Open vSwitch enables one that joins at once.
        let usable = self.is_usable() && !self.remembers(id) && !self.traits.openvswitch;
        // There it waits for LACP.
        let may_enable = !(self.traits.openvswitch && self.aggregates());
        let seen = MemberLink { carrier: link.carrier && may_enable, ..link };
        let state = monitor::first_state(&self.config, seen, usable);
        let member = Member { name: name.to_owned(), link, may_enable, state, since: now, link_failures: 0 };
        self.entered_in_bond(id, LinkState::Down, state);
        if let Some((at, reason)) = member.delay(id, &self.config) {
            self.timers.set(reason, at);
        }
        self.members.insert(id, member);
        self.arp.hearing.insert(id, Hearing::new(now));
        if self.config.arp.is_on() && !self.timers.is_set(TimerReason::ArpMon) {
            self.timers.set(TimerReason::ArpMon, now);
        }
        if self.config.miimon_ms > 0 && !self.timers.is_set(TimerReason::MiiMon) {
            self.timers.set(TimerReason::MiiMon, now + millis(self.config.miimon_ms));
        }
        self.join_lacp(id, now);
        self.force_primary |= self.config.primary.as_deref() == Some(name);
        self.settle(true, now);
        Ok(id)
    }

    /// Lets a member go.
    pub fn remove_member(&mut self, id: MemberId, now: Time) -> Result<(), TeamError> {
        self.assert_drained();
        let member = self.members.remove(&id).ok_or(TeamError::NoMember(id))?;
        self.entered_in_bond(id, member.state, LinkState::Down);
        self.timers.stop(TimerReason::UpDelay(id));
        self.timers.stop(TimerReason::DownDelay(id));
        self.arp.forget(id);
        self.pagp.forget(id);
        self.macs.remove(&id);
        if self.members.is_empty() {
            self.timers.stop(TimerReason::MiiMon);
            self.timers.stop(TimerReason::ArpMon);
        }
        self.balance_leave(id, now);
        self.leave_lacp(id, now);
        self.settle(self.active == Some(id), now);
        Ok(())
    }

    /// Takes in what the operating system says of a member's link, from a
    /// reading or from a netlink message alike.
    pub fn handle_link(&mut self, id: MemberId, link: MemberLink, now: Time) -> Result<(), TeamError> {
        self.handle_links(&[(id, link)], now)
    }

    /// The same of several that were read together: as in the kernel what follows is decided
    /// when all are known. Of one that is no member, nothing is taken in.
    pub fn handle_links(&mut self, links: &[(MemberId, MemberLink)], now: Time) -> Result<(), TeamError> {
        self.assert_drained();
        if let Some((stranger, _)) = links.iter().find(|(id, _)| !self.members.contains_key(id)) {
            return Err(TeamError::NoMember(*stranger));
        }
        let mut told = Vec::new();
        for (id, link) in links {
            if let Some(member) = self.members.get_mut(id) {
                told.push((*id, std::mem::replace(&mut member.link, *link) != *link));
            }
        }
        if self.traits.openvswitch {
            let changed: Vec<MemberId> = told.iter().filter(|(_, other)| *other).map(|(id, _)| *id).collect();
            changed.iter().for_each(|id| self.link_to_lacp(*id, now));
            if self.follow_links_of_bond(now) || !changed.is_empty() {
                self.settle(false, now);
            }
            return Ok(());
        }
        let mut usable = self.is_usable();
        let (mut choose_again, mut moved, mut changed) = (false, false, false);
        // By place: of those that are back while nobody is usable the first one is up (`bond_miimon_inspect`).
        told.sort_unstable();
        for (id, other) in told {
            let Some(member) = self.members.get(&id) else { continue };
            let to = member.next_state(&self.config, usable, now);
            if to == member.state {
                if other {
                    changed = true;
                    self.link_to_lacp(id, now);
                }
                continue;
            }
            moved = true;
            usable |= to == LinkState::Up;
            self.enter(id, to, now);
            choose_again |= match to {
                LinkState::Up => self.active.is_none() || self.is_preferred(id),
                LinkState::Down => self.active == Some(id),
                LinkState::Fail | LinkState::Back => false,
            };
        }
        if moved {
            self.settle(choose_again, now);
        } else if changed {
            // Another speed makes another assignment.
            self.balance_members(now);
            self.update_plan();
            self.send_waiting();
        }
        Ok(())
    }
}
