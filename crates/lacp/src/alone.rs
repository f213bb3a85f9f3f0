//! Who carries the traffic until a partner is heard: what the machines say, and one member where they say nobody.

use nicteam_machine::{MemberId, MemberSet};

use super::port::Port;
use super::{Lacp, ReceiveState};

impl Lacp {
    /// The members that the team's frames are sent by: those that distribute, or
    /// the one that carries all until somebody is heard.
    pub fn senders(&self) -> MemberSet {
        self.alone().map_or_else(|| self.distributing(), MemberSet::one)
    }

    /// The members whose frames are the team's: those that collect, or the one
    /// that carries all until somebody is heard.
    pub fn receivers(&self) -> MemberSet {
        self.alone().map_or_else(|| self.collecting(), MemberSet::one)
    }

    /// True while no link has a partner that is known, and one member may carry all.
    pub fn knows_nobody(&self) -> bool {
        let knows = |port: &Port| port.receive != ReceiveState::PortDisabled && !port.defaulted;
        !self.config.lacp_strict && !self.ports.values().any(knows)
    }

    /// The member that carries all while no partner is known and the machines
    /// still listen and wait for one (Linux bond_3ad.c, `ad_agg_selection_logic`:
    /// the ports of an aggregator without a partner are enabled). To the partner
    /// it says what the machines say.
    fn alone(&self) -> Option<MemberId> {
        if !self.knows_nobody() || self.ports.values().any(Port::collects) {
            return None;
        }
        let could = |(_, port): &(&MemberId, &Port)| port.receive != ReceiveState::PortDisabled && !port.is_looped();
        let chosen = |(_, port): &(&MemberId, &Port)| self.active.is_some() && port.aggregator_id() == self.active;
        let candidates = || self.ports.iter().filter(could);
        candidates().find(chosen).or_else(|| candidates().next()).map(|(member, _)| *member)
    }
}
