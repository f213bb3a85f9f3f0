//! How Open vSwitch's balance-slb and balance-tcp choose: by 256 buckets, each of one member.
//!
//! As Open vSwitch 3.1 `ofproto/bond.c` (`choose_output_member`, `lookup_bond_entry`, `get_enabled_member`),
//! mirrored in `bpf/buckets.h`; a change here is a change there. Every frame goes so, those for groups too.
//!
//! A frame's bucket follows from [`Key`]. The bucket's member is
//!
//! 1. the one in the plan's table, if that may send;
//! 2. else the one that sent the bucket's last frame, if that may send;
//! 3. else the next of those that may send, in turn.
//!
//! Which member sent a bucket's last frame, and whose turn it is, outlives plans.

use nicteam_machine::MemberId;
use nicteam_wire::Frame;

use super::action::{Action, Found};
use super::balance::Loads;
use super::hash::{flow, slb};
use super::tagged::Tagged;

/// Buckets of a bond (`BOND_BUCKETS`).
pub use super::hash::slb::BUCKETS;

/// How a frame finds its member in Open vSwitch's balance-slb and balance-tcp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// What a frame's bucket follows from.
    pub key: Key,
    /// The member of each bucket; none: the dataplane gives it one at its next frame.
    pub table: Box<[Option<MemberId>; BUCKETS]>,
    /// The members that may send, in the order in which buckets are given to them, each once. None: frames are dropped.
    pub enabled: Vec<MemberId>,
}

/// What a frame's bucket follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Its source address and VLAN (balance-slb, [`slb::bucket`]).
    Source {
        /// `bond-hash-basis`.
        basis: u32,
    },
    /// Its addresses, protocol and ports (balance-tcp, [`flow::bucket`]).
    Flow {
        /// `bond-hash-basis`.
        basis: u32,
    },
}

impl Buckets {
    /// The bucket of a frame.
    pub fn bucket(&self, frame: &Frame<'_>) -> u8 {
        match self.key {
            Key::Source { basis } => slb::bucket(frame.src(), Tagged::of(frame).vlan, basis),
            Key::Flow { basis } => flow::bucket(frame, basis),
        }
    }

    /// The member that a bucket has, by this plan and by what the dataplane counted; none: it gets one at its next frame.
    pub fn member(&self, bucket: u8, loads: &Loads) -> Option<MemberId> {
        let place = usize::from(bucket);
        let may_send = |member: &MemberId| self.enabled.contains(member);
        let given = self.table.get(place).copied().flatten().filter(may_send);
        given.or_else(|| loads.members.get(place).copied().flatten().filter(may_send))
    }
}

/// Bytes of an Ethernet header.
const HEADER: usize = 14;

/// The member of a frame, and its bucket as the number by which it was found. The frame's bytes are counted, and `turn`
/// is how many buckets were given a member so far.
pub(super) fn find(buckets: &Buckets, frame: &Frame<'_>, loads: &mut Loads, turn: &mut u32) -> Found {
    let bucket = buckets.bucket(frame);
    let place = usize::from(bucket);
    let member = buckets.member(bucket, loads).or_else(|| next(&buckets.enabled, turn));
    let Some(member) = member else { return Found::Action(Action::Drop) };
    if let (Some(last), Some(load)) = (loads.members.get_mut(place), loads.buckets.get_mut(place)) {
        *last = Some(member);
        *load += (HEADER + frame.payload().len()) as u64;
    }
    Found::Member(member, bucket.into())
}

/// Whose turn it is.
fn next(enabled: &[MemberId], turn: &mut u32) -> Option<MemberId> {
    let place = (*turn as usize).checked_rem(enabled.len())?;
    *turn = turn.wrapping_add(1);
    enabled.get(place).copied()
}
