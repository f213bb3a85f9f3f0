//! What the loader and the programs share, in the form of `bpf/plan.h`; [`laid_out_as`] holds both to the same bytes.

use nicteam_team::constants::PLAIN_OFF;
use nicteam_team::{MAX_BUCKETS, MAX_MEMBERS, MAX_QUEUE_ID, MemberId};
use nicteam_wire::{Mac, PortInfo};

use super::abi::laid_out_as;
use super::constants::*;
use crate::Programs;

/// A value that crosses the border to the kernel byte by byte.
///
/// # Safety
/// The type is `repr(C)`, has no padding, and any bytes are a value of it.
pub(super) unsafe trait Plain: Copy + Default {
    /// Its bytes.
    fn bytes(&self) -> &[u8] {
        // SAFETY: the type has no padding, so all its bytes are initialised.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).cast(), size_of::<Self>()) }
    }

    /// The value these bytes are; nothing if their number is wrong.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        // SAFETY: the length is right, any bytes are a value, and the read may be unaligned.
        (bytes.len() == size_of::<Self>()).then(|| unsafe { bytes.as_ptr().cast::<Self>().read_unaligned() })
    }
}

/// `struct plan_member`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlanMember {
    pub ifindex: u32,
    pub flags: u32,
    /// Destination and source: the bits of the stack's addresses that stay.
    pub keep: [u8; 12],
    /// The bits written in their place.
    pub put: [u8; 12],
    /// Its address, and two zeros.
    pub own: [u8; 8],
    /// `CHOOSE_STRIPE`.
    pub rate_mbps: u32,
    /// `CHOOSE_STRIPE`: its address towards peers, and two zeros.
    pub path: [u8; 8],
    /// `CHOOSE_STRIPE`: with what its lost carrier is reported, as on the wire.
    pub token: [u8; 8],
}

/// `struct plan`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub generation: u64,
    pub choose: u32,
    pub policy: u32,
    pub table_len: u32,
    pub packets_per_member: u32,
    pub igmp: u32,
    pub all: u32,
    pub balance: u32,
    pub other: u32,
    /// The team's address, and two zeros.
    pub team: [u8; 8],
    pub table: [u8; MAX_BUCKETS],
    pub members: [PlanMember; MAX_MEMBERS],
    /// How long it is executed without its process; with `CHOOSE_LEASED`.
    pub lease_ns: u64,
    /// By queue: one more than the place that it leaves by; 0: as `choose` says.
    pub queues: [u8; QUEUES],
    /// How old a gap in a TCP connection is that is told; 0: however old.
    pub sack_delay_ns: u64,
    pub downdelay_ns: u64,
    pub updelay_ns: u64,
    /// `FAILOVER_...`.
    pub failover: u32,
    pub fallback_len: u32,
    /// Places that take over, the best first.
    pub fallback: [u8; MAX_MEMBERS],
    /// By place: where it is among those; `NO_RANK`: nowhere.
    pub ranks: [u8; MAX_MEMBERS],
    /// `CHOOSE_BUCKETS`: the first `table_len` are the places that may send, in turn.
    pub enabled: [u8; MAX_MEMBERS],
    /// `CHOOSE_SOURCES`: what stands for `choose` when the source was noted.
    pub behind: u32,
    /// `CHOOSE_STRIPE`: `PLAIN_...`.
    pub plain_kind: u32,
    pub plain_len: u32,
    /// `CHOOSE_STRIPE`: the places by which frames go to plain hosts, in turn.
    pub plain: [u8; MAX_MEMBERS],
    pub zero: u32,
}

/// `struct control`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Control {
    pub layout: u32,
    pub active: u32,
    pub behind_ifindex: u32,
    pub own_clsact: u32,
}

/// `struct answer`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// When the partner last said `partner` ([`super::lease::now_ns`]); 0: since then it, or the
    /// program, said something else.
    pub heard_ns: u64,
    pub answered_ns: u64,
    /// As on the wire, and a zero.
    pub partner: [u8; 16],
    pub frame: [u8; LACPDU_FRAME_LEN],
    pub used: u16,
    /// How often the partner was told that the lease is over.
    pub last_words: u16,
}

/// `struct place`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub place: u32,
    pub own_clsact: u32,
}

/// `struct counters`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub tx_frames: u64,
    pub tx_bytes: u64,
    pub tx_drops: u64,
    pub rx_frames: u64,
    pub rx_bytes: u64,
    pub rx_drops: u64,
}

/// `struct tally`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub unsent: u64,
    pub round_robin: u64,
    pub answered: u64,
    pub withheld: u64,
}

/// `struct loads`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Loads {
    /// By bucket, and at last what is not balanced.
    pub bytes: [u64; MAX_BUCKETS + 1],
}

impl Default for Loads {
    fn default() -> Loads {
        Loads { bytes: [0; MAX_BUCKETS + 1] }
    }
}

/// `struct buckets`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Buckets {
    pub turn: u32,
    /// One more than the place that sent the bucket's last frame.
    pub members: [u32; MAX_BUCKETS],
}

/// `struct source_key`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SourceKey {
    pub mac: [u8; 6],
    pub vlan: u16,
}

