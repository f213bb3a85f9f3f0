//! `redundant`: each frame of a class on two paths, and one of the two at the other end.
//!
//! Both copies carry the same redundancy tag ([`nicteam_wire::Rtag`]): the number
//! of the frame among those that were tagged for this peer. The receiver delivers the copy that comes first and drops
//! the other, by the vector recovery algorithm of IEEE 802.1CB-2017, 7.4.3.4, with three changes:
//!
//! - Every number is accepted, wherever it is. The history is as long as the numbers need, half of them: a number that
//!   is no more than [`HISTORY`] behind the newest is behind it, any other is ahead. So no number is too far behind to
//!   be compared. Somebody who forges frames cannot bring the peer's own numbers into such a place: a jump ahead costs
//!   nothing. In the standard a number outside the window is dropped, and a sender that lost more frames than that is
//!   not heard until the reset.
//! - The history is a ring of words, each with the number of its block, so that nothing has to be shifted or cleared.
//! - A peer that starts anew begins anew at once, not after the reset.
//!
//! What a forged frame can do: its number counts as received, so the peer's own frame of this number is dropped. It
//! costs that one frame at most. Numbers are extended to 64 bits by the newest, which only grows, so the peer's numbers, too,
//! only grow, and none of them is taken for one of an earlier turn. When forged numbers have pushed the newest once round,
//! second copies that are under way at this moment are taken for first ones.
//!
//! Mirrored in `bpf/redundant.h`; a change here is a change there.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_wire::{Frame, Mac, ethertype};

pub use nicteam_options::{Classes, MAX_PORTS, NoClasses, Transport};

use nicteam_machine::Time;

/// So many numbers before the newest one are behind it; all others are ahead.
pub const HISTORY: u64 = nicteam_machine::constants::REDUNDANT_HISTORY as u64;
/// A peer of whom no frame was handed on for so long begins anew
/// (`frerSeqRcvyResetMSec`, by default as here).
pub const RESET: Duration = Duration::from_nanos(nicteam_machine::constants::RECOVERY_RESET_NS);
/// The shortest payload of a frame in a class: an IPv4 header.
pub const MIN_PAYLOAD: usize = nicteam_machine::constants::REDUNDANT_PAYLOAD;

/// What was sent to peers, and received from them.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    by_peer: BTreeMap<Mac, Stream>,
}

/// The tagged frames to and from one peer.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// Frames that were numbered.
    sent: u64,
    recovery: Recovery,
}

/// What was counted of one peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamCounters {
    /// Frames that were numbered and sent, by two paths or by the only one.
    pub sent: u64,
    /// Frames that were handed on.
    pub passed: u64,
    /// Second copies, dropped.
    pub duplicates: u64,
}

/// What is known of the numbers that a peer sent.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// Of which run of the peer.
    system: u64,
    /// When a frame was handed on last.
    passed_at: Time,
    /// The highest number, extended to 64 bits; 0: none yet.
    newest: u64,
    words: [Word; WORDS],
    counters: StreamCounters,
}

/// Which numbers of one block were received.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    block: u64,
    bits: u64,
}

/// What a received number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// The first of its frame.
    First,
    /// The frame was there before.
    Duplicate,
}

/// With a word more than half of the numbers fill, all numbers behind the newest have one of their own.
const WORDS: usize = nicteam_machine::constants::REDUNDANT_WORDS;
/// Numbers of a word.
const BLOCK: u64 = nicteam_machine::constants::REDUNDANT_BLOCK as u64;
/// The most peers that are remembered.
const MAX_STREAMS: usize = nicteam_machine::constants::MAX_STREAMS;

/// True if a frame is in these classes. Of IPv6 the header behind the first is looked
/// at, of a fragment only the first has ports.
pub fn holds(classes: &Classes, frame: &Frame<'_>) -> bool {
    if classes.is_off() || frame.payload().len() < MIN_PAYLOAD {
        return false;
    }
    classes.all || Packet::of(frame).is_some_and(|packet| holds_packet(classes, packet))
}

