//! Which member each bucket of frames leaves by.
//!
//! As Linux 6.1 drivers/net/bonding/bond_alb.c: the next bucket goes to the
//! member with the most room, its speed less its load (`compute_gap`,
//! `tlb_get_least_loaded_slave`); every ten seconds buckets are assigned by the bytes
//! they carried (`bond_alb_monitor`), and what the active member sent
//! unbalanced is a load from the start. Three differences:
//! - The kernel assigns a bucket when its first frame comes, in that order; here
//!   all are assigned at once, the heaviest first. So buckets without load have a
//!   member, too: as many as its share of the speed (in the kernel all go to the
//!   fastest member, of equal ones to the first, until the next assignment).
//! - Buckets stay where they are while the members' rooms differ by less than a
//!   thirty-second of a member's mean load; beyond it the few that help most move, or change places. The
//!   kernel assigns all anew, and so moves flows and reorders frames without need.
//! - Speeds are not cut to 12 bits (the kernel takes 10 Gbit/s for 1808 Mbit/s), and
//!   1 Mbit/s are 1,000,000 bit/s (in the kernel 1,048,576).

use nicteam_machine::{MemberId, Time, state};

use crate::MAX_BUCKETS;
use crate::balance::Loads;

/// A member that can send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Channel {
    pub(super) id: MemberId,
    pub(super) speed_mbps: Option<u32>,
}

state!(struct Channel { id, speed_mbps });

/// The buckets.
#[derive(Clone, Debug, Default)]
pub(in crate::control) struct Buckets {
    /// A member for each bucket; empty without a member.
    table: Vec<MemberId>,
    /// Bytes a second of each bucket, as last measured; empty before.
    rates: Vec<u64>,
    /// The same of what was not balanced.
    other_rate: u64,
    /// What was counted at the last reading.
    last: Option<(Time, Box<Loads>)>,
    channels: Vec<Channel>,
}

state!(struct Buckets { table, rates, other_rate, last, channels });

/// A member while buckets are assigned.
#[derive(Clone, Debug)]
struct Seat {
    id: MemberId,
    speed_mbps: u64,
    /// Bits a second that it has left.
    room: i128,
    /// Bytes a second of its buckets.
    carried: i128,
}

/// The buckets that carry something, while they are assigned.
#[derive(Debug)]
struct Assignment {
    seats: Vec<Seat>,
    /// The seat of each bucket.
    places: Vec<Option<usize>>,
}

/// Rooms that differ by less than this part of a member's mean load are alike.
const SLACK: i128 = 32;
/// A fresh assignment moves many: it has to bring rooms together by so many times that.
const WORTH: i128 = 4;

impl Buckets {
    /// The members by bucket.
    pub(in crate::control) fn table(&self) -> &[MemberId] {
        &self.table
    }

    /// Lets the buckets follow the members: those of a member that is gone go to
    /// the others; a new one, or another speed, makes it a new assignment.
    pub(super) fn follow(&mut self, channels: &[Channel], active: Option<MemberId>) {
        if channels == self.channels {
            return;
        }
        let anew = channels.iter().any(|channel| !self.channels.contains(channel));
        self.channels = channels.to_vec();
        self.assign(anew, active);
    }

    /// Takes in what was counted since the dataplane began, and assigns anew.
    pub(super) fn take_loads(&mut self, loads: &Loads, now: Time, active: Option<MemberId>) {
        if let Some((before, last)) = &self.last {
            let ms = now.since(*before).as_millis().max(1);
            // A counter that went back began anew.
            let rate = |now: u64, last: u64| {
                let bytes = u128::from(now.checked_sub(last).unwrap_or(now));
                u64::try_from(bytes * 1000 / ms).unwrap_or(u64::MAX)
            };
            self.rates = loads.buckets.iter().zip(&last.buckets).map(|(&now, &last)| rate(now, last)).collect();
            self.other_rate = rate(loads.other, last.other);
            self.assign(true, active);
        }
        self.last = Some((now, Box::new(loads.clone())));
    }

