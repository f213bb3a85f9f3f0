//! How Open vSwitch's balance-slb and balance-tcp share load: which buckets change members, and when.
//!
//! The rules are those of Open vSwitch 3.1 ofproto/bond.c (`bond_rebalance`, `choose_entries_to_migrate`, `insert_bal`,
//! `bond_shift_load`) and vswitchd/bridge.c (`port_configure_bond`):
//!
//! 1. A member's load is what its buckets carry. Members that may not send take no part, and their buckets stay.
//! 2. Load goes from the member with the most to the one with the least, until the difference is less than 100,000
//!    bytes or less than a thirty-second of the lower load. Of equal members the earlier one counts as the fuller.
//! 3. *Ideal* is half the difference. Buckets go over by falling load, of equal ones the lower number first; one that
//!    would make it more than ideal is left out. When less than a tenth of ideal is missing, none is looked at any more.
//! 4. If none is light enough, the lightest goes.
//! 5. Nothing goes if the lower of the two loads then is not higher than it was, by a tenth of ideal at least: the full
//!    member is left alone for this time. So is one with no more than one bucket that carries something.
//! 6. A bucket moves once in a run.
//! 7. All loads are halved after each run, so that what is long gone counts little.

use std::time::Duration;

use nicteam_machine::{MemberId, state};

use crate::hash::slb::BUCKETS;

/// Differences of less than this are let be, bytes.
const SLIGHT: u64 = 100_000;
/// And those of less than this part of the lower load.
const SLIGHT_PART: u64 = 32;
/// The part of the ideal that may be missing, and that a move has to bring.
const TENTH: u64 = 10;

/// What a bond knows of a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// The member that its frames leave by; none before the first frame.
    pub member: Option<MemberId>,
    /// Bytes, those before the last run halved, those before the one before halved twice, and so on.
    pub bytes: u64,
}

state!(struct Bucket { member, bytes });

/// A bucket that changes members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The bucket.
    pub bucket: u8,
    /// Its member so far.
    pub from: MemberId,
    /// The one it is to have.
    pub to: MemberId,
}

/// Between two runs, by `bond-rebalance-interval` in milliseconds: a second at least; none if it is 0.
pub fn interval(option_ms: i32) -> Option<Duration> {
    const LEAST_MS: i32 = 1000;
    let ms = if option_ms == 0 { None } else { Some(option_ms.max(LEAST_MS)) };
    ms.map(|ms| Duration::from_millis(u64::from(ms.unsigned_abs())))
}

/// Which buckets are to change members, in the order in which that is decided.
///
/// `enabled` are the members that may send, each once. Their order counts among equal ones alone; Open vSwitch's is that
/// of a hash table, which `bond/list` prints.
pub fn moves(buckets: &[Bucket; BUCKETS], enabled: &[MemberId]) -> Vec<Move> {
    let mut members: Vec<Share> = Vec::new();
    for &id in enabled {
        insert(&mut members, Share::new(id, buckets));
    }
    let mut moves = Vec::new();
    while members.len() > 1
        && let Some(mut emptiest) = members.pop()
    {
        let mut fullest = members.remove(0);
        if fullest.bytes - emptiest.bytes < SLIGHT.max(emptiest.bytes / SLIGHT_PART) {
            break;
        }
        let chosen = fullest.choose(emptiest.bytes);
        let is_worth_it = !chosen.is_empty();
        for entry in chosen {
            fullest.entries.retain(|other| *other != entry);
            fullest.bytes = fullest.bytes.saturating_sub(entry.bytes);
            emptiest.bytes = emptiest.bytes.saturating_add(entry.bytes);
            moves.push(Move { bucket: entry.bucket, from: fullest.id, to: emptiest.id });
        }
        if is_worth_it {
            insert(&mut members, fullest);
        }
        insert(&mut members, emptiest);
    }
    moves
}

/// Gives buckets the members that were decided, and halves what all have carried: the end of a run.
pub fn settle(buckets: &mut [Bucket; BUCKETS], moves: &[Move]) {
    for Move { bucket, to, .. } in moves {
        buckets[usize::from(*bucket)].member = Some(*to);
    }
    for bucket in buckets {
        bucket.bytes /= 2;
    }
}

