//! Switches learn by RARP where the sources behind a team are, after another member carries them.
//!
//! `send_learning_packets`, `bond_compose_learning_packet` and ofproto-dpif.c, `bundle_send_learning_packets`: one frame for
//! each address that was learned on other ports of the bridge. Here these are the sources that the dataplane has
//! noted. Where a partner speaks LACP it knows without being taught.

use nicteam_events::Effect;
use nicteam_machine::{MemberId, Time};
use nicteam_options::mode::Sends;
use nicteam_wire::{Mac, Vlan, rarp_packet};

use super::super::Team;
use super::{Negotiation, falls_back, uses_buckets};

impl Team {
    /// The sources that the dataplane has noted, each with its VLAN, 0 for none: the answer to [`Effect::ReadSources`].
    pub fn handle_sources(&mut self, sources: &[(Mac, u16)], now: Time) {
        self.assert_drained();
        if !self.may_teach() {
            return;
        }
        let members: Vec<Option<MemberId>> =
            sources.iter().map(|&(mac, vlan)| self.member_of_source(mac, vlan)).collect();
        // Buckets that were given members here.
        self.settle(false, now);
        for (&(mac, vlan), member) in sources.iter().zip(members) {
            if let Some(member) = member {
                self.effects.push_back(Effect::Transmit { member, frame: rarp_packet(mac, Vlan::customer(vlan)) });
            }
        }
    }

    /// Switches have to learn anew.
    pub(in super::super) fn teach(&mut self) {
        if let Some(bond) = &mut self.parts.bond {
            bond.teaches = true;
        }
    }

    /// Asks for the sources if switches have to learn, once the plan is in force.
    pub(in super::super) fn ask_for_sources(&mut self) {
        let teaches = self.parts.bond.as_mut().is_some_and(|bond| std::mem::take(&mut bond.teaches));
        if teaches && self.may_teach() {
            if self.traits.sends == Sends::BySource {
                // Which buckets the dataplane gave to whom.
                self.effects.push_back(Effect::ReadLoads);
            }
            self.effects.push_back(Effect::ReadSources);
        }
    }

    /// `may_send_learning_packets`.
    fn may_teach(&self) -> bool {
        let negotiation = self.negotiation();
        let by_mac = matches!(self.traits.sends, Sends::ByActive | Sends::BySource);
        self.traits.openvswitch
            && self.active.is_some()
            && (negotiation == Negotiation::Off && by_mac || falls_back(&self.config, negotiation))
    }

    /// The member by which frames of this source leave.
    fn member_of_source(&mut self, mac: Mac, vlan: u16) -> Option<MemberId> {
        if !uses_buckets(self.traits, self.negotiation()) {
            return self.active;
        }
        let bucket = crate::hash::slb::bucket(mac, vlan, self.config.bond.hash_basis);
        self.parts.bond.as_mut()?.member_of(bucket)
    }
}