fn holds_packet(classes: &Classes, packet: Packet) -> bool {
    let has = |port: u16| packet.transport.is_some_and(|of| classes.ports.contains(&(of, port)));
    classes.dscp.contains(&packet.dscp) || packet.ports.is_some_and(|(src, dst)| has(src) || has(dst))
}

/// An IP packet, as far as a class looks.
struct Packet {
    dscp: u8,
    transport: Option<Transport>,
    ports: Option<(u16, u16)>,
}

impl Packet {
    fn of(frame: &Frame<'_>) -> Option<Packet> {
        let bytes = frame.payload();
        let (class, protocol, ports_at) = match frame.ethertype() {
            ethertype::IPV4 => {
                let &[first, class, _, _, _, _, high, low, _, protocol, ..] = bytes else { return None };
                let is_first = u16::from_be_bytes([high, low]) & 0x1fff == 0;
                (class, protocol, is_first.then_some(usize::from(first & 0xf) * 4))
            }
            ethertype::IPV6 => {
                let &[high, low, _, _, _, _, protocol, ..] = bytes else { return None };
                (high << 4 | low >> 4, protocol, Some(40))
            }
            _ => return None,
        };
        let transport = match protocol {
            6 => Some(Transport::Tcp),
            17 => Some(Transport::Udp),
            _ => None,
        };
        let ports = ports_at.and_then(|at| bytes.get(at..)?.first_chunk::<4>());
        let ports = ports.map(|&[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])));
        Some(Packet { dscp: class >> 2, transport, ports })
    }
}

impl Streams {
    /// The number of the next frame to a peer.
    pub fn number(&mut self, peer: Mac) -> u16 {
        let stream = self.stream(peer);
        stream.sent += 1;
        (stream.sent - 1) as u16
    }

    /// What a number is that this run of a peer sent.
    pub fn recover(&mut self, peer: Mac, system: u64, sequence: u16, now: Time) -> Recovered {
        self.stream(peer).recovery.recover(system, sequence, now)
    }

    /// What was counted of a peer.
    pub fn counters(&self, peer: Mac) -> StreamCounters {
        let counters = |stream: &Stream| StreamCounters { sent: stream.sent, ..stream.recovery.counters };
        self.by_peer.get(&peer).map(counters).unwrap_or_default()
    }

    fn stream(&mut self, peer: Mac) -> &mut Stream {
        if self.by_peer.len() >= MAX_STREAMS && !self.by_peer.contains_key(&peer) {
            self.by_peer.pop_first();
        }
        self.by_peer.entry(peer).or_default()
    }
}

impl Default for Recovery {
    fn default() -> Recovery {
        let counters = StreamCounters::default();
        Recovery { system: 0, passed_at: Time::ZERO, newest: 0, words: [Word::default(); WORDS], counters }
    }
}

impl Recovery {
    /// What a number is that this run of the peer sent.
    pub fn recover(&mut self, system: u64, sequence: u16, now: Time) -> Recovered {
        let begins = self.newest == 0 || self.system != system || now.since(self.passed_at) >= RESET;
        let number = if begins {
            // Beyond all words that are in use, and what is behind it, too.
            (((self.newest >> 16) + 2) << 16) | u64::from(sequence)
        } else {
            // What began is beyond the first turn, so that this is no less than nothing.
            let oldest = self.newest - HISTORY;
            oldest + u64::from(sequence.wrapping_sub(oldest as u16))
        };
        let block = number / BLOCK;
        let word = &mut self.words[(block % WORDS as u64) as usize];
        if word.block != block {
            *word = Word { block, bits: 0 };
        }
        let bit = 1 << (number % BLOCK);
        if word.bits & bit != 0 {
            self.counters.duplicates += 1;
            return Recovered::Duplicate;
        }
        word.bits |= bit;
        self.counters.passed += 1;
        (self.system, self.passed_at) = (system, now);
        if begins || number > self.newest {
            self.newest = number;
        }
        Recovered::First
    }
}