    /// Buckets that carry something keep their member; those without one go where there is room. With `anew` the load
    /// is evened out, or assigned afresh where that is clearly better.
    fn assign(&mut self, anew: bool, active: Option<MemberId>) {
        let seats = self.seats(active);
        if seats.is_empty() {
            self.table.clear();
            return;
        }
        let own = |bucket: usize| {
            let id = self.table.get(bucket)?;
            seats.iter().position(|seat| seat.id == *id)
        };
        let owns: Vec<Option<usize>> = (0..MAX_BUCKETS).map(own).collect();
        let rates: Vec<u64> = (0..MAX_BUCKETS).map(|bucket| self.rates.get(bucket).copied().unwrap_or(0)).collect();
        let mut assignment = Assignment::completed(&seats, &owns, &rates);
        if anew {
            let slack = i128::from(rates.iter().sum::<u64>()) * 8 / (seats.len() as i128 * SLACK);
            assignment.even_out(&rates, slack);
            let fresh = Assignment::fresh(&seats, &owns, &rates);
            if fresh.gap() + WORTH * slack < assignment.gap() {
                assignment = fresh;
            }
        }
        let homes = homes(&seats);
        let place = |bucket: usize| {
            let stays = owns[bucket].filter(|_| !anew);
            assignment.places[bucket].or(stays).unwrap_or(homes[bucket])
        };
        self.table = (0..MAX_BUCKETS).map(|bucket| seats[place(bucket)].id).collect();
    }

    fn seats(&self, active: Option<MemberId>) -> Vec<Seat> {
        let seat = |(id, speed_mbps): (MemberId, u64)| {
            let other = if active == Some(id) { self.other_rate } else { 0 };
            Seat { id, speed_mbps, room: i128::from(speed_mbps) * 1_000_000 - i128::from(other) * 8, carried: 0 }
        };
        known_speeds(&self.channels).map(seat).collect()
    }
}

/// The members' speeds, at least 1 Mbit/s; one of which none is known counts as
/// the slowest of the others.
pub(super) fn known_speeds(channels: &[Channel]) -> impl Iterator<Item = (MemberId, u64)> + '_ {
    let slowest = channels.iter().filter_map(|channel| channel.speed_mbps).min().unwrap_or(1000);
    channels.iter().map(move |channel| (channel.id, u64::from(channel.speed_mbps.unwrap_or(slowest).max(1))))
}

impl Assignment {
    /// Every bucket stays; those of nobody go where there is room, the heaviest first.
    fn completed(seats: &[Seat], owns: &[Option<usize>], rates: &[u64]) -> Assignment {
        let mut assignment = Assignment { seats: seats.to_vec(), places: vec![None; rates.len()] };
        let (standing, lost): (Vec<usize>, Vec<usize>) =
            heaviest_first(rates).into_iter().partition(|&bucket| owns[bucket].is_some());
        for bucket in standing.into_iter().chain(lost) {
            let seat = owns[bucket].unwrap_or_else(|| assignment.roomiest());
            assignment.put(bucket, seat, rates[bucket]);
        }
        assignment
    }

    /// Every bucket goes where there is room, the heaviest first, and stays where it
    /// is if that costs nearly nothing.
    fn fresh(seats: &[Seat], owns: &[Option<usize>], rates: &[u64]) -> Assignment {
        let mut assignment = Assignment { seats: seats.to_vec(), places: vec![None; rates.len()] };
        for bucket in heaviest_first(rates) {
            let (roomiest, rate) = (assignment.roomiest(), rates[bucket]);
            let costs = |own: &usize| assignment.seats[roomiest].room - assignment.seats[*own].room;
            let seat = owns[bucket].filter(|own| costs(own) < i128::from(rate)).unwrap_or(roomiest);
            assignment.put(bucket, seat, rate);
        }
        assignment
    }

    /// Moves buckets from who has the least room to who has the most, those that
    /// bring the two closest together, until all have as much but for the slack. Where no
    /// one bucket brings them that close, two change places if that brings them closer by more than the slack.
    fn even_out(&mut self, rates: &[u64], slack: i128) {
        for _ in 0..rates.len() {
            let (to, Some(from)) = (self.roomiest(), self.fullest()) else { return };
            let gap = self.seats[to].room - self.seats[from].room;
            let left = |(gone, come): &(usize, Option<usize>)| {
                let come = come.map_or(0, |bucket| i128::from(rates[bucket]));
                (gap - 16 * (i128::from(rates[*gone]) - come)).abs()
            };
            let of =
                |seat| -> Vec<usize> { (0..rates.len()).filter(|&bucket| self.places[bucket] == Some(seat)).collect() };
            let (emptied, filled) = (of(from), of(to));
            let moves = emptied.iter().map(|&gone| (gone, None));
            let swaps = || emptied.iter().flat_map(|&gone| filled.iter().map(move |&come| (gone, Some(come))));
            let best = match moves.min_by_key(left) {
                Some(one) if left(&one) <= slack => Some(one),
                one => one.into_iter().chain(swaps()).min_by_key(left),
            };
            // Two that move have to be worth it.
            let least = |best: &(usize, Option<usize>)| if best.1.is_some() { slack } else { 0 };
            let helps = |best: &(usize, Option<usize>)| gap > slack && left(best) + least(best) < gap;
            let Some((gone, come)) = best.filter(helps) else { return };
            self.seats[from].load(-i128::from(rates[gone]));
            self.put(gone, to, rates[gone]);
            if let Some(come) = come {
                self.seats[to].load(-i128::from(rates[come]));
                self.put(come, from, rates[come]);
            }
        }
    }

