//! Numbers and texts as bytes.
//!
//! What counts up is written in a fixed width, little-endian, so that in two entries that are alike the same bytes differ
//! (a recording writes what differs); lengths and places are written in groups of seven bits, the lowest first.

use std::net::IpAddr;

use nicteam_wire::Mac;

use crate::member::MemberId;
use crate::time::Time;

/// Bytes that are no recording, or not one of this version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

impl Unreadable {
    /// Bytes that are refused, and why.
    pub fn new(what: impl Into<String>) -> Unreadable {
        Unreadable(what.into())
    }
}

/// The longest a length may say it is, so that a wrong one asks for no memory.
const LONGEST: usize = 1 << 20;

/// A number in groups of seven bits.
pub fn put_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// From one time to another. What a machine is told may be a little older than what it told before.
pub fn put_step(to: &mut Vec<u8>, from: Time, at: Time) {
    let step = at.as_nanos().wrapping_sub(from.as_nanos()) as i64;
    // The sign is the lowest bit, so that a step back is short, too.
    put_number(to, (step << 1 ^ step >> 63) as u64);
}

/// The number of these bytes, then the bytes.
pub fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    put_number(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

/// The same of a text.
pub fn put_text(to: &mut Vec<u8>, text: &str) {
    put_bytes(to, text.as_bytes());
}

/// An IP address: its version, then its bytes.
pub fn put_address(to: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(ip) => {
            to.push(4);
            to.extend_from_slice(&ip.octets());
        }
        IpAddr::V6(ip) => {
            to.push(6);
            to.extend_from_slice(&ip.octets());
        }
    }
}

/// A member's place.
pub fn put_member(to: &mut Vec<u8>, member: MemberId) {
    to.push(member.index() as u8);
}

/// What of some bytes is still to be read.
#[derive(Clone, Debug)]
pub struct Reader<'a>(
    /// These.
    pub &'a [u8],
);

impl<'a> Reader<'a> {
    /// True if nothing is left.
    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// So many bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| Unreadable::new("an entry is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let (chunk, rest) = self.0.split_first_chunk().ok_or_else(|| Unreadable::new("an entry is cut off"))?;
        self.0 = rest;
        Ok(*chunk)
    }

    /// A byte.
    pub fn u8(&mut self) -> Result<u8, Unreadable> {
        self.chunk().map(|[byte]| byte)
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Result<u16, Unreadable> {
        self.chunk().map(u16::from_le_bytes)
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, Unreadable> {
        self.chunk().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Result<u64, Unreadable> {
        self.chunk().map(u64::from_le_bytes)
    }

    /// A byte that is zero or not.
    pub fn flag(&mut self) -> Result<bool, Unreadable> {
        Ok(self.u8()? != 0)
    }

    /// As [`put_number`] wrote it.
    pub fn number(&mut self) -> Result<u64, Unreadable> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Unreadable::new("a number is too large"))
    }

    /// The time to which [`put_step`] went from this one.
    pub fn step(&mut self, from: Time) -> Result<Time, Unreadable> {
        let number = self.number()?;
        let step = (number >> 1) as i64 ^ -((number & 1) as i64);
        Ok(Time::from_nanos(from.as_nanos().wrapping_add_signed(step)))
    }

    /// How many follow, of things that take so many bytes at least.
    pub fn count(&mut self, each: usize) -> Result<usize, Unreadable> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        match count.checked_mul(each.max(1)) {
            Some(bytes) if bytes <= self.0.len() => Ok(count),
            _ => Err(Unreadable::new("an entry is cut off")),
        }
    }

    /// As [`put_bytes`] wrote them.
    pub fn bytes(&mut self) -> Result<&'a [u8], Unreadable> {
        let count = self.count(1)?;
        if count > LONGEST {
            return Err(Unreadable::new("a text or frame is too long"));
        }
        self.take(count)
    }

    /// The same where a state of a team may be long.
    pub fn bytes_of_any_length(&mut self) -> Result<&'a [u8], Unreadable> {
        let count = self.count(1)?;
        self.take(count)
    }

    /// As [`put_text`] wrote it.
    pub fn text(&mut self) -> Result<String, Unreadable> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| Unreadable::new("a name is no text"))
    }

    /// A MAC address.
    pub fn mac(&mut self) -> Result<Mac, Unreadable> {
        self.chunk().map(Mac)
    }

    /// As [`put_address`] wrote it.
    pub fn address(&mut self) -> Result<IpAddr, Unreadable> {
        match self.u8()? {
            4 => self.chunk::<4>().map(IpAddr::from),
            6 => self.chunk::<16>().map(IpAddr::from),
            _ => Err(Unreadable::new("an address is of no known kind")),
        }
    }

    /// As [`put_member`] wrote it.
    pub fn member(&mut self) -> Result<MemberId, Unreadable> {
        let place = self.u8()?;
        MemberId::new(place.into()).ok_or_else(|| Unreadable::new(format!("no member can be at place {place}")))
    }

    /// So many things, each read in the same way.
    pub fn list<T>(
        &mut self,
        each: usize,
        mut read: impl FnMut(&mut Reader<'a>) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, Unreadable> {
        let count = self.count(each)?;
        (0..count).map(|_| read(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_may_go_back() {
        let times = [5, 9, 8, 8, 0, u64::MAX, 1, u64::MAX / 2 + 3].map(Time::from_nanos);
        let (mut bytes, mut last) = (Vec::new(), Time::ZERO);
        for time in times {
            put_step(&mut bytes, last, time);
            last = time;
        }
        let (mut reader, mut last) = (Reader(&bytes), Time::ZERO);
        for time in times {
            last = reader.step(last).unwrap();
            assert_eq!(last, time);
        }
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        numbers.iter().for_each(|number| put_number(&mut bytes, *number));
        let mut reader = Reader(&bytes);
        numbers.iter().for_each(|number| assert_eq!(reader.number(), Ok(*number)));
        assert!(reader.is_at_end());
        assert!(Reader(&[0xff; 10]).number().is_err(), "more than 64 bits");
        assert!(Reader(&[0x80]).number().is_err() && Reader(&[9, 1]).bytes().is_err(), "cut off");
    }
}
