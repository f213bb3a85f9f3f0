//! Which plain hosts there are, and what is known of each.

use std::time::Duration;

use nicteam_wire::Mac;

use super::super::peer::Sender;
use super::report::PlainHost;
use super::trip::RoundTrip;

/// Buckets; a power of two.
const BUCKETS: usize = nicteam_machine::constants::PLAIN_HOSTS;
/// A host that nothing was sent to for so long begins anew.
const IDLE_NS: u64 = nicteam_machine::constants::PLAIN_IDLE_NS;
/// One that nothing was sent to for so long leaves its bucket to another.
const LEAVES_NS: u64 = nicteam_machine::constants::PLAIN_LEAVES_NS;
/// So long after a host was sent to by several members gaps that it reports may come of that.
const AFTER_NS: u64 = nicteam_machine::constants::PLAIN_AFTER_NS;
/// A round trip that is longer than the shortest by this, and by this part of the shortest, stood in a queue.
const QUEUE_NS: u64 = nicteam_machine::constants::PLAIN_QUEUE_NS;
const QUEUE_PART: u64 = nicteam_machine::constants::PLAIN_QUEUE_PART;
/// So many round trips are needed to say so.
const ROUND_TRIPS: u32 = nicteam_machine::constants::PLAIN_ROUND_TRIPS;
/// So long no width is tried, at first, after one gained nothing.
pub(super) const HOLD_NS: u64 = nicteam_machine::constants::PLAIN_HOLD_NS;

/// The hosts that were sent to.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    /// By hash; empty until there is one.
    buckets: Vec<Option<Host>>,
}

/// A host; times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Host {
    mac: Mac,
    /// When a frame went to it last.
    used: u64,
    /// When one did that had several members to choose from; none did yet.
    striped: Option<u64>,
    /// One did since the last report.
    is_reported: bool,
    /// Which of the members that may be used is the first.
    pub(super) home: usize,
    /// How many are used, from home on, and how many of these gained something; each at least 1.
    pub(super) width: usize,
    pub(super) proven: usize,
    /// Since when what it acknowledges is added up, bytes.
    pub(super) since: u64,
    pub(super) acked: u64,
    /// What it acknowledged in the window before, Mbit/s.
    pub(super) delivered_mbps: u64,
    /// The last round trip; 0: none was seen.
    pub(super) round_trip: u64,
    /// For how long those of this window stood in queues that are not ours, at least, how many they are, and from which length on
    /// that says something.
    queue: u64,
    round_trips: u32,
    queue_limit: u64,
    /// Since when a width is tried: what left before says nothing of it.
    pub(super) trial: u64,
    /// Until then no more width is tried, and for how long it will not be after the next trial that gains nothing.
    pub(super) held_until: u64,
    pub(super) hold: u64,
    /// Windows in a row in which the last member was of no use.
    pub(super) strikes: u32,
}

impl Hosts {
    /// The host with this address, and its number; nothing if its bucket is another's. So many members may be used towards it.
    pub(super) fn send_to(&mut self, mac: Mac, members: usize, now: u64) -> Option<(usize, &mut Host)> {
        if self.buckets.is_empty() {
            self.buckets = vec![None; BUCKETS];
        }
        let number = number(mac);
        let bucket = &mut self.buckets[number];
        let silence = |host: &Host| now.saturating_sub(host.used);
        match bucket {
            Some(host) if host.mac == mac && silence(host) < IDLE_NS => host.used = now,
            Some(host) if host.mac != mac && silence(host) < LEAVES_NS => return None,
            _ => *bucket = Some(Host::new(mac, number, members, now)),
        }
        Some((number, bucket.as_mut()?))
    }

    /// The host with this address, if something was sent to it.
    pub(super) fn with_address(&mut self, mac: Mac) -> Option<&mut Host> {
        self.get_mut(number(mac)).filter(|host| host.mac == mac)
    }

    /// The host with this number, if there is one.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Host> {
        self.buckets.get_mut(number)?.as_mut()
    }

    /// Those that were sent to lately; that one was striped to, once.
    pub(super) fn take_report(&mut self, now: u64) -> Vec<PlainHost> {
        let hosts = self.buckets.iter_mut().flatten();
        hosts.filter(|host| now.saturating_sub(host.used) < IDLE_NS).map(|host| host.take_report(now)).collect()
    }
}