/// A member's part of the load.
struct Share {
    id: MemberId,
    bytes: u64,
    /// Its buckets that carry something and that have not moved, by falling load.
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    bucket: u8,
    bytes: u64,
}

impl Share {
    fn new(id: MemberId, buckets: &[Bucket; BUCKETS]) -> Share {
        let numbered = (0..=u8::MAX).zip(buckets);
        let own = numbered.filter(|(_, bucket)| bucket.member == Some(id) && bucket.bytes > 0);
        let mut entries: Vec<Entry> = own.map(|(number, of)| Entry { bucket: number, bytes: of.bytes }).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.bytes));
        Share { id, bytes: entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes)), entries }
    }

    /// What is to go to a member that has this load (rules 3 to 5).
    fn choose(&self, low: u64) -> Vec<Entry> {
        let [_, .., lightest] = &self.entries[..] else { return Vec::new() };
        let ideal = (self.bytes - low) / 2;
        let (mut chosen, mut sum) = (Vec::new(), 0);
        for &entry in &self.entries {
            if entry.bytes <= ideal - sum {
                chosen.push(entry);
                sum += entry.bytes;
            }
            if ideal - sum < ideal / TENTH {
                break;
            }
        }
        if chosen.is_empty() {
            chosen.push(*lightest);
            sum = lightest.bytes;
        }
        let new_low = self.bytes.saturating_sub(sum).min(low.saturating_add(sum));
        if new_low > low && new_low - low >= ideal / TENTH { chosen } else { Vec::new() }
    }
}

