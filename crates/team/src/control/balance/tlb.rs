//! Which member each bucket of frames leaves by.
//!
//! As Linux 6.1 drivers/net/bonding/bond_alb.c: the next bucket goes to the
//! member with the most room, its speed less its load (`compute_gap`,
//! `tlb_get_least_loaded_slave`); every ten seconds all buckets are dealt anew by
//! the bytes they carried (`bond_alb_monitor`), and what the active member sent
//! unbalanced is a load from the start. Three differences:
//! - The kernel deals a bucket when its first frame comes, in that order; here
//!   all are dealt at once, the heaviest first. So buckets without load have a
//!   member, too: as many as its share of the speed (in the kernel all go to the
//!   fastest member, of equal ones to the first, until the next deal).
//! - A bucket stays where it is if that costs less than an eighth of its load in
//!   room: the kernel moves flows, and so reorders frames, without need.
//! - Speeds are not cut to 12 bits (the kernel takes 10 Gbit/s for 1808 Mbit/s);
//!   a member of which none is known counts as the slowest of the others.

use crate::balance::Loads;
use crate::{MAX_BUCKETS, MemberId, Time};

/// A member that can send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Channel {
    pub(super) id: MemberId,
    pub(super) speed_mbps: Option<u32>,
}

/// The buckets.
#[derive(Clone, Debug, Default)]
pub(super) struct Tlb {
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

/// A member while buckets are dealt.
struct Seat {
    id: MemberId,
    speed_mbps: u64,
    /// Bits a second that it has left.
    room: i128,
    /// Buckets whose home it is.
    homes: u64,
}

impl Tlb {
    /// The members by bucket.
    pub(super) fn table(&self) -> &[MemberId] {
        &self.table
    }

    /// Lets the buckets follow the members: those of a member that is gone go to
    /// the others; a new one, or another speed, makes it a new deal.
    pub(super) fn follow(&mut self, channels: &[Channel], active: Option<MemberId>) {
        if channels == self.channels {
            return;
        }
        let anew = channels.iter().any(|channel| !self.channels.contains(channel));
        self.channels = channels.to_vec();
        self.deal(anew, active);
    }

    /// Takes in what was counted since the dataplane began, and deals anew.
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
            self.deal(true, active);
        }
        self.last = Some((now, Box::new(loads.clone())));
    }

    fn deal(&mut self, anew: bool, active: Option<MemberId>) {
        let mut seats = self.seats(active);
        if seats.is_empty() {
            self.table.clear();
            return;
        }
        let rate = |bucket: usize| self.rates.get(bucket).copied().unwrap_or(0);
        let mut loaded: Vec<usize> = (0..MAX_BUCKETS).filter(|&bucket| rate(bucket) > 0).collect();
        loaded.sort_by_key(|&bucket| std::cmp::Reverse(rate(bucket)));
        let idle: Vec<usize> = (0..MAX_BUCKETS).filter(|&bucket| rate(bucket) == 0).collect();
        let mut dealt: Vec<Option<usize>> = vec![None; MAX_BUCKETS];
        let seat_of = |bucket: usize, seats: &[Seat]| {
            let id = self.table.get(bucket)?;
            seats.iter().position(|seat| seat.id == *id)
        };
        for &bucket in loaded.iter().filter(|_| !anew) {
            dealt[bucket] = seat_of(bucket, &seats).inspect(|&seat| seats[seat].load(rate(bucket)));
        }
        for bucket in loaded {
            if dealt[bucket].is_none() {
                let seat = roomiest(&seats, seat_of(bucket, &seats), rate(bucket));
                seats[seat].load(rate(bucket));
                dealt[bucket] = Some(seat);
            }
        }
        let homes = homes(&mut seats);
        for bucket in idle {
            let stays = seat_of(bucket, &seats).filter(|_| !anew);
            dealt[bucket] = Some(stays.unwrap_or(homes[bucket]));
        }
        self.table = dealt.into_iter().flatten().map(|seat| seats[seat].id).collect();
    }

    fn seats(&self, active: Option<MemberId>) -> Vec<Seat> {
        let slowest = self.channels.iter().filter_map(|channel| channel.speed_mbps).min().unwrap_or(1000);
        let seat = |channel: &Channel| {
            let speed_mbps = u64::from(channel.speed_mbps.unwrap_or(slowest).max(1));
            let other = if active == Some(channel.id) { self.other_rate } else { 0 };
            Seat { id: channel.id, speed_mbps, room: i128::from(speed_mbps << 20) - i128::from(other) * 8, homes: 0 }
        };
        self.channels.iter().map(seat).collect()
    }
}

impl Seat {
    fn load(&mut self, rate: u64) {
        self.room -= i128::from(rate) * 8;
    }
}

