//! Numbers and addresses as Open vSwitch's commands read them (3.1, `lib/util.c`, `ovs_scan`).
//!
//! It reads a text up to where it has what it looks for, and never mind what follows; a number that is too long keeps
//! its lowest bits. [`Scanned::is_plain`] tells whether that is what somebody meant who wrote it.

use nicteam_wire::Mac;

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scanned<T> {
    pub(super) value: T,
    /// The text says this value and nothing else.
    pub(super) is_plain: bool,
}

/// A VLAN ID, `%u` of which 16 bits count.
pub(super) fn vlan(text: &str) -> Option<Scanned<u16>> {
    const LAST: u16 = 4095;
    let (number, _) = number(text, 10)?;
    let value = number as u16;
    Some(Scanned { value, is_plain: text.parse() == Ok(value) && value <= LAST })
}

/// A `bond-hash-basis`, `%u`.
pub(super) fn basis(text: &str) -> Option<Scanned<u32>> {
    let (number, _) = number(text, 10)?;
    let value = number as u32;
    Some(Scanned { value, is_plain: text.parse() == Ok(value) })
}

/// A bucket: digits alone, as `atoi` reads them, of which 8 bits count (ofproto/bond.c, `bond_unixctl_migrate`).
pub(super) fn bucket(text: &str) -> Option<Scanned<u8>> {
    if !text.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    // No digits at all are 0; what is too long is the largest number.
    let number: i64 = if text.is_empty() { 0 } else { text.parse().unwrap_or(i64::MAX) };
    let value = number as u8;
    Some(Scanned { value, is_plain: text.parse() == Ok(value) })
}

/// An address, six times `%x` with colons between them (`ETH_ADDR_SCAN_FMT`).
pub(super) fn mac(text: &str) -> Option<Scanned<Mac>> {
    let (mut mac, mut rest) = (Mac::default(), text);
    for (place, byte) in mac.0.iter_mut().enumerate() {
        if place > 0 {
            rest = rest.strip_prefix(':')?;
        }
        let (number, after) = number(rest, 16)?;
        (*byte, rest) = (number as u8, after);
    }
    let is_byte = |group: &str| matches!(group.len(), 1 | 2) && group.bytes().all(|digit| digit.is_ascii_hexdigit());
    Some(Scanned { value: mac, is_plain: rest.is_empty() && text.split(':').all(is_byte) })
}

/// A number at the beginning of a text (`scan_int`), and what follows: space is passed over, a sign taken, of 64 bits the
/// lowest are kept.
fn number(text: &str, radix: u32) -> Option<(u64, &str)> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let is_negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let prefixed = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")).filter(|_| radix == 16);
    let digits = prefixed.unwrap_or(unsigned);
    let end = digits.find(|digit: char| !digit.is_digit(radix)).unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(end);
    let add = |sum: u64, digit: u32| sum.wrapping_mul(u64::from(radix)).wrapping_add(u64::from(digit));
    let value = digits.chars().filter_map(|digit| digit.to_digit(radix)).fold(0, add);
    let value = if is_negative { value.wrapping_neg() } else { value };
    (!digits.is_empty()).then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain<T>(value: T) -> Option<Scanned<T>> {
        Some(Scanned { value, is_plain: true })
    }

    fn odd<T>(value: T) -> Option<Scanned<T>> {
        Some(Scanned { value, is_plain: false })
    }

    #[test]
    fn numbers_are_read_as_far_as_they_go() {
        assert_eq!(vlan("10"), plain(10));
        assert_eq!(vlan("4095"), plain(4095));
        assert_eq!(vlan("4096"), odd(4096));
        assert_eq!(vlan("65537"), odd(1));
        assert_eq!(vlan("10x"), odd(10));
        assert_eq!(vlan(" \t7"), odd(7));
        assert_eq!(vlan("-1"), odd(0xffff));
        assert_eq!(vlan("0x10"), odd(0));
        assert_eq!(basis("4294967295"), plain(u32::MAX));
        assert_eq!(basis("4294967297"), odd(1));
        for refused in ["", " ", "x", "-", "+-1", "٣"] {
            assert_eq!(vlan(refused), None, "{refused}");
            assert_eq!(basis(refused), None, "{refused}");
        }
    }

    #[test]
    fn buckets_are_digits() {
        assert_eq!(bucket("255"), plain(255));
        assert_eq!(bucket("256"), odd(0));
        assert_eq!(bucket("99999999999999999999"), odd(255));
        assert_eq!(bucket(""), odd(0));
        for refused in ["-1", "+1", "5x", " 5", "0x5"] {
            assert_eq!(bucket(refused), None, "{refused}");
        }
    }

    #[test]
    fn addresses_have_colons() {
        let mac_1 = Mac([2, 0, 0, 0, 0, 0x1f]);
        assert_eq!(mac("02:00:00:00:00:1f"), plain(mac_1));
        assert_eq!(mac("2:0:0:0:0:1F"), plain(mac_1));
        assert_eq!(mac("02:00:00:00:00:1f:33"), odd(mac_1));
        assert_eq!(mac("02:00:00:00:00:1fg"), odd(mac_1));
        assert_eq!(mac("0x02:00:00:00:00:1f"), odd(mac_1));
        assert_eq!(mac("102: 0:0:0:0:1f"), odd(mac_1));
        for refused in
            ["", "02", "02:00:00:00:00", "02:00:00:00:00:", "02-00-00-00-00-1f", "02 :0:0:0:0:1", "0x:0:0:0:0:1"]
        {
            assert_eq!(mac(refused), None, "{refused}");
        }
    }
}
