//! What switches say by PAgP.

use nicteam_machine::{MemberId, state};
use nicteam_wire::Mac;

/// What the other end of a member says of itself by PAgP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagpHeard {
    /// The member.
    pub member: MemberId,
    /// Address of the switch.
    pub device: Mac,
    /// Its name, if it says.
    pub device_name: String,
    /// Name of its port, if it says.
    pub port_name: String,
    /// True: its port is in mode `auto`; false: in mode `desirable`.
    pub auto: bool,
}

state!(struct PagpHeard { member, device, device_name, port_name, auto });

impl PagpHeard {
    /// The mode of the port, in Cisco's words.
    pub fn mode(&self) -> &'static str {
        if self.auto { "auto" } else { "desirable" }
    }

    /// The switch, by its name if it says one.
    pub fn switch(&self) -> String {
        if self.device_name.is_empty() { self.device.to_string() } else { self.device_name.clone() }
    }
}
