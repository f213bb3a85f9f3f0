//! A bundle as a capture needs it: its devices, and what its choice of a member follows from.

use nicteam_options::Config;
use nicteam_wire::Mac;

/// A team, or a bond of the kernel's, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Its name.
    pub name: String,
    /// Its device.
    pub device: Link,
    /// Mode and options.
    pub config: Config,
    /// The member that carries all, or what is not balanced; none of modes without one.
    pub active: Option<String>,
    /// Its members, by place.
    pub members: Vec<Link>,
    /// stripe: the teams that stripe, too.
    pub peers: Vec<Peer>,
    /// Open vSwitch's modes: the member of each bucket, as far as it is known.
    pub buckets: Vec<(u8, String)>,
}

/// A device of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Interface index.
    pub index: u32,
    /// Its address.
    pub mac: Option<Mac>,
    /// Its speed, if its driver says.
    pub speed_mbps: Option<u32>,
    /// A member: frames may be sent by it.
    pub sends: bool,
}

/// A team that stripes, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub team: Mac,
    /// The paths that work: our member's device, and the address of the peer's member.
    pub paths: Vec<(String, Mac)>,
}

impl Bundle {
    /// The members that may send, by place.
    pub fn senders(&self) -> Vec<&Link> {
        self.members.iter().filter(|member| member.sends).collect()
    }
}