impl Host {
    fn new(mac: Mac, number: usize, members: usize, now: u64) -> Host {
        Host {
            mac,
            used: now,
            striped: None,
            is_reported: false,
            home: number,
            width: members.max(1),
            proven: 1,
            since: now,
            acked: 0,
            delivered_mbps: 0,
            round_trip: 0,
            queue: u64::MAX,
            round_trips: 0,
            queue_limit: QUEUE_NS,
            trial: now,
            held_until: 0,
            hold: HOLD_NS,
            strikes: 0,
        }
    }

    /// The members that may be used, from home on, each with its place among these.
    pub(super) fn in_turn<'a>(&self, members: &'a [Sender]) -> impl Iterator<Item = (usize, &'a Sender)> {
        let (behind, ahead) = members.split_at(self.home % members.len().max(1));
        let first = behind.len();
        let ahead = ahead.iter().enumerate().map(move |(at, sender)| (first + at, sender));
        ahead.chain(behind.iter().enumerate())
    }

    /// A frame leaves for it that had several members to choose from.
    pub(super) fn note_striped(&mut self, now: u64) {
        (self.striped, self.is_reported) = (Some(now), true);
    }

    /// True if gaps that it reports may come of frames that went by several members.
    pub(super) fn was_striped_to(&self, now: u64) -> bool {
        self.striped.is_some_and(|striped| now < striped + AFTER_NS)
    }

    /// A round trip to it and back.
    pub(super) fn note_round_trip(&mut self, trip: &RoundTrip) {
        self.round_trip = trip.took;
        self.queue_limit = QUEUE_NS + trip.shortest / QUEUE_PART;
        if trip.left >= self.trial && trip.counts {
            self.round_trips += 1;
            self.queue = self.queue.min(trip.queued);
        }
    }

    /// True if several round trips were seen in this window, and all of them stood in a queue.
    pub(super) fn has_queue(&self) -> bool {
        self.round_trips >= ROUND_TRIPS && self.queue > self.queue_limit
    }

    /// A window ends: what it acknowledged, Mbit/s.
    pub(super) fn end_window(&mut self, now: u64) -> u64 {
        let elapsed = now.saturating_sub(self.since).max(1);
        self.delivered_mbps = self.acked * 8000 / elapsed;
        (self.since, self.acked) = (now, 0);
        (self.queue, self.round_trips) = (u64::MAX, 0);
        self.delivered_mbps
    }

    fn take_report(&mut self, now: u64) -> PlainHost {
        let held = Duration::from_nanos(self.held_until.saturating_sub(now));
        PlainHost {
            mac: self.mac,
            width: u8::try_from(self.width).unwrap_or(u8::MAX),
            delivered_mbps: u32::try_from(self.delivered_mbps).unwrap_or(u32::MAX),
            striped: std::mem::take(&mut self.is_reported),
            held_ms: u32::try_from(held.as_millis()).unwrap_or(u32::MAX),
        }
    }
}

