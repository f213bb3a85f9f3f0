//! A lost carrier counts for the next frame, at both ends.
//!
//! Processes announce to each other that a member is gone, and make plans without it. That takes milliseconds, in which
//! a sender gives a part of its frames to a member that receives nothing. So the dataplane does not wait. A frame that
//! was to leave by a member without carrier leaves by another one. If it was for a peer, a report of the lost carrier
//! follows it ([`Lost`]), and the next frames choose other members, as if the transmit backlog of this one were longer
//! by [`LEAD`]. The peer does the same about the member that the report names. That holds for [`LEAD`] at most, and in
//! no other plan: the next one may have other members by the same addresses. After that time a frame tries the member
//! again, and the peer gets another report.
//!
//! The report carries no tag: the program that writes it has no key. Two things bound what a forged one does:
//!
//! - *A contradiction ends it.* The first probe of ours that leaves for the member after the report is noted by its stamp. When
//!   it comes back, the member has carrier: the report counts no more, and for [`DISTRUST`] no further one about
//!   this member is obeyed. So a forged report keeps a member out for the time of a probe, once in a second.
//! - *A token*, with a key. Each process knows for each member of the other team a number that follows from the key and from what
//!   that team announced last of its members ([`super::Receiver::lost_token`]). The processes hand them to those who forward frames. A
//!   report without the right one is not obeyed, and each counts once: the announcement that follows a real loss
//!   brings new ones. Since the peer cannot say it twice, such a report counts for [`HELD`] unless it is contradicted, or a plan follows.
//!
//! On eBPF the program that sees carriers notes the probe: where it is missing, nothing contradicts a report, which then
//! counts for its whole time ([`LEAD`] or [`HELD`]), or until the next plan.
//!
//! Mirrored in `bpf/lost.h` and in the choice. Only there a carrier is seen (`bpf/carrier.bpf.c`): packet sockets take such
//! reports, but send none.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_machine::MemberId;
use nicteam_wire::{Frame, Hello, Lost, Mac};

use super::limits::LEAD;
use super::peer::Receiver;
use super::plan::Stripe;

/// After a contradiction no report about the member is obeyed for so long.
const DISTRUST: Duration = Duration::from_nanos(nicteam_machine::constants::LOST_DISTRUST_NS);
/// So long a report with a token counts.
const HELD: Duration = Duration::from_nanos(nicteam_machine::constants::LOST_HELD_NS);

/// Members of peers' that are reported to have no carrier.
#[derive(Clone, Debug, Default)]
pub(super) struct LostReceivers {
    /// Each with the stamp of the first probe that left for it since; 0: none did.
    stamps: BTreeMap<Mac, u64>,
    /// Nanoseconds.
    until: u64,
    /// In this plan.
    generation: u64,
    /// Whose reports are not obeyed, until when.
    distrusted: BTreeMap<Mac, u64>,
    /// Tokens that were used.
    used: BTreeMap<Mac, u64>,
}

impl LostReceivers {
    /// Which plan is in force.
    pub(super) fn follow(&mut self, generation: u64) {
        if self.generation != generation {
            (self.generation, self.until) = (generation, 0);
            self.stamps.clear();
        }
    }

    /// A report about this one, with this token.
    pub(super) fn add(&mut self, receiver: &Receiver, token: u64, now: u64) {
        let (mac, wanted) = (receiver.mac, receiver.lost_token);
        if self.distrusted.get(&mac).is_some_and(|until| now < *until) {
            return;
        }
        if wanted != 0 {
            if token != wanted || self.used.get(&mac) == Some(&wanted) {
                return;
            }
            self.used.insert(mac, wanted);
        }
        if now >= self.until {
            self.stamps.clear();
            self.until = now + if wanted == 0 { LEAD } else { HELD }.as_nanos() as u64;
        }
        self.stamps.entry(mac).or_default();
    }

    /// A probe with this stamp leaves for this member.
    pub(super) fn probe(&mut self, mac: Mac, stamp: u64) {
        if let Some(awaited) = self.stamps.get_mut(&mac).filter(|awaited| **awaited == 0) {
            *awaited = stamp;
        }
    }

    /// A probe with this stamp came back from this member.
    pub(super) fn contradict(&mut self, mac: Mac, stamp: u64, now: u64) {
        if stamp != 0 && now < self.until && self.stamps.get(&mac) == Some(&stamp) {
            self.stamps.remove(&mac);
            self.distrusted.retain(|_, until| now < *until);
            self.distrusted.insert(mac, now + DISTRUST.as_nanos() as u64);
        }
    }

    /// Forgets the tokens of members that are no peer's any more, if they became many.
    pub(super) fn tidy(&mut self, most: usize, stripe: &Stripe) {
        if self.used.len() > most {
            let is_known = |mac: &Mac| stripe.peer(*mac).is_some();
            self.used.retain(|mac, _| is_known(mac));
        }
    }

    /// For how much longer its wire seems to be taken, nanoseconds.
    pub(super) fn penalty(&self, mac: Mac, now: u64) -> u64 {
        match now < self.until && self.stamps.contains_key(&mac) {
            true => LEAD.as_nanos() as u64,
            false => 0,
        }
    }
}

/// Which member of its own a peer reports to be lost, and with which token, if that is what a member received.
pub(super) fn of_hello<'a>(stripe: &'a Stripe, member: MemberId, frame: &Frame<'_>) -> Option<(&'a Receiver, u64)> {
    let lost = Lost::of_frame(frame).filter(|_| stripe.is_senders(member, frame.dst()))?;
    let receivers = &stripe.peer(frame.src())?.receivers;
    let receiver = receivers.iter().find(|receiver| receiver.mac == lost.mac)?;
    Some((receiver, lost.token))
}

/// The member of a peer's that a probe of ours is for, and its stamp.
pub(super) fn of_probe(stripe: &Stripe, frame: &Frame<'_>) -> Option<(Mac, u64)> {
    let is_receiver = |mac| stripe.peer(mac).is_some_and(|peer| peer.receivers.iter().any(|of| of.mac == mac));
    let stamp = Hello::stamp_of_probe(frame)?;
    is_receiver(frame.dst()).then_some((frame.dst(), stamp))
}