/// Puts a member where it belongs by falling load, behind its equals.
fn insert(members: &mut Vec<Share>, member: Share) {
    let place = members.partition_point(|other| other.bytes >= member.bytes);
    members.insert(place, member);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(place: usize) -> MemberId {
        MemberId::new(place).unwrap()
    }

    fn members(count: usize) -> Vec<MemberId> {
        (0..count).map(member).collect()
    }

    /// Buckets from 0 on: a member and kilobytes each.
    fn buckets(loads: &[(usize, u64)]) -> [Bucket; BUCKETS] {
        let mut buckets = [Bucket::default(); BUCKETS];
        for (bucket, &(place, kilobytes)) in buckets.iter_mut().zip(loads) {
            *bucket = Bucket { member: Some(member(place)), bytes: kilobytes * 1000 };
        }
        buckets
    }

    /// Bucket, from, to of each move.
    fn decided(loads: &[(usize, u64)], count: usize) -> Vec<(u8, usize, usize)> {
        let moves = moves(&buckets(loads), &members(count));
        moves.iter().map(|of| (of.bucket, of.from.index(), of.to.index())).collect()
    }

    #[test]
    fn what_is_slight_is_let_be() {
        // 99,000 bytes, and 100,000.
        assert_eq!(decided(&[(0, 60), (0, 39)], 2), []);
        assert_eq!(decided(&[(0, 60), (0, 40)], 2), [(1, 0, 1)]);
        // A thirty-second of 32,000,000 bytes is 1,000,000.
        assert_eq!(decided(&[(0, 32_499), (0, 500), (1, 32_000)], 2), []);
        assert_eq!(decided(&[(0, 32_500), (0, 500), (1, 32_000)], 2), [(1, 0, 1)]);
    }

    #[test]
    fn the_heaviest_go_as_long_as_they_fit() {
        // 10,000 to move: after 7,000 neither 6,900 nor 4,010 fits, 2,050 does; 950 are missing, less than a tenth, so the last
        // one stays.
        let loads = [(0, 4010), (0, 2050), (0, 7000), (0, 6900), (0, 40)];
        assert_eq!(decided(&loads, 2), [(2, 0, 1), (1, 0, 1)]);
        // With 840 of 1,000 the last one is taken.
        assert_eq!(decided(&[(0, 400), (0, 140), (0, 700), (0, 700), (0, 60)], 2), [(2, 0, 1), (1, 0, 1), (4, 0, 1)]);
    }

    #[test]
    fn what_is_a_tenth_short_of_ideal_goes_on() {
        // 900 of 1,000: a tenth is missing, not less, and 40 fits.
        assert_eq!(decided(&[(0, 700), (0, 200), (0, 1060), (0, 40)], 2), [(0, 0, 1), (1, 0, 1), (3, 0, 1)]);
    }

    #[test]
    fn of_equal_buckets_the_lower_number_goes() {
        assert_eq!(decided(&[(0, 300); 6], 2), [(0, 0, 1), (1, 0, 1), (2, 0, 1)]);
    }

    #[test]
    fn if_none_fits_the_lightest_goes() {
        // 500 to move, 520 the lightest: the lower load becomes 480 instead of 0.
        assert_eq!(decided(&[(0, 520), (0, 480), (1, 0)], 2), [(1, 0, 1)]);
        assert_eq!(decided(&[(0, 900), (0, 700), (1, 400)], 2), [(1, 0, 1)]);
    }

    #[test]
    fn a_move_has_to_bring_a_tenth() {
        // 500 to move. 900 are too many: the lower load would be 100 higher; of 960 only 40.
        assert_eq!(decided(&[(0, 950), (0, 900), (1, 850)], 2), [(1, 0, 1)]);
        assert_eq!(decided(&[(0, 960), (0, 960), (1, 920)], 2), []);
        // Nor may it only change sides.
        assert_eq!(decided(&[(0, 1000), (0, 1000), (1, 1000)], 2), []);
        // And too little is as bad as too much.
        assert_eq!(decided(&[(0, 3000), (0, 49)], 2), []);
    }

    #[test]
    fn a_member_with_one_loaded_bucket_keeps_it() {
        assert_eq!(decided(&[(0, 9000), (0, 0), (1, 10)], 2), []);
        // The next one is looked at instead.
        assert_eq!(decided(&[(0, 9000), (1, 300), (1, 300)], 3), [(1, 1, 2)]);
    }

    #[test]
    fn the_emptiest_gets_and_the_fullest_gives() {
        assert_eq!(decided(&[(0, 600), (0, 600), (1, 900), (2, 100)], 3), [(1, 0, 2)]);
        assert_eq!(decided(&[(0, 400); 4], 4), [(0, 0, 3), (1, 0, 3), (2, 0, 2)]);
    }

    #[test]
    fn a_bucket_moves_once() {
        // The last member then has three, the second one: the fourth bucket comes from the first member, and none from the last.
        assert_eq!(decided(&[(0, 500); 6], 3), [(0, 0, 2), (1, 0, 2), (2, 0, 2), (3, 0, 1)]);
    }

    #[test]
    fn members_that_may_not_send_take_no_part() {
        let loads = buckets(&[(0, 900), (0, 900), (1, 100), (2, 900), (2, 900)]);
        let moves = moves(&loads, &[member(0), member(1)]);
        assert_eq!(moves, [Move { bucket: 1, from: member(0), to: member(1) }]);
    }

    #[test]
    fn nobody_and_alone_move_nothing() {
        assert_eq!(decided(&[], 0), []);
        assert_eq!(decided(&[], 3), []);
        assert_eq!(decided(&[(0, 900), (0, 900)], 1), []);
    }

    #[test]
    fn a_run_ends_with_half_of_all_loads() {
        let mut buckets = buckets(&[(0, 900), (0, 900), (1, 100)]);
        let moves = moves(&buckets, &members(2));
        settle(&mut buckets, &moves);
        let half = |place, bytes| Bucket { member: Some(member(place)), bytes };
        assert_eq!(buckets[..3], [half(0, 450_000), half(1, 450_000), half(1, 50_000)]);
        assert_eq!(buckets[3], Bucket::default());
    }

    #[test]
    fn loads_beyond_all_measure_do_no_harm() {
        let mut buckets = [Bucket { member: Some(member(0)), bytes: u64::MAX }; BUCKETS];
        buckets[7].member = Some(member(1));
        moves(&buckets, &members(3));
    }

    #[test]
    fn the_interval_is_a_second_at_least_or_none() {
        assert_eq!(interval(10_000), Some(Duration::from_secs(10)));
        assert_eq!(interval(1), Some(Duration::from_secs(1)));
        assert_eq!(interval(-1), Some(Duration::from_secs(1)));
        assert_eq!(interval(0), None);
    }
}
