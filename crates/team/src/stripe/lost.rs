//! A lost carrier counts for the next frame, at both ends.
//!
//! Processes tell each other of a member that is gone, and make plans without it: that takes milliseconds,
//! in which a sender gives a part of its frames to a member that hears nothing. So whoever
//! forwards frames does not wait. What was to leave by a member without carrier leaves by another. If it was for a peer, a word
//! about it goes behind it ([`Lost`]), and the frames that follow choose other members, as if this one's wire
//! were taken for [`LEAD`] longer than it is. The peer does the same about the member that is named.
//! That holds for so long at most, and in no other plan: the next one may have other members by the same addresses. After
//! that time a frame tries it again, and the peer is told again.
//!
//! The word carries no tag: the program that writes it has no key. Who forges one makes a member be used less, for
//! a tenth of a second, by those that have others; he could take its frames from it at the switch as well.
//!
//! Mirrored in `bpf/lost.h` and in the choice. Only there a carrier is seen (`bpf/carrier.bpf.c`): packet sockets take such
//! words, but say none.

use std::collections::BTreeSet;

use nicteam_wire::{Frame, Lost, Mac};

use super::{LEAD, Stripe};
use crate::MemberId;

/// Members of peers' that are said to have no carrier.
#[derive(Clone, Debug, Default)]
pub(super) struct LostReceivers {
    macs: BTreeSet<Mac>,
    /// Nanoseconds.
    until: u64,
    /// In this plan.
    generation: u64,
}

impl LostReceivers {
    /// Which plan is in force.
    pub(super) fn follow(&mut self, generation: u64) {
        if self.generation != generation {
            *self = LostReceivers { generation, ..LostReceivers::default() };
        }
    }

    /// This one, too.
    pub(super) fn add(&mut self, mac: Mac, now: u64) {
        if now >= self.until {
            self.macs.clear();
            self.until = now + LEAD.as_nanos() as u64;
        }
        self.macs.insert(mac);
    }

    /// For how much longer its wire seems to be taken, nanoseconds.
    pub(super) fn penalty(&self, mac: Mac, now: u64) -> u64 {
        match now < self.until && self.macs.contains(&mac) {
            true => LEAD.as_nanos() as u64,
            false => 0,
        }
    }
}

/// Which member of its own a peer says to be lost, if that is what a member received.
pub(super) fn of_hello(stripe: &Stripe, member: MemberId, frame: &Frame<'_>) -> Option<Mac> {
    let lost = Lost::of_frame(frame).filter(|_| stripe.is_senders(member, frame.dst()))?;
    let receivers = &stripe.peer(frame.src())?.receivers;
    receivers.iter().any(|receiver| receiver.mac == lost.mac).then_some(lost.mac)
}
