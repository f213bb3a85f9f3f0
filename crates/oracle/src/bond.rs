//! Bonds of a guest, and what can be read of them.

use crate::Guest;
use crate::protocol::{Request, Step};

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

    /// Which of these members of bonds in mode 802.3ad carry traffic with a partner,
    /// at one moment. The driver leaves the state of one that lost its carrier as it was.
    #[track_caller]
    pub fn distributing(&mut self, ports: &[String]) -> Vec<bool> {
        let files = |port: &String| {
            ["ad_actor_oper_port_state", "mii_status"].map(|file| format!("/sys/class/net/{port}/bonding_slave/{file}"))
        };
        let look = Step { requests: Vec::new(), until: Vec::new(), patience_ms: 0 };
        let samples = self.trace(vec![look], ports.iter().flat_map(files).collect());
        let values = samples.first().map_or(&[][..], |sample| &sample.values);
        let carries = |state: &str| state.parse::<u8>().is_ok_and(|state| state & (CARRIES | ALONE) == CARRIES);
        values.chunks(2).map(|port| carries(&port[0]) && port[1] == "up").collect()
    }
}