/// In which bucket an address is.
fn number(mac: Mac) -> usize {
    let [a, b, c, d, e, f] = mac.0;
    let (high, low) = (u32::from_be_bytes([0, 0, a, b]), u32::from_be_bytes([c, d, e, f]));
    let mixed = (low ^ high.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0x9e37_79b1);
    (mixed >> 16) as usize & (BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_machine::MemberId;

    const SECOND: u64 = 1_000_000_000;

    fn mac(last: u16) -> Mac {
        let [high, low] = last.to_be_bytes();
        Mac([2, 7, 0, 0, high, low])
    }

    #[test]
    fn hosts_in_a_row_have_buckets_and_homes_of_their_own() {
        let numbers: std::collections::BTreeSet<usize> = (0..64).map(|last| number(mac(last))).collect();
        assert!(numbers.len() > 56, "{} of 64", numbers.len());
        let mut homes = [0; 4];
        (0..64).for_each(|last| homes[number(mac(last)) % 4] += 1);
        assert!(homes.iter().all(|&hosts| hosts > 8), "{homes:?}");
    }

    #[test]
    fn a_bucket_is_left_to_another_host_after_a_second() {
        let other = (1..).map(mac).find(|other| number(*other) == number(mac(0))).unwrap();
        let mut hosts = Hosts::default();
        hosts.send_to(mac(0), 4, SECOND).unwrap().1.width = 3;
        assert!(hosts.send_to(other, 4, 2 * SECOND - 1).is_none());
        assert_eq!(hosts.send_to(mac(0), 4, 2 * SECOND - 1).unwrap().1.width, 3);
        assert_eq!(hosts.send_to(other, 4, 3 * SECOND - 1).unwrap().1.width, 4);
        assert!(hosts.send_to(mac(0), 4, 3 * SECOND).is_none());
    }

    #[test]
    fn a_host_that_was_silent_begins_anew() {
        let mut hosts = Hosts::default();
        hosts.send_to(mac(0), 4, SECOND).unwrap().1.width = 3;
        assert_eq!(hosts.send_to(mac(0), 4, 31 * SECOND - 1).unwrap().1.width, 3);
        assert_eq!(hosts.take_report(61 * SECOND - 2).len(), 1);
        assert_eq!(hosts.take_report(61 * SECOND - 1).len(), 0);
        assert_eq!(hosts.send_to(mac(0), 4, 61 * SECOND - 1).unwrap().1.width, 4);
    }

    #[test]
    fn members_come_in_turn_from_home_on() {
        let sender =
            |place| Sender { id: MemberId::new(place).unwrap(), mac: mac(place as u16), rate_mbps: 100, lost_token: 0 };
        let members = [sender(1), sender(4), sender(5)];
        let mut host = Host::new(mac(9), 7, 3, 0);
        let order = |host: &Host| -> Vec<(usize, usize)> {
            host.in_turn(&members).map(|(at, sender)| (at, sender.id.index())).collect()
        };
        assert_eq!(order(&host), [(1, 4), (2, 5), (0, 1)]);
        host.home = 0;
        assert_eq!(order(&host), [(0, 1), (1, 4), (2, 5)]);
        assert_eq!(host.in_turn(&[]).count(), 0);
    }

    #[test]
    fn a_queue_is_what_several_round_trips_of_a_window_and_all_of_them_stood_in() {
        const MS: u64 = 1_000_000;
        let trip = |queued: u64| RoundTrip { left: SECOND, took: 30 * MS, shortest: 4 * MS, queued, counts: true };
        let mut host = Host::new(mac(0), 0, 4, SECOND);
        let mut has_queue = |trips: &[RoundTrip]| {
            trips.iter().for_each(|trip| host.note_round_trip(trip));
            let has_queue = host.has_queue();
            host.acked = 2_500_000;
            let ended = host.since + 20 * MS;
            assert_eq!(host.end_window(ended), 1000);
            has_queue
        };
        // Two milliseconds, and a fourth of the shortest.
        let (long, short) = (trip(3 * MS + 1), trip(3 * MS));
        assert!(!has_queue(&[]));
        assert!(!has_queue(&[long; 2]));
        assert!(has_queue(&[long; 3]));
        assert!(!has_queue(&[long, short, long, long]));
        let [early, small] = [RoundTrip { left: SECOND - 1, ..short }, RoundTrip { counts: false, ..short }];
        assert!(has_queue(&[long, early, long, small, long]), "these say nothing");
        assert!(!has_queue(&[long, long, small]));
        assert!(!has_queue(&[long; 2]), "each window anew");
    }

    #[test]
    fn that_it_was_striped_to_is_reported_once() {
        let mut hosts = Hosts::default();
        let (_, host) = hosts.send_to(mac(0), 4, SECOND).unwrap();
        host.note_striped(SECOND);
        host.held_until = SECOND + 2_500_000;
        assert!(host.was_striped_to(SECOND + AFTER_NS - 1) && !host.was_striped_to(SECOND + AFTER_NS));
        let report = PlainHost { mac: mac(0), width: 4, delivered_mbps: 0, striped: true, held_ms: 2 };
        assert_eq!(hosts.take_report(SECOND), [report]);
        assert_eq!(hosts.take_report(2 * SECOND), [PlainHost { striped: false, held_ms: 0, ..report }]);
    }
}
