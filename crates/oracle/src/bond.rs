//! Bonds of a guest, and what can be read of them.

use crate::Guest;
use crate::protocol::Request;

/// Bits of a port's state (IEEE 802.1AX-2014, figure 6-8) that say that it carries traffic:
/// aggregatable, in sync, collecting, distributing.
const CARRIES: u8 = 0x3c;
/// Those that say that it is on its own: the partner is assumed, or not heard in time.
const ALONE: u8 = 0xc0;

impl Guest {
    /// Makes a bond with these options, set in this order, and these members, and sets it up.
    ///
    /// # Panics
    /// If an option or a member is refused.
    #[track_caller]
    pub fn add_bond(&mut self, bond: &str, options: &[(&str, &str)], members: &[String]) {
        let made = self.write("/sys/class/net/bonding_masters", &format!("+{bond}"));
        made.unwrap_or_else(|refusal| panic!("{refusal}"));
        for (name, value) in options {
            self.set_option(bond, name, value).unwrap_or_else(|refusal| panic!("{refusal}"));
        }
        for name in members {
            self.must(Request::SetMaster { name: name.clone(), master: Some(bond.to_owned()) });
        }
        self.must(Request::SetUp { name: bond.to_owned(), up: true });
    }

    /// Removes a bond and lets its members go, which are down after.
    #[track_caller]
    pub fn remove_bond(&mut self, bond: &str) {
        self.must(Request::Delete { name: bond.to_owned() });
    }

    /// What a member of a bond in mode 802.3ad says of itself (`Actor_Oper_Port_State`);
    /// nothing if it is no such member.
    #[track_caller]
    pub fn port_state(&mut self, port: &str) -> Option<u8> {
        let text = self.read(&format!("/sys/class/net/{port}/bonding_slave/ad_actor_oper_port_state")).ok()?;
        text.parse().ok()
    }

    /// True if a member of a bond in mode 802.3ad carries traffic with a partner.
    /// The driver leaves the state of one that lost its carrier as it was.
    #[track_caller]
    pub fn distributes(&mut self, port: &str) -> bool {
        self.port_state(port).is_some_and(|state| state & (CARRIES | ALONE) == CARRIES)
            && self.read(&format!("/sys/class/net/{port}/bonding_slave/mii_status")).is_ok_and(|status| status == "up")
    }
}
