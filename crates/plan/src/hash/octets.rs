//! The last bytes of both ends' addresses: what switches with few hash bits look at.
//!
//! Of IPv4 and IPv6 these are the IP addresses', of anything else the MAC addresses'. Neither ports nor fragments play
//! a part.

use nicteam_wire::{Frame, ethertype};

use super::headers::{IPV4_HEADER, IPV6_HEADER};

/// The last byte of each end's address.
#[derive(Clone, Copy)]
pub(super) struct Octets {
    src: u8,
    dst: u8,
}

impl Octets {
    pub(super) fn src(self) -> u32 {
        self.src.into()
    }

    pub(super) fn dst(self) -> u32 {
        self.dst.into()
    }
}

/// Those of a frame.
pub(super) fn of(frame: &Frame<'_>) -> Octets {
    of_ip(frame.ethertype(), frame.payload()).unwrap_or(Octets { src: frame.src().0[5], dst: frame.dst().0[5] })
}

/// Those of the IP header at the start of these bytes, if it is there whole.
fn of_ip(ethertype: u16, bytes: &[u8]) -> Option<Octets> {
    match ethertype {
        ethertype::IPV4 => bytes.first_chunk::<IPV4_HEADER>().map(|head| Octets { src: head[15], dst: head[19] }),
        ethertype::IPV6 => bytes.first_chunk::<IPV6_HEADER>().map(|head| Octets { src: head[23], dst: head[39] }),
        _ => None,
    }
}
