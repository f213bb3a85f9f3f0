//! Which hellos of a system were heard before.

use std::collections::BTreeMap;

use nicteam_machine::{MemberId, state};

/// Which sequences of a system were heard.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences {
    /// The highest of all.
    pub(super) highest: Option<u32>,
    /// By our members: the highest, and a bit for each of those behind it, itself the lowest.
    heard: BTreeMap<MemberId, (u32, u128)>,
}

state!(struct Sequences { highest, heard });

/// So far behind the newest a hello may be, on whatever member.
pub(super) const RECENT: u32 = 1024;

impl Sequences {
    /// True if this member may have heard it for the first time, which it now has.
    pub(super) fn advance(&mut self, member: MemberId, sequence: u32) -> bool {
        let highest = *self.highest.get_or_insert(sequence);
        let ahead = sequence.wrapping_sub(highest) as i32;
        if ahead <= -(RECENT as i32) {
            return false;
        }
        if ahead > 0 {
            self.highest = Some(sequence);
        }
        let (last, bits) = self.heard.entry(member).or_insert((sequence, 0));
        let ahead = sequence.wrapping_sub(*last) as i32;
        if ahead > 0 {
            (*last, *bits) = (sequence, bits.checked_shl(ahead.unsigned_abs()).unwrap_or(0));
        }
        let bit = 1_u128.checked_shl(if ahead > 0 { 0 } else { ahead.unsigned_abs() }).unwrap_or(0);
        let is_new = bit != 0 && *bits & bit == 0;
        *bits |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sequence_counts_once_on_a_member_and_not_when_it_is_old() {
        let (zero, one) = (MemberId::new(0).unwrap(), MemberId::new(1).unwrap());
        let mut sequences = Sequences::default();
        // The highest, wrapping, then frames that others overtook.
        for sequence in [u32::MAX - 1, 3, u32::MAX, 0, 2, 1, 130] {
            assert!(sequences.advance(zero, sequence), "{sequence}");
            assert!(!sequences.advance(zero, sequence), "{sequence} again");
        }
        assert!(!sequences.advance(zero, 2), "128 behind, it may have come before");
        assert!(sequences.advance(zero, 4));
        assert!(sequences.advance(one, 2) && !sequences.advance(one, 2), "the other member hears it, too");
        assert!(!sequences.advance(one, 130_u32.wrapping_sub(RECENT)) && sequences.advance(one, 131));
    }
}
