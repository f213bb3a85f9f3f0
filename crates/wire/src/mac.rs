//! Ethernet addresses.

use std::fmt;
use std::str::FromStr;

/// A 48-bit Ethernet address (IEEE 802, EUI-48), most significant byte first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// `ff:ff:ff:ff:ff:ff`.
    pub const BROADCAST: Mac = Mac([0xff; 6]);

    /// `01:00:0c:cc:cc:cc`, where Cisco's switches send what concerns the port at the other end: PAgP, CDP, VTP, DTP, UDLD.
    pub const CISCO_GROUP: Mac = Mac([0x01, 0x00, 0x0c, 0xcc, 0xcc, 0xcc]);

    /// True for multicast and broadcast: the group bit is set.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 != 0
    }

    /// True for `01:80:c2:00:00:00` to `0f`, which no bridge forwards
    /// (IEEE 802.1Q, table 8-1): LACP, LLDP, STP and their kin.
    pub const fn is_link_local(self) -> bool {
        matches!(self.0, [0x01, 0x80, 0xc2, 0, 0, 0..=0x0f])
    }

    /// True for addresses of what is said to the port at the other end of a link: those that no bridge forwards, and
    /// Cisco's.
    pub const fn is_for_port(self) -> bool {
        self.is_link_local() || matches!(self.0, [0x01, 0x00, 0x0c, 0xcc, 0xcc, 0xcc])
    }

    /// The address at this offset, which is at most `LEN - 6`.
    pub(crate) fn at<const LEN: usize>(bytes: &[u8; LEN], at: usize) -> Mac {
        Mac(std::array::from_fn(|byte| bytes[at + byte]))
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is no Ethernet address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no MAC address (six two-digit hexadecimal bytes: 02:00:00:00:00:01)")]
pub struct ParseMacError(String);

impl FromStr for Mac {
    type Err = ParseMacError;

    fn from_str(text: &str) -> Result<Mac, ParseMacError> {
        let refused = || ParseMacError(text.to_owned());
        let mut bytes = [0; 6];
        let mut parts = text.split([':', '-']);
        for byte in &mut bytes {
            let part = parts.next().ok_or_else(refused)?;
            if part.len() != 2 || !part.bytes().all(|c| c.is_ascii_hexdigit()) {
                return Err(refused());
            }
            *byte = u8::from_str_radix(part, 16).map_err(|_| refused())?;
        }
        match parts.next() {
            None => Ok(Mac(bytes)),
            Some(_) => Err(refused()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let mac: Mac = "02:00:5e:10:00:fF".parse().unwrap();
        assert_eq!(mac, Mac([2, 0, 0x5e, 0x10, 0, 0xff]));
        assert_eq!(mac.to_string(), "02:00:5e:10:00:ff");
        assert_eq!("02-00-5e-10-00-ff".parse(), Ok(mac));
    }

    #[test]
    fn bad_text_is_refused() {
        for text in [
            "",
            "02",
            "02:00:00:00:00",
            "02:00:00:00:00:00:00",
            "2:0:0:0:0:1",
            "02:00:00:00:00:+1",
            "zz:00:00:00:00:00",
        ] {
            assert!(text.parse::<Mac>().is_err(), "{text}");
        }
    }

    #[test]
    fn link_local_is_the_reserved_block_alone() {
        assert!(Mac([1, 0x80, 0xc2, 0, 0, 2]).is_link_local());
        assert!(!Mac([1, 0x80, 0xc2, 0, 0, 0x10]).is_link_local());
        assert!(!Mac::BROADCAST.is_link_local());
        assert!(!Mac::CISCO_GROUP.is_link_local() && Mac::CISCO_GROUP.is_for_port());
        assert!(Mac([1, 0x80, 0xc2, 0, 0, 2]).is_for_port() && !Mac([1, 0, 0x0c, 0xcc, 0xcc, 0xcd]).is_for_port());
    }
}
