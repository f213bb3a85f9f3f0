//! The addresses of a frame.

use super::Random;

/// Destination: a station, a group or everybody, but none that a bridge keeps
/// for itself. Source: a station.
pub(super) fn addresses(random: &mut Random) -> Vec<u8> {
    let mut macs = random.bytes(12);
    macs[6] = macs[6] & 0xfe | 2;
    match random.below(10) {
        0 => macs[..6].fill(0xff),
        1 => macs[..3].copy_from_slice(&[0x01, 0x00, 0x5e]),
        2 => macs[..2].copy_from_slice(&[0x33, 0x33]),
        _ => macs[0] = macs[0] & 0xfe | 2,
    }
    macs
}
