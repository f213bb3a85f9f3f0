//! A frame as Open vSwitch reads it: its outermost VLAN tag, wherever that is, and what is behind it.
//!
//! As Open vSwitch 3.1 `lib/flow.c` (`parse_vlan`, `parse_ethertype`), with the default `vlan-limit` of 1.

use nicteam_wire::{Frame, ethertype};

/// What stands behind the addresses of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tagged<'a> {
    /// The VLAN ID of the outermost tag; 0 without a tag, and of a tag that gives a priority alone.
    pub vlan: u16,
    /// The EtherType behind that tag, or in the SNAP header there; [`NO_TYPE`] of other frames with a length.
    pub ethertype: u16,
    /// What follows it.
    pub payload: &'a [u8],
}

/// In place of an EtherType (`FLOW_DL_TYPE_NONE`).
pub(super) const NO_TYPE: u16 = 0x05ff;

/// The bits of a tag that are the VLAN ID.
const VLAN_ID: u16 = 0x0fff;
/// The lowest number that is an EtherType (`ETH_TYPE_MIN`); lower ones are lengths.
const LOWEST_TYPE: u16 = 0x0600;
/// IEEE 802.2 LLC and SNAP for an EtherType (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];

impl<'a> Tagged<'a> {
    /// Of a frame with one tag at most: a second one is payload. A tag whose four bytes are not all there is none.
    pub fn of(frame: &Frame<'a>) -> Tagged<'a> {
        let (outer, payload) = (frame.ethertype(), frame.payload());
        let (vlan, number, payload) = match (frame.vlan(), payload) {
            (Some(tag), _) => (tag.tci & VLAN_ID, outer, payload),
            (None, [a, b, c, d, rest @ ..]) if matches!(outer, ethertype::VLAN | ethertype::QINQ) => {
                (u16::from_be_bytes([*a, *b]) & VLAN_ID, u16::from_be_bytes([*c, *d]), rest)
            }
            _ => (0, outer, payload),
        };
        let (ethertype, payload) = typed(number, payload);
        Tagged { vlan, ethertype, payload }
    }
}

/// What a number behind addresses and tag means.
fn typed(number: u16, payload: &[u8]) -> (u16, &[u8]) {
    if number >= LOWEST_TYPE {
        return (number, payload);
    }
    match payload.strip_prefix(&SNAP) {
        Some([a, b, rest @ ..]) => match u16::from_be_bytes([*a, *b]) {
            number if number >= LOWEST_TYPE => (number, rest),
            _ => (NO_TYPE, rest),
        },
        _ => (NO_TYPE, payload),
    }
}
