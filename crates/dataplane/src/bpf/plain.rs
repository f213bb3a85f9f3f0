//! What the programs know of hosts without nicteam, read where they write it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use libbpf_rs::MapHandle;
use nicteam_team::constants::{PLAIN_HOSTS, PLAIN_IDLE_NS};
use nicteam_team::stripe::{PlainHost, PlainMember, PlainReport};
use nicteam_team::{MAX_MEMBERS, MemberId};
use nicteam_wire::Mac;

use super::abi::laid_out_as;
use super::lease::now_ns;
use super::memory::{Memory, Shared};
use crate::Error;

/// `struct plain_host`.
#[repr(C)]
struct Host {
    /// The address as on the wire, and two zeros: one read, so that none is half another's.
    mac: AtomicU64,
    used_ns: AtomicU64,
    striped_ns: AtomicU64,
    since_ns: AtomicU64,
    acked: AtomicU64,
    rtt_ns: AtomicU64,
    queue_ns: AtomicU64,
    queue_limit_ns: AtomicU64,
    trial_ns: AtomicU64,
    held_until_ns: AtomicU64,
    hold_ns: AtomicU64,
    width: AtomicU32,
    proven: AtomicU32,
    home: AtomicU32,
    strikes: AtomicU32,
    delivered_mbps: AtomicU32,
    striped: AtomicU32,
    round_trips: AtomicU32,
    zero: AtomicU32,
}

/// `struct plain_count`.
#[repr(C)]
struct Count {
    sent: AtomicU64,
    resent: AtomicU64,
}

/// `struct plain_seen`.
#[repr(C)]
struct Seen {
    hosts: [Host; PLAIN_HOSTS],
    counts: [Count; MAX_MEMBERS],
}

laid_out_as!(plain_host, Host);
laid_out_as!(plain_count, Count);
laid_out_as!(plain_seen, Seen);

// SAFETY: `repr(C)`, of atomic integers alone.
unsafe impl Shared for Seen {}

/// The plain hosts of one team.
pub(super) struct PlainSeen(Memory<Seen>);

impl PlainSeen {
    /// Of this map, of programs with stripe.
    pub(super) fn new(map: &MapHandle) -> Result<PlainSeen, Error> {
        Ok(PlainSeen(Memory::new(map)?))
    }

    /// What is known now; that a host was striped to, once.
    pub(super) fn report(&self) -> PlainReport {
        let (seen, now) = (self.0.get(), now_ns());
        let hosts = seen.hosts.iter().filter_map(|host| host.report(now)).collect();
        let member = |(place, count): (usize, &Count)| {
            let (sent, resent) = (count.sent.load(Relaxed), count.resent.load(Relaxed));
            let id = MemberId::new(place).filter(|_| sent > 0)?;
            Some(PlainMember { id, sent, resent })
        };
        PlainReport { hosts, members: seen.counts.iter().enumerate().filter_map(member).collect() }
    }
}

impl Host {
    fn report(&self, now: u64) -> Option<PlainHost> {
        let width = self.width.load(Relaxed);
        if width == 0 || now.saturating_sub(self.used_ns.load(Relaxed)) >= PLAIN_IDLE_NS {
            return None;
        }
        let [a, b, c, d, e, f, _, _] = self.mac.load(Relaxed).to_ne_bytes();
        let striped = self.striped.load(Relaxed) != 0 && self.striped.swap(0, Relaxed) != 0;
        let held = Duration::from_nanos(self.held_until_ns.load(Relaxed).saturating_sub(now));
        Some(PlainHost {
            mac: Mac([a, b, c, d, e, f]),
            width: u8::try_from(width).unwrap_or(u8::MAX),
            delivered_mbps: self.delivered_mbps.load(Relaxed),
            striped,
            held_ms: u32::try_from(held.as_millis()).unwrap_or(u32::MAX),
        })
    }
}