    fn put(&mut self, bucket: usize, seat: usize, rate: u64) {
        self.seats[seat].load(i128::from(rate));
        self.places[bucket] = Some(seat);
    }

    /// How much more room the roomiest seat has than the fullest.
    fn gap(&self) -> i128 {
        self.fullest().map_or(0, |fullest| self.seats[self.roomiest()].room - self.seats[fullest].room)
    }

    /// The seat with the most room, of equal ones the first.
    fn roomiest(&self) -> usize {
        (1..self.seats.len())
            .fold(0, |best, seat| if self.seats[seat].room > self.seats[best].room { seat } else { best })
    }

    /// Of the seats that carry a bucket the one with the least room.
    fn fullest(&self) -> Option<usize> {
        (0..self.seats.len()).filter(|&seat| self.seats[seat].carried > 0).min_by_key(|&seat| self.seats[seat].room)
    }
}

impl Seat {
    fn load(&mut self, rate: i128) {
        self.room -= rate * 8;
        self.carried += rate;
    }
}

fn heaviest_first(rates: &[u64]) -> Vec<usize> {
    let mut loaded: Vec<usize> = (0..rates.len()).filter(|&bucket| rates[bucket] > 0).collect();
    loaded.sort_by_key(|&bucket| std::cmp::Reverse(rates[bucket]));
    loaded
}

