//! What the shell reads for a team.

use std::net::IpAddr;

use nicteam_machine::state;
use nicteam_wire::Vlan;

/// A multicast group of the team's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its address.
    pub address: IpAddr,
    /// IPv4: an IGMPv2 querier was heard, so that nobody reads IGMPv3.
    pub igmp_v2: bool,
}

/// Frames that a member has sent and received since it joined, those that the
/// team did not take included. What the control side sends need not be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Frames sent.
    pub tx_frames: u64,
    /// Frames received.
    pub rx_frames: u64,
}

state!(struct Traffic { tx_frames, rx_frames });

/// An address of the team's stack, or of a device above the team, and the subnet around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subnet {
    /// The tags of frames from there, the outermost first: those of the VLAN
    /// devices on the way up (`bond_verify_device_path`).
    pub tags: Vec<Vlan>,
    /// The address.
    pub address: IpAddr,
    /// Bits of it that name the subnet.
    pub prefix_len: u8,
}

state!(struct Subnet { tags, address, prefix_len });

impl Subnet {
    /// True if this address lies in the subnet.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let (differs, bits) = match (self.address, ip) {
            (IpAddr::V4(own), IpAddr::V4(ip)) => (u128::from(own.to_bits() ^ ip.to_bits()), 32),
            (IpAddr::V6(own), IpAddr::V6(ip)) => (own.to_bits() ^ ip.to_bits(), 128),
            _ => return false,
        };
        // A shift by all bits leaves none that could differ.
        differs.checked_shr(bits - bits.min(self.prefix_len.into())).unwrap_or(0) == 0
    }
}
