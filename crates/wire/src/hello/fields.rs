//! Fields of a hello, read and checked.

use crate::frame::Malformed;
use crate::mac::Mac;

/// The most members of a team, whose places are below it.
pub(super) const MAX_MEMBERS: usize = 32;

/// Eight bytes from this place on; zeros where there are none.
pub(super) fn number(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// The address at this place.
pub(super) fn mac(bytes: &[u8], at: usize) -> Mac {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(Mac::default(), |bytes| Mac(*bytes))
}

pub(super) fn checked_place(place: u8) -> Result<u8, Malformed> {
    match usize::from(place) < MAX_MEMBERS {
        true => Ok(place),
        false => Err(Malformed::Field { what: "place in a hello", value: place.into() }),
    }
}

/// An address that a device can have.
pub(super) fn checked_mac(mac: Mac, what: &'static str) -> Result<Mac, Malformed> {
    match mac.is_multicast() || mac == Mac::default() {
        true => {
            Err(Malformed::Field { what, value: mac.0[..4].iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)) })
        }
        false => Ok(mac),
    }
}