/// The seat of each bucket that carries nothing: in turn, by speed. So
/// neighbours, whose buckets lie beside each other, begin at different members.
fn homes(seats: &[Seat]) -> Vec<usize> {
    let mut homes = vec![0; seats.len()];
    let mut next = |_| {
        let less = |a: usize, b: usize| (homes[a] + 1) * seats[b].speed_mbps < (homes[b] + 1) * seats[a].speed_mbps;
        let best = (1..seats.len()).fold(0, |best, seat| if less(seat, best) { seat } else { best });
        homes[best] += 1;
        best
    };
    (0..MAX_BUCKETS).map(&mut next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(place: usize, speed_mbps: u32) -> Channel {
        Channel { id: MemberId::new(place).unwrap(), speed_mbps: Some(speed_mbps) }
    }

    fn channels(speeds: &[u32]) -> Vec<Channel> {
        speeds.iter().enumerate().map(|(place, &speed)| channel(place, speed)).collect()
    }

    fn buckets(speeds: &[u32]) -> Buckets {
        let mut shared = Buckets::default();
        shared.follow(&channels(speeds), MemberId::new(0));
        shared.take_loads(&Loads::default(), Time::ZERO, MemberId::new(0));
        shared
    }

    fn counts(shared: &Buckets, members: usize) -> Vec<usize> {
        (0..members).map(|place| shared.table.iter().filter(|id| id.index() == place).count()).collect()
    }

    /// Megabytes a second by member.
    fn megabytes(shared: &Buckets, loads: &Loads, members: usize) -> Vec<u64> {
        let of = |place| {
            let buckets = shared.table.iter().zip(&loads.buckets).filter(move |(id, _)| id.index() == place);
            buckets.map(|(_, bytes)| bytes).sum::<u64>() / 10_000_000
        };
        (0..members).map(of).collect()
    }

    fn measure(shared: &mut Buckets, seconds: u64, loads: &Loads) {
        shared.take_loads(loads, Time::from_millis(seconds * 1000), MemberId::new(0));
    }

    #[test]
    fn buckets_without_load_are_assigned_by_speed() {
        assert_eq!(counts(&buckets(&[1000; 4]), 4), [64; 4]);
        let places: Vec<usize> = buckets(&[1000; 4]).table[..6].iter().map(|id| id.index()).collect();
        assert_eq!(places, [0, 1, 2, 3, 0, 1]);
        assert_eq!(counts(&buckets(&[1000, 2000, 1000]), 3), [64, 128, 64]);
        assert_eq!(counts(&buckets(&[10_000, 100]), 2).iter().sum::<usize>(), 256);
        assert_eq!(buckets(&[]).table(), []);
    }

    #[test]
    fn heavy_buckets_go_where_there_is_room() {
        let mut shared = buckets(&[1000; 4]);
        let mut loads = Loads::default();
        // Four buckets that all belong to the first member, 50 Mbyte/s each.
        for bucket in [0, 4, 8, 12] {
            assert_eq!(shared.table[bucket].index(), 0);
            loads.buckets[bucket] = 500_000_000;
        }
        measure(&mut shared, 10, &loads);
        assert_eq!(megabytes(&shared, &loads, 4), [50; 4]);
        let settled = shared.table.clone();
        let twice = Loads { buckets: loads.buckets.map(|bytes| bytes * 2), ..Loads::default() };
        measure(&mut shared, 20, &twice);
        assert_eq!(shared.table, settled, "what fits stays");
    }

    #[test]
    fn the_fast_member_takes_more_and_the_active_one_less() {
        let mut shared = buckets(&[1000, 4000]);
        let mut loads = Loads { other: 900_000_000, ..Loads::default() };
        loads.buckets[..8].fill(400_000_000);
        measure(&mut shared, 10, &loads);
        // 320 Mbyte/s: 2.56 Gbit/s fit the second, whose room stays larger.
        assert_eq!(megabytes(&shared, &loads, 2), [0, 320]);
    }

    #[test]
    fn loads_that_change_a_little_move_nothing_and_one_that_grows_moves_few() {
        let mut shared = buckets(&[1000; 4]);
        let mut total = Loads::default();
        let mut ten_seconds = |shared: &mut Buckets, seconds, megabytes: &dyn Fn(usize) -> u64| {
            let before = shared.table.clone();
            total.buckets[..64].iter_mut().enumerate().for_each(|(bucket, sum)| *sum += megabytes(bucket) * 1_000_000);
            measure(shared, seconds, &total);
            (0..64).filter(|&bucket| shared.table[bucket] != before[bucket]).count()
        };
        let rate = |bucket: usize| 20 + (bucket as u64 * 7) % 13;
        ten_seconds(&mut shared, 10, &rate);
        assert_eq!(ten_seconds(&mut shared, 20, &|bucket| rate(bucket) + (bucket as u64 / 4) % 2), 0);
        // One has ten times as much: some of its member's others have to go.
        let moved = ten_seconds(&mut shared, 30, &|bucket| rate(bucket) * if bucket == 5 { 10 } else { 1 });
        assert!((1..=10).contains(&moved), "{moved} moved");
        assert_eq!(ten_seconds(&mut shared, 40, &|bucket| rate(bucket) * if bucket == 5 { 10 } else { 1 }), 0);
    }

    #[test]
    fn where_no_single_move_helps_two_change_places() {
        let mut shared = buckets(&[1000; 2]);
        let mut loads = Loads::default();
        // The first has 50 and 50, the second 45 and 35: no single move helps, an exchange does.
        for (bucket, megabytes) in [(0, 500), (2, 500), (1, 450), (3, 350)] {
            assert_eq!(shared.table[bucket].index(), bucket % 2);
            loads.buckets[bucket] = megabytes * 1_000_000;
        }
        measure(&mut shared, 10, &loads);
        let carried = megabytes(&shared, &loads, 2);
        assert!(carried.iter().all(|&megabytes| (85..=95).contains(&megabytes)), "{carried:?}");
    }

    #[test]
    fn who_goes_leaves_its_buckets_alone_to_the_others() {
        let mut shared = buckets(&[1000; 4]);
        let before = shared.table.clone();
        let mut rest = channels(&[1000; 4]);
        rest.remove(1);
        shared.follow(&rest, MemberId::new(0));
        for (old, new) in before.iter().zip(&shared.table) {
            assert!(old == new || old.index() == 1);
        }
        assert_eq!(counts(&shared, 4)[1], 0);
        shared.follow(&channels(&[1000; 4]), MemberId::new(0));
        assert_eq!(shared.table, before);
    }

    #[test]
    fn a_counter_that_began_anew_is_no_load_of_ages() {
        let mut shared = buckets(&[1000; 2]);
        let mut loads = Loads::default();
        loads.buckets[3] = 1_000_000;
        measure(&mut shared, 10, &loads);
        loads.buckets[3] = 500;
        measure(&mut shared, 20, &loads);
        assert_eq!(shared.rates[3], 50);
    }
}
