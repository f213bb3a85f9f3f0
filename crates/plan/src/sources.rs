//! The source addresses that went out through a team, and which received frames are reflections of them.
//!
//! A team that is no aggregation at the other end gets back by one member what it sent to a group by another one, and a host
//! that moves announces itself by gratuitous ARP. As Open vSwitch 3.1 does it for the ports of a bridge that are not the bond
//! (`ofproto/ofproto-dpif-xlate.c`: `is_admissible`, `is_gratuitous_arp`; `lib/mac-learning.c`); mirrored in
//! `bpf/sources.h`, and a change here is a change there.
//!
//! - What a plan with [`Plan::notes_sources`](crate::Plan::notes_sources) sends, or would send if it had a member for it,
//!   has its source noted with the frame's VLAN, unless the source is a group address. A note lasts 300 s from the last
//!   frame; it is renewed by frames that come a second or more after it was. Sent gratuitous ARP locks it for 5 s.
//! - A received frame with a source and VLAN that are noted is a reflection, unless it is gratuitous ARP and the note is not locked:
//!   then the host has moved, and is forgotten.
//! - *Gratuitous ARP* is sent to the broadcast address, behind one tag at most, and is a reply, or a request for its sender's own address.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_machine::{Time, constants};
use nicteam_wire::{Frame, Mac, ethertype};

use super::tagged::Tagged;

/// The most sources that are remembered; the one that was silent the longest gives way.
pub const MAX_SOURCES: usize = constants::MAX_SOURCES;
/// How long a source is remembered after its last frame (`MAC_ENTRY_DEFAULT_IDLE_TIME`).
pub const IDLE: Duration = Duration::from_nanos(constants::SOURCE_IDLE_NS);
/// How long a gratuitous ARP that was sent is expected back (`MAC_GRAT_ARP_LOCK_TIME`).
pub const LOCK: Duration = Duration::from_nanos(constants::SOURCE_LOCK_NS);
/// What is younger is not renewed.
pub const RENEW: Duration = Duration::from_nanos(constants::SOURCE_RENEW_NS);

/// The sources that a dataplane noted.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    noted: BTreeMap<(Mac, u16), Note>,
}

/// What is known of a source.
#[derive(Clone, Copy, Debug)]
struct Note {
    /// When it was last renewed.
    sent: Time,
    /// Until when its gratuitous ARP is a reflection; none: it sent none.
    locked_until: Option<Time>,
}

impl Sources {
    /// The sources, with their VLANs, 0 for none, that were noted in the last 300 s.
    pub fn known(&self, now: Time) -> Vec<(Mac, u16)> {
        self.noted.iter().filter(|(_, note)| note.lasts(now)).map(|(&source, _)| source).collect()
    }

    /// Notes the source of a frame that the stack sends.
    pub(super) fn note(&mut self, frame: &Frame<'_>, now: Time) {
        let tagged = Tagged::of(frame);
        if frame.src().is_multicast() {
            return;
        }
        let locks = is_gratuitous_arp(frame.dst(), &tagged);
        let source = (frame.src(), tagged.vlan);
        let before = self.noted.get(&source).copied().filter(|note| note.lasts(now));
        if before.is_some_and(|note| !locks && now.since(note.sent) < RENEW) {
            return;
        }
        if before.is_none() {
            self.make_room(&source);
        }
        let locked_until = if locks { Some(now + LOCK) } else { before.and_then(|note| note.locked_until) };
        self.noted.insert(source, Note { sent: now, locked_until });
    }

    /// True if a received frame is a reflection. A host that moved is forgotten.
    pub(super) fn is_reflection(&mut self, frame: &Frame<'_>, now: Time) -> bool {
        let tagged = Tagged::of(frame);
        let source = (frame.src(), tagged.vlan);
        let Some(note) = self.noted.get(&source).filter(|note| note.lasts(now)) else { return false };
        let locked = note.locked_until.is_some_and(|until| now < until);
        if locked || !is_gratuitous_arp(frame.dst(), &tagged) {
            return true;
        }
        self.noted.remove(&source);
        false
    }

    fn make_room(&mut self, source: &(Mac, u16)) {
        while self.noted.len() >= MAX_SOURCES && !self.noted.contains_key(source) {
            let oldest = self.noted.iter().min_by_key(|(_, note)| note.sent).map(|(&source, _)| source);
            let Some(oldest) = oldest else { return };
            self.noted.remove(&oldest);
        }
    }
}

impl Note {
    fn lasts(&self, now: Time) -> bool {
        now.since(self.sent) < IDLE
    }
}

/// Bytes of ARP for Ethernet and IPv4 (RFC 826).
const ARP: usize = 28;
/// Its first six bytes: Ethernet, IPv4, addresses of 6 and 4 bytes.
const ARP_HEAD: [u8; 6] = [0, 1, 8, 0, 6, 4];
const REQUEST: [u8; 2] = [0, 1];
const REPLY: [u8; 2] = [0, 2];

/// `is_gratuitous_arp`.
fn is_gratuitous_arp(dst: Mac, tagged: &Tagged<'_>) -> bool {
    let Some(arp) = tagged.payload.first_chunk::<ARP>() else { return false };
    if tagged.ethertype != ethertype::ARP || dst != Mac::BROADCAST || arp[..6] != ARP_HEAD {
        return false;
    }
    match [arp[6], arp[7]] {
        REPLY => true,
        REQUEST => arp[14..18] == arp[24..28],
        _ => false,
    }
}
