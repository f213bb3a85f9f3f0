//! Which addresses team and members have: `fail_over_mac`.
//!
//! Linux drivers/net/bonding/bond_main.c, `bond_do_fail_over_mac` and
//! `bond_get_old_active`.

use nicteam_events::Effect;
use nicteam_machine::MemberId;
use nicteam_wire::Mac;

use super::Team;
use crate::FailOverMac;

impl Team {
    /// The address that a member has of its own: told when it joins. From then on the team says what it is to be
    /// ([`Effect::SetMac`]).
    pub fn handle_member_mac(&mut self, id: MemberId, mac: Mac) {
        self.assert_drained();
        if !self.members.contains_key(&id) {
            return;
        }
        if self.traits.has_own_addresses() {
            self.balance_joined(id, mac);
        } else {
            self.macs.insert(id, mac);
            self.move_addresses();
        }
    }

    /// What a member sends from when the control side sends by it.
    pub(super) fn mac_of(&self, id: MemberId) -> Mac {
        match self.config.mac_policy() {
            FailOverMac::None => self.announcer.mac,
            FailOverMac::Active | FailOverMac::Follow => self.macs.get(&id).copied().unwrap_or(self.announcer.mac),
        }
    }

    /// Moves addresses so that the active member sends from the team's.
    pub(super) fn move_addresses(&mut self) {
        let team = self.announcer.mac;
        let Some((active, mac)) = self.active.and_then(|id| Some((id, *self.macs.get(&id)?))) else { return };
        if mac == team {
            return;
        }
        match self.config.mac_policy() {
            FailOverMac::None => {}
            FailOverMac::Active => {
                self.announcer.mac = mac;
                self.effects.push_back(Effect::SetMac { member: None, mac });
            }
            FailOverMac::Follow => {
                let before = self.macs.iter().find(|&(_, &of)| of == team).map(|(&id, _)| id);
                self.set_mac(active, team);
                if let Some(before) = before {
                    self.set_mac(before, mac);
                }
            }
        }
    }

    fn set_mac(&mut self, id: MemberId, mac: Mac) {
        self.macs.insert(id, mac);
        self.effects.push_back(Effect::SetMac { member: Some(id), mac });
    }
}
