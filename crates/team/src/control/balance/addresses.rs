//! Which member has which address.
//!
//! Linux 6.1 drivers/net/bonding/bond_alb.c: the active member has the team's
//! address, every other one an address that was some member's before it joined,
//! its own as far as possible. When another member becomes active, the two swap
//! (`bond_alb_handle_active_change`, `alb_swap_mac_addr`). One difference: a
//! member for which no address is left is not refused, it shares its own.

use std::collections::BTreeMap;

use nicteam_machine::bytes::{Reader, Unreadable};
use nicteam_machine::state::State;
use nicteam_machine::{MemberId, state};
use nicteam_wire::Mac;

/// The members' addresses, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses(BTreeMap<MemberId, Address>);

impl State for Addresses {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        State::take(from).map(Addresses)
    }
}

#[derive(Clone, Copy, Debug)]
struct Address {
    /// What the device had before it joined.
    permanent: Mac,
    /// What it has in the team.
    current: Mac,
}

state!(struct Address { permanent, current });

impl Addresses {
    /// The address of a member.
    pub(super) fn of(&self, id: MemberId) -> Option<Mac> {
        self.0.get(&id).map(|address| address.current)
    }

    /// The member with this address.
    pub(super) fn owner(&self, mac: Mac) -> Option<MemberId> {
        self.0.iter().find(|(_, address)| address.current == mac).map(|(id, _)| *id)
    }

    /// A member joins that had this address (`alb_handle_addr_collision_on_attach`).
    pub(super) fn join(&mut self, id: MemberId, permanent: Mac, team: Mac) {
        self.0.remove(&id);
        let taken = !self.0.is_empty() && (permanent == team || self.owner(permanent).is_some());
        let spare = || self.0.values().map(|other| other.permanent).find(|&mac| self.owner(mac).is_none());
        let current = if taken { spare().unwrap_or(permanent) } else { permanent };
        self.0.insert(id, Address { permanent, current });
    }

    /// A member leaves and takes its own address along: who has it gets the
    /// leaver's, and is returned (`alb_change_hw_addr_on_detach`).
    pub(super) fn leave(&mut self, id: MemberId, team: Mac) -> Option<MemberId> {
        let Address { permanent, current } = self.0.remove(&id)?;
        if permanent == current || permanent == team {
            return None;
        }
        let heir = self.owner(permanent)?;
        self.set(heir, current);
        Some(heir)
    }

    /// A member gets the team's address; who had it, or was active before, gets
    /// the member's. Returns that one.
    pub(super) fn give_team(&mut self, id: MemberId, before: Option<MemberId>, team: Mac) -> Option<MemberId> {
        let other = before.filter(|other| self.0.contains_key(other)).or_else(|| self.owner(team));
        match (other.filter(|&other| other != id), self.of(id)) {
            (Some(other), Some(mac)) => {
                let swapped = self.of(other)?;
                self.set(other, mac);
                self.set(id, swapped);
                Some(other)
            }
            _ => {
                self.set(id, team);
                None
            }
        }
    }

    fn set(&mut self, id: MemberId, mac: Mac) {
        if let Some(address) = self.0.get_mut(&id) {
            address.current = mac;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEAM: Mac = mac(1);

    const fn mac(last: u8) -> Mac {
        Mac([2, 0, 0, 0, 0, last])
    }

    fn id(place: usize) -> MemberId {
        MemberId::new(place).unwrap()
    }

    fn all(addresses: &Addresses) -> Vec<u8> {
        addresses.0.values().map(|address| address.current.0[5]).collect()
    }

    fn three() -> Addresses {
        let mut addresses = Addresses::default();
        for place in 0..3 {
            addresses.join(id(place), mac(place as u8 + 1), TEAM);
        }
        addresses.give_team(id(0), None, TEAM);
        addresses
    }

    #[test]
    fn the_active_member_has_the_teams_address_and_the_others_swap() {
        let mut addresses = three();
        assert_eq!(all(&addresses), [1, 2, 3]);
        assert_eq!(addresses.give_team(id(1), Some(id(0)), TEAM), Some(id(0)));
        assert_eq!(all(&addresses), [2, 1, 3]);
        assert_eq!(addresses.give_team(id(2), Some(id(1)), TEAM), Some(id(1)));
        assert_eq!(all(&addresses), [2, 3, 1]);
    }

    #[test]
    fn who_leaves_takes_its_own_address_along() {
        let mut addresses = three();
        addresses.give_team(id(1), Some(id(0)), TEAM);
        addresses.give_team(id(2), Some(id(1)), TEAM);
        // The second has the third's, the first the second's.
        assert_eq!(addresses.leave(id(1), TEAM), Some(id(0)));
        assert_eq!(all(&addresses), [3, 1]);
    }

    #[test]
    fn an_address_that_is_taken_is_exchanged_for_a_spare_one() {
        let mut addresses = three();
        addresses.leave(id(0), TEAM);
        addresses.give_team(id(1), None, TEAM);
        assert_eq!(all(&addresses), [1, 3]);
        // The first is back: the team has its address, the second's is spare.
        addresses.join(id(0), TEAM, TEAM);
        assert_eq!(all(&addresses), [2, 1, 3]);
    }

    #[test]
    fn a_team_may_have_an_address_of_its_own() {
        let mut addresses = three();
        addresses.give_team(id(0), Some(id(0)), mac(9));
        assert_eq!(all(&addresses), [9, 2, 3]);
    }
}
