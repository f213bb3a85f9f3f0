//! Which members may send, and which one is the active one (`bond_run`, `bond_choose_active_member`).

use nicteam_events::{Effect, Event, LinkState, TeamError};
use nicteam_lacp::{Lacp, ReceiveState};
use nicteam_machine::{MemberId, Time};
use nicteam_options::mode::Sends;

use super::super::Team;
use super::super::monitor::is_live;
use super::{Negotiation, falls_back, negotiation, uses_buckets};

impl Team {
    /// An earlier process of this team had this active member, by its device. It becomes the active one again, if it is up
    /// when all members have joined; in Open vSwitch's modes alone (`bond_active_slave` of its database). Before the first member joins.
    pub fn remember_active(&mut self, device: &str) {
        if let Some(bond) = &mut self.parts.bond {
            bond.last_active = Some(device.to_owned());
        }
    }

    /// Enables a member, or disables it (`bond/enable-member`, `bond/disable-member`). What its link says holds against
    /// it: one that has carrier is enabled again after `updelay`, one without is disabled again after `downdelay`.
    ///
    /// # Errors
    /// No member has this place; the mode is none of Open vSwitch's.
    pub fn enable_member(&mut self, id: MemberId, enable: bool, now: Time) -> Result<(), TeamError> {
        self.assert_drained();
        let state = self.members.get(&id).map(|member| member.state).ok_or(TeamError::NoMember(id))?;
        if !self.traits.openvswitch {
            return Err(TeamError::NotOpenVSwitch(self.config.mode));
        }
        let to = if enable { LinkState::Up } else { LinkState::Down };
        // A delay that runs begins anew.
        if state != to {
            self.enter(id, to, now);
        }
        self.settle(false, now);
        Ok(())
    }

    /// The members' states follow their links and LACP; true if one has changed (`bond_link_status_update`).
    pub(in super::super) fn follow_links_of_bond(&mut self, now: Time) -> bool {
        let mut moved = false;
        let negotiation = self.negotiation();
        let ids: Vec<MemberId> = self.members.keys().copied().collect();
        for id in ids {
            let may_enable = self.lacp_may_enable(id, negotiation);
            let Some(member) = self.members.get_mut(&id) else { continue };
            member.may_enable = may_enable;
            // `updelay` holds with or without others; who is chosen below need not wait for its end.
            let to = member.next_state(&self.config, true, now);
            if to != member.state {
                self.enter(id, to, now);
                moved = true;
            }
        }
        moved
    }

    /// A member has entered another state (`bond_enable_member`).
    pub(in super::super) fn entered_in_bond(&mut self, id: MemberId, from: LinkState, to: LinkState) {
        let Some(bond) = &mut self.parts.bond else { return };
        match (is_live(from), is_live(to)) {
            (true, false) => {
                bond.enabled.retain(|other| *other != id);
                bond.teaches = true;
            }
            (false, true) => {
                bond.enabled.push(id);
                bond.spreads = true;
            }
            _ => {}
        }
    }

    /// How far LACP has come.
    pub(in super::super) fn negotiation(&self) -> Negotiation {
        negotiation(&self.config, self.traits, self.lacp())
    }

    /// What LACP says of a member (`lacp_member_may_enable`).
    pub(super) fn lacp_may_enable(&self, id: MemberId, negotiation: Negotiation) -> bool {
        let falls_back = falls_back(&self.config, negotiation);
        let defaulted =
            |lacp: &Lacp| lacp.ports().iter().any(|port| port.member == id && port.receive == ReceiveState::Defaulted);
        negotiation == Negotiation::Off
            || self.lacp().is_some_and(|lacp| lacp.distributing().contains(id) || falls_back && defaulted(lacp))
    }

    /// Chooses the active member, where that is to be done.
    pub(in super::super) fn choose_active_of_bond(&mut self, now: Time) {
        let live = |id: &MemberId| self.members.get(id).is_some_and(|member| member.is_live());
        let Some(bond) = &self.parts.bond else { return };
        let primary = self.primary().filter(live);
        let current = self.active.filter(live);
        let preempts = self.traits.sends == Sends::ByActive && primary.is_some();
        if current.is_some() && !(preempts && primary != current) && bond.last_active.is_none() {
            return;
        }
        let named = |name: &str| self.members.iter().find(|(_, member)| member.name == name).map(|(id, _)| *id);
        let last = bond.last_active.as_deref().and_then(named).filter(live);
        let first = || self.members.keys().copied().find(|id| live(id));
        // Nobody is enabled: the one whose `updelay` ends first need not wait for it.
        let waiting = || {
            let back = self.members.iter().filter(|(_, member)| member.state == LinkState::Back);
            back.min_by_key(|(_, member)| member.since).map(|(id, _)| *id)
        };
        let to = primary.or(last).or(current).or_else(first).or_else(waiting);
        if let Some(id) = to.filter(|id| !live(id)) {
            self.enter(id, LinkState::Up, now);
        }
        if to != self.active || current.is_none() && to.is_some() {
            self.teach();
        }
        if to != self.active {
            let from = std::mem::replace(&mut self.active, to);
            self.effects.push_back(Effect::Event(Event::Active { from, to }));
        }
    }

    /// Makes a member that is enabled the active one (`bond/set-active-member`). Which one is, is chosen anew when it is
    /// disabled, and in active-backup when the primary is enabled.
    pub(in super::super) fn activate_in_bond(&mut self, id: MemberId) {
        if self.active != Some(id) {
            let from = self.active.replace(id);
            self.effects.push_back(Effect::Event(Event::Active { from, to: Some(id) }));
            self.teach();
        }
    }

    /// All members have joined: from now on the earlier process's choice counts no more.
    pub(in super::super) fn forget_last_active(&mut self) {
        if let Some(bond) = &mut self.parts.bond {
            bond.last_active = None;
        }
    }

    /// True if frames are sent by this member, as things are.
    pub(in super::super) fn sends_by(&self, id: MemberId) -> bool {
        let live = self.members.get(&id).is_some_and(|member| member.is_live());
        match self.negotiation() {
            negotiation if uses_buckets(self.traits, negotiation) => live,
            _ => live && self.active == Some(id) && self.one_carries_all(),
        }
    }

    /// True if the active member carries all.
    pub(in super::super) fn one_carries_all(&self) -> bool {
        let negotiation = self.negotiation();
        falls_back(&self.config, negotiation)
            || self.traits.sends == Sends::ByActive && negotiation != Negotiation::Configured
    }
}
