//! The front of the frames that this crate builds.

use crate::frame::{Vlan, ethertype};
use crate::mac::Mac;

/// A frame up to and with its EtherType, with room for `payload` more bytes.
pub(crate) fn header(dst: Mac, src: Mac, vlan: Option<Vlan>, ethertype: u16, payload: usize) -> Vec<u8> {
    let mut frame = Vec::with_capacity(18 + payload);
    frame.extend_from_slice(&dst.0);
    frame.extend_from_slice(&src.0);
    if let Some(Vlan { protocol, tci }) = vlan {
        frame.extend_from_slice(&protocol.to_be_bytes());
        frame.extend_from_slice(&tci.to_be_bytes());
    }
    frame.extend_from_slice(&ethertype.to_be_bytes());
    frame
}

/// A frame with these tags behind its addresses, the first of them outermost,
/// before those it has; as it is if it is shorter than its addresses.
pub fn tagged(frame: Vec<u8>, tags: &[Vlan]) -> Vec<u8> {
    const MACS: usize = 12;
    let Some((macs, rest)) = frame.split_at_checked(MACS).filter(|_| !tags.is_empty()) else { return frame };
    let tags = tags.iter().flat_map(|tag| [tag.protocol.to_be_bytes(), tag.tci.to_be_bytes()].concat());
    macs.iter().copied().chain(tags).chain(rest.iter().copied()).collect()
}

impl Vlan {
    /// The customer tag (IEEE 802.1Q) of this VLAN with priority 0, or nothing
    /// for the identifier 0, which stands for no VLAN. Of the identifier the
    /// low 12 bits count.
    pub fn customer(id: u16) -> Option<Vlan> {
        match id & 0x0fff {
            0 => None,
            tci => Some(Vlan { protocol: ethertype::VLAN, tci }),
        }
    }
}
