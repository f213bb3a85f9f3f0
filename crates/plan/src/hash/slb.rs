//! Open vSwitch's hash of balance-slb: the bucket of a frame by its source address and its VLAN.
//!
//! As Open vSwitch 3.1 computes it where it was built without SSE4.2, as Debian's package is: `ofproto/bond.c`
//! (`bond_hash`, `bond_unixctl_hash`), `lib/packets.h` (`eth_addr_vlan_to_uint64`, `hash_mac`) and `lib/hash.h`
//! (`hash_uint64_basis`, `hash_add64`, `hash_finish`). Builds for SSE4.2 and for 64-bit ARM hash by the processor's CRC
//! instructions, and so otherwise.
//!
//! - *N* = VLAN ID << 48 | the address as a number, its first byte the highest; without a tag the VLAN ID is 0.
//! - The hash is MurmurHash3 for 32 bits (Austin Appleby, public domain) of the eight bytes of *N*, lowest first,
//!   with `bond-hash-basis` as the seed.
//! - The bucket is the hash's lowest byte.

use nicteam_wire::Mac;

use super::murmur;

/// Buckets of a bond (`BOND_BUCKETS`).
pub const BUCKETS: usize = 256;
/// Bytes of *N*.
const BYTES: u32 = 8;

/// The bucket of frames from this address in this VLAN, of a bond with this `bond-hash-basis`.
///
/// The daemon takes 16 bits for a VLAN ID, of which frames have 12.
pub fn bucket(source: Mac, vlan: u16, basis: u32) -> u8 {
    let [a, b, c, d, e, f] = source.0;
    let [v, w] = vlan.to_be_bytes();
    let halves = [[c, d, e, f], [v, w, a, b]].map(u32::from_be_bytes);
    let [bucket, ..] = murmur::finish(halves.into_iter().fold(basis, murmur::add), BYTES).to_le_bytes();
    bucket
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `ovs-appctl bond/hash` of Debian's 3.1.0-2+deb12u1 prints.
    const ANSWERS: &[(&str, u16, u32, u8)] = &[
        ("00:00:00:00:00:00", 0, 0, 252),
        ("00:00:00:00:00:01", 0, 0, 68),
        ("01:00:00:00:00:00", 0, 0, 34),
        ("02:00:00:00:00:01", 0, 0, 38),
        ("02:00:00:00:00:02", 0, 0, 235),
        ("50:54:00:00:00:01", 1, 0, 225),
        ("50:54:00:00:00:01", 0, 1, 191),
        ("50:54:00:00:00:01", 256, 256, 57),
        ("50:54:00:00:00:01", 5000, 0, 81),
        ("a0:36:9f:12:34:56", 100, 12345, 0),
        ("00:1b:21:fe:dc:ba", 4094, 1, 224),
        ("12:34:56:78:9a:bc", 1000, 2147483648, 10),
        ("52:54:00:ab:cd:ef", 42, 3735928559, 187),
        ("ff:ff:ff:ff:ff:ff", 4095, 4294967295, 93),
    ];

    #[test]
    fn buckets_are_theirs() {
        for &(source, vlan, basis, answer) in ANSWERS {
            assert_eq!(bucket(source.parse().unwrap(), vlan, basis), answer, "{source} {vlan} {basis}");
        }
    }
}