/// The seat with the most room, of equal ones the first; the bucket's own if it
/// has nearly as much.
fn roomiest(seats: &[Seat], own: Option<usize>, rate: u64) -> usize {
    let most = seats.iter().map(|seat| seat.room).max().unwrap_or(0);
    let nearly = |&own: &usize| most - seats[own].room < i128::from(rate);
    let first = || seats.iter().position(|seat| seat.room == most).unwrap_or(0);
    own.filter(nearly).unwrap_or_else(first)
}

/// The seat of each bucket that carries nothing: in turn, by speed. So
/// neighbours, whose buckets lie beside each other, begin at different members.
fn homes(seats: &mut [Seat]) -> Vec<usize> {
    let less = |a: &Seat, b: &Seat| (a.homes + 1) * b.speed_mbps < (b.homes + 1) * a.speed_mbps;
    let next = |_| {
        let best = (1..seats.len()).fold(0, |best, seat| if less(&seats[seat], &seats[best]) { seat } else { best });
        seats[best].homes += 1;
        best
    };
    (0..MAX_BUCKETS).map(next).collect()
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

    fn tlb(speeds: &[u32]) -> Tlb {
        let mut tlb = Tlb::default();
        tlb.follow(&channels(speeds), MemberId::new(0));
        tlb.take_loads(&Loads::default(), Time::ZERO, MemberId::new(0));
        tlb
    }

    fn counts(tlb: &Tlb, members: usize) -> Vec<usize> {
        (0..members).map(|place| tlb.table.iter().filter(|id| id.index() == place).count()).collect()
    }

    /// Megabytes a second by member.
    fn megabytes(tlb: &Tlb, loads: &Loads, members: usize) -> Vec<u64> {
        let of = |place| {
            let buckets = tlb.table.iter().zip(&loads.buckets).filter(move |(id, _)| id.index() == place);
            buckets.map(|(_, bytes)| bytes).sum::<u64>() / 10_000_000
        };
        (0..members).map(of).collect()
    }

    fn measure(tlb: &mut Tlb, seconds: u64, loads: &Loads) {
        tlb.take_loads(loads, Time::from_millis(seconds * 1000), MemberId::new(0));
    }

    #[test]
    fn buckets_without_load_are_dealt_by_speed() {
        assert_eq!(counts(&tlb(&[1000; 4]), 4), [64; 4]);
        let places: Vec<usize> = tlb(&[1000; 4]).table[..6].iter().map(|id| id.index()).collect();
        assert_eq!(places, [0, 1, 2, 3, 0, 1]);
        assert_eq!(counts(&tlb(&[1000, 2000, 1000]), 3), [64, 128, 64]);
        assert_eq!(counts(&tlb(&[10_000, 100]), 2).iter().sum::<usize>(), 256);
        assert_eq!(tlb(&[]).table(), []);
    }

    #[test]
    fn heavy_buckets_go_where_there_is_room() {
        let mut tlb = tlb(&[1000; 4]);
        let mut loads = Loads::default();
        // Four buckets that all belong to the first member, 50 Mbyte/s each.
        for bucket in [0, 4, 8, 12] {
            assert_eq!(tlb.table[bucket].index(), 0);
            loads.buckets[bucket] = 500_000_000;
        }
        measure(&mut tlb, 10, &loads);
        assert_eq!(megabytes(&tlb, &loads, 4), [50; 4]);
        let settled = tlb.table.clone();
        let twice = Loads { buckets: loads.buckets.map(|bytes| bytes * 2), other: 0 };
        measure(&mut tlb, 20, &twice);
        assert_eq!(tlb.table, settled, "what fits stays");
    }

    #[test]
    fn the_fast_member_takes_more_and_the_active_one_less() {
        let mut tlb = tlb(&[1000, 4000]);
        let mut loads = Loads { other: 900_000_000, ..Loads::default() };
        loads.buckets[..8].fill(400_000_000);
        measure(&mut tlb, 10, &loads);
        // 320 Mbyte/s: 2.56 Gbit/s fit the second, whose room stays larger.
        assert_eq!(megabytes(&tlb, &loads, 2), [0, 320]);
    }

    #[test]
    fn who_goes_leaves_its_buckets_alone_to_the_others() {
        let mut tlb = tlb(&[1000; 4]);
        let before = tlb.table.clone();
        let mut rest = channels(&[1000; 4]);
        rest.remove(1);
        tlb.follow(&rest, MemberId::new(0));
        for (old, new) in before.iter().zip(&tlb.table) {
            assert!(old == new || old.index() == 1);
        }
        assert_eq!(counts(&tlb, 4)[1], 0);
        tlb.follow(&channels(&[1000; 4]), MemberId::new(0));
        assert_eq!(tlb.table, before);
    }

    #[test]
    fn a_counter_that_began_anew_is_no_load_of_ages() {
        let mut tlb = tlb(&[1000; 2]);
        let mut loads = Loads::default();
        loads.buckets[3] = 1_000_000;
        measure(&mut tlb, 10, &loads);
        loads.buckets[3] = 500;
        measure(&mut tlb, 20, &loads);
        assert_eq!(tlb.rates[3], 50);
    }
}
