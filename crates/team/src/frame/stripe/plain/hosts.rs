//! Which plain hosts there are, and what is known of each.

use std::time::Duration;

use nicteam_wire::Mac;

use super::super::peer::Sender;
use super::report::PlainHost;

/// Buckets; a power of two.
const BUCKETS: usize = crate::constants::PLAIN_HOSTS;
/// A host that nothing was sent to for so long begins anew.
const IDLE_NS: u64 = crate::constants::PLAIN_IDLE_NS;
/// One that nothing was sent to for so long leaves its bucket to another.
const LEAVES_NS: u64 = crate::constants::PLAIN_LEAVES_NS;
/// So long after a host was sent to by several members gaps that it reports may come of that.
const AFTER_NS: u64 = crate::constants::PLAIN_AFTER_NS;
/// A round trip that is longer than the shortest by this stood in a queue.
const QUEUE_NS: u64 = crate::constants::PLAIN_QUEUE_NS;
/// The same as a part of the shortest, if that is more.
const QUEUE_PART: u64 = crate::constants::PLAIN_QUEUE_PART;
/// So long no width is tried, at first, after one gained nothing.
pub(super) const HOLD_NS: u64 = crate::constants::PLAIN_HOLD_NS;

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
    /// The least that a round trip in this window was longer than its connection's shortest, and from which length on that
    /// is a queue.
    queue: Option<u64>,
    queue_limit: u64,
    /// Until then no more width is tried, and for how long it will not be after the next trial that gains nothing.
    pub(super) held_until: u64,
    pub(super) hold: u64,
    /// Windows in a row in which the last member was of no use.
    pub(super) strikes: u32,
}

impl Hosts {
    /// The host with this address, and its number; nothing if its bucket is another's.
    pub(super) fn send_to(&mut self, mac: Mac, now: u64) -> Option<(usize, &mut Host)> {
        if self.buckets.is_empty() {
            self.buckets = vec![None; BUCKETS];
        }
        let number = number(mac);
        let bucket = &mut self.buckets[number];
        let silence = |host: &Host| now.saturating_sub(host.used);
        match bucket {
            Some(host) if host.mac == mac && silence(host) < IDLE_NS => host.used = now,
            Some(host) if host.mac != mac && silence(host) < LEAVES_NS => return None,
            _ => *bucket = Some(Host::new(mac, number, now)),
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
    fn new(mac: Mac, number: usize, now: u64) -> Host {
        Host {
            mac,
            used: now,
            striped: None,
            is_reported: false,
            home: number,
            width: 1,
            proven: 1,
            since: now,
            acked: 0,
            delivered_mbps: 0,
            round_trip: 0,
            queue: None,
            queue_limit: QUEUE_NS,
            held_until: 0,
            hold: HOLD_NS,
            strikes: 0,
        }
    }

    /// The members that may be used, from home on, each with its place among these.
    pub(super) fn from_home<'a>(&self, members: &'a [Sender]) -> impl Iterator<Item = (usize, &'a Sender)> {
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

    /// A round trip took so long, where the shortest of its connection took so long.
    pub(super) fn note_round_trip(&mut self, took: u64, shortest: u64) {
        let longer = took - shortest.min(took);
        self.round_trip = took;
        self.queue_limit = QUEUE_NS.max(shortest / QUEUE_PART);
        self.queue = Some(self.queue.map_or(longer, |least| least.min(longer)));
    }

    /// True if round trips were seen in this window, and all of them stood in a queue.
    pub(super) fn has_queue(&self) -> bool {
        self.queue.is_some_and(|least| least > self.queue_limit)
    }

    /// A window ends: what it acknowledged, Mbit/s.
    pub(super) fn end_window(&mut self, now: u64) -> u64 {
        let elapsed = now.saturating_sub(self.since).max(1);
        self.delivered_mbps = self.acked * 8000 / elapsed;
        (self.since, self.acked, self.queue) = (now, 0, None);
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
    use crate::MemberId;

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
        hosts.send_to(mac(0), SECOND).unwrap().1.width = 3;
        assert!(hosts.send_to(other, 2 * SECOND - 1).is_none());
        assert_eq!(hosts.send_to(mac(0), 2 * SECOND - 1).unwrap().1.width, 3);
        assert_eq!(hosts.send_to(other, 3 * SECOND - 1).unwrap().1.width, 1);
        assert!(hosts.send_to(mac(0), 3 * SECOND).is_none());
    }

    #[test]
    fn a_host_that_was_silent_begins_anew() {
        let mut hosts = Hosts::default();
        hosts.send_to(mac(0), SECOND).unwrap().1.width = 3;
        assert_eq!(hosts.send_to(mac(0), 31 * SECOND - 1).unwrap().1.width, 3);
        assert_eq!(hosts.take_report(61 * SECOND - 2).len(), 1);
        assert_eq!(hosts.take_report(61 * SECOND - 1).len(), 0);
        assert_eq!(hosts.send_to(mac(0), 61 * SECOND - 1).unwrap().1.width, 1);
    }

    #[test]
    fn members_come_in_turn_from_home_on() {
        let sender =
            |place| Sender { id: MemberId::new(place).unwrap(), mac: mac(place as u16), rate_mbps: 100, lost_token: 0 };
        let members = [sender(1), sender(4), sender(5)];
        let mut host = Host::new(mac(9), 7, 0);
        let order = |host: &Host| -> Vec<(usize, usize)> {
            host.from_home(&members).map(|(at, sender)| (at, sender.id.index())).collect()
        };
        assert_eq!(order(&host), [(1, 4), (2, 5), (0, 1)]);
        host.home = 0;
        assert_eq!(order(&host), [(0, 1), (1, 4), (2, 5)]);
        assert_eq!(host.from_home(&[]).count(), 0);
    }

    #[test]
    fn a_queue_is_what_all_round_trips_of_a_window_stood_in() {
        const MS: u64 = 1_000_000;
        let mut host = Host::new(mac(0), 0, SECOND);
        assert!(!host.has_queue(), "none was seen");
        host.note_round_trip(8 * MS, 5 * MS);
        assert!(host.has_queue());
        host.note_round_trip(7 * MS, 5 * MS);
        assert!(!host.has_queue());
        host.acked = 2_500_000;
        assert_eq!(host.end_window(SECOND + 20 * MS), 1000);
        host.note_round_trip(44 * MS, 40 * MS);
        assert!(!host.has_queue(), "less than an eighth");
        host.end_window(SECOND + 40 * MS);
        host.note_round_trip(46 * MS, 40 * MS);
        assert!(host.has_queue());
    }

    #[test]
    fn that_it_was_striped_to_is_reported_once() {
        let mut hosts = Hosts::default();
        let (_, host) = hosts.send_to(mac(0), SECOND).unwrap();
        host.note_striped(SECOND);
        host.held_until = SECOND + 2_500_000;
        assert!(host.was_striped_to(SECOND + AFTER_NS - 1) && !host.was_striped_to(SECOND + AFTER_NS));
        let report = PlainHost { mac: mac(0), width: 1, delivered_mbps: 0, striped: true, held_ms: 2 };
        assert_eq!(hosts.take_report(SECOND), [report]);
        assert_eq!(hosts.take_report(2 * SECOND), [PlainHost { striped: false, held_ms: 0, ..report }]);
    }
}