/// `struct source`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    pub sent_ns: u64,
    pub locked_until_ns: u64,
}

impl Default for Buckets {
    fn default() -> Buckets {
        Buckets { turn: 0, members: [0; MAX_BUCKETS] }
    }
}

impl Buckets {
    /// The members that sent the buckets' last frames.
    pub(super) fn members(&self) -> [Option<MemberId>; MAX_BUCKETS] {
        self.members.map(|member| MemberId::new((member as usize).checked_sub(1)?))
    }
}

const _: () = {
    assert!(PLAN_SLOTS.is_power_of_two() && PLAN_SLOTS <= 32);
    assert!(QUEUES.is_power_of_two() && QUEUES > MAX_QUEUE_ID as usize);
};

laid_out_as!(plan_member, PlanMember);
laid_out_as!(plan, Plan);
laid_out_as!(control, Control);
laid_out_as!(answer, Answer);
laid_out_as!(place, Place);
laid_out_as!(counters, Counters);
laid_out_as!(tally, Tally);
laid_out_as!(loads, Loads);
laid_out_as!(buckets, Buckets);
laid_out_as!(source_key, SourceKey);
laid_out_as!(source, Source);

// SAFETY: `repr(C)`, without padding as `laid_out_as!` asserts; all fields are integers or arrays and structures of them.
unsafe impl Plain for Plan {}
// SAFETY: as above.
unsafe impl Plain for Control {}
// SAFETY: as above.
unsafe impl Plain for Place {}
// SAFETY: as above.
unsafe impl Plain for Counters {}
// SAFETY: as above.
unsafe impl Plain for Tally {}
// SAFETY: as above.
unsafe impl Plain for Loads {}
// SAFETY: as above.
unsafe impl Plain for Buckets {}
// SAFETY: as above.
unsafe impl Plain for SourceKey {}
// SAFETY: as above.
unsafe impl Plain for Source {}
// SAFETY: as above.
unsafe impl Plain for Answer {}

impl Default for Answer {
    /// Nothing is answered.
    fn default() -> Answer {
        Answer { heard_ns: 0, answered_ns: 0, partner: [0; 16], frame: [0; LACPDU_FRAME_LEN], used: 0, last_words: 0 }
    }
}

impl Answer {
    /// An answer in the kernel's form; nothing if its frame is no whole LACPDU.
    /// `heard_ns`: when the partner said what is answered.
    pub(super) fn new(answer: &nicteam_team::lacp::Answer, heard_ns: u64) -> Option<Answer> {
        let frame = answer.frame.as_slice().try_into().ok()?;
        let mut partner = [0; 16];
        partner[..PortInfo::LEN].copy_from_slice(&answer.partner.to_bytes());
        Some(Answer { heard_ns, answered_ns: 0, partner, frame, used: 1, last_words: 0 })
    }

    /// The answer of a member, if there is one.
    pub(super) fn of(&self, member: MemberId) -> Option<nicteam_team::lacp::Answer> {
        let partner = self.partner.first_chunk().map(PortInfo::from_bytes)?;
        (self.used != 0).then(|| nicteam_team::lacp::Answer { member, frame: self.frame.to_vec(), partner })
    }
}

impl Default for Plan {
    /// The plan that drops everything.
    fn default() -> Plan {
        Plan {
            generation: 0,
            choose: CHOOSE_NOBODY,
            policy: 0,
            table_len: 0,
            packets_per_member: 0,
            igmp: 0,
            all: 0,
            balance: 0,
            other: 0,
            team: [0; 8],
            table: [0; MAX_BUCKETS],
            members: [PlanMember::default(); MAX_MEMBERS],
            lease_ns: 0,
            queues: [0; QUEUES],
            sack_delay_ns: 0,
            downdelay_ns: 0,
            updelay_ns: 0,
            failover: 0,
            fallback_len: 0,
            fallback: [0; MAX_MEMBERS],
            ranks: [0; MAX_MEMBERS],
            enabled: [0; MAX_MEMBERS],
            behind: 0,
            plain_kind: PLAIN_OFF,
            plain_len: 0,
            plain: [0; MAX_MEMBERS],
            zero: 0,
        }
    }
}

impl Plan {
    /// True if frames of some queues leave by members of their own.
    pub(super) fn has_queues(&self) -> bool {
        self.queues != [0; QUEUES]
    }

    /// What can execute it.
    pub(super) fn programs(&self) -> Programs {
        if self.choose == CHOOSE_STRIPE { Programs::WithStripe } else { Programs::WithoutStripe }
    }
}

pub(super) fn padded(mac: Mac) -> [u8; 8] {
    let [a, b, c, d, e, f] = mac.0;
    [a, b, c, d, e, f, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip_and_a_wrong_length_is_refused() {
        let place = Place { place: 3, own_clsact: 1 };
        assert_eq!(Place::from_bytes(place.bytes()), Some(place));
        assert_eq!(Place::from_bytes(&place.bytes()[1..]), None);
        assert_eq!(Plan::from_bytes(&[0; size_of::<Plan>()]), Some(Plan::default()));
    }
}
