//! How balance-tlb and balance-alb choose: by buckets.
//!
//! As Linux 6.1 `drivers/net/bonding/bond_alb.c` (`bond_xmit_tlb_slave_get`,
//! `bond_xmit_alb_slave_get`, `alb_determine_nd`), mirrored in `bpf/balance.h`;
//! a change here is a change there. *B* are the bytes behind the EtherType, as
//! in [`crate::hash`]; a tag among them makes the frame neither IP nor ARP.
//!
//! | | [`Eligible::Tlb`] | [`Eligible::Alb`] |
//! |---|---|---|
//! | IPv4 | to a unicast Ethernet address | 20 bytes of *B*; not to Ethernet broadcast, not to 255.255.255.255, not IGMP |
//! | IPv6 | the same, and no neighbour discovery | not to Ethernet broadcast or `33:33:00:00:00:01`, not from `::`, and no neighbour discovery |
//! | others | never | never |
//!
//! *Neighbour discovery* is a solicitation or an advertisement (next header 58,
//! type 135 or 136), and what is too short to tell: fewer than 40 bytes of *B*,
//! or with next header 58 fewer than 48.

use nicteam_wire::{Frame, Mac, ethertype};

pub use nicteam_options::mode::Eligible;

use super::action::{Action, Found};
use super::hash;
use nicteam_machine::bytes::{Reader, Unreadable};
use nicteam_machine::constants::MAX_PUNTED;
use nicteam_machine::state::State;
use nicteam_machine::{MemberId, MemberSet};
use nicteam_options::HashPolicy;

/// The longest table a number can choose from.
pub const MAX_BUCKETS: usize = nicteam_machine::constants::MAX_BUCKETS;

/// How a frame finds its member in balance-tlb and balance-alb.
///
/// A frame that may be balanced goes to `table[number % table.len()]`, any
/// other to `active`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Which frames may be balanced.
    pub eligible: Eligible,
    /// What a frame's number is.
    pub number: Number,
    /// The members by bucket: 1 to [`MAX_BUCKETS`].
    pub table: Vec<MemberId>,
    /// The member of the frames that are not balanced.
    pub active: MemberId,
    /// Whether bytes are counted by bucket ([`Loads`]).
    pub counted: bool,
    /// What of the stack is punted, if anything is.
    pub punt: Option<Punt>,
}

impl Balance {
    /// The number of a frame; none: it is not balanced, and leaves by the active member.
    pub fn number_of(eligible: Eligible, of: Number, frame: &Frame<'_>) -> Option<u32> {
        is_eligible(eligible, frame).then(|| number(of, frame))
    }
}

/// The stack's ARP that comes from the team's address, and perhaps its
/// neighbour solicitations and advertisements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Punt {
    /// The team's address.
    pub from: Mac,
    /// Solicitations and advertisements, too.
    pub neighbours: bool,
}

/// What a balanced frame's number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Its hash by this policy.
    Hash(HashPolicy),
    /// All bytes of its IP destination, XORed (`_simple_hash`).
    Destination,
}

/// Bytes that the stack sent, since the dataplane began to count: from the
/// destination address to the end of the payload, a tag beside the frame left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loads {
    /// Of balanced frames, by bucket.
    pub buckets: [u64; MAX_BUCKETS],
    /// The member by which each bucket's last frame left, of plans that choose by
    /// [`Buckets`](crate::Buckets), whose [`Buckets::member`](crate::Buckets::member) says which one it has now; none: no frame left.
    pub members: [Option<MemberId>; MAX_BUCKETS],
    /// Of the others.
    pub other: u64,
}

impl Default for Loads {
    fn default() -> Loads {
        Loads { buckets: [0; MAX_BUCKETS], members: [None; MAX_BUCKETS], other: 0 }
    }
}

impl State for Loads {
    fn put(&self, to: &mut Vec<u8>) {
        let Loads { buckets, members, other } = self;
        buckets.put(to);
        members.put(to);
        other.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Loads, Unreadable> {
        let buckets: [u64; MAX_BUCKETS] = State::take(from)?;
        Ok(Loads { buckets, members: State::take(from)?, other: State::take(from)? })
    }
}

/// What to do with a frame from the stack.
pub(super) fn choose(balance: &Balance, frame: &Frame<'_>, loads: &mut Loads) -> Action {
    match find(balance, frame, loads) {
        Found::Member(member, _) => Action::Send(MemberSet::one(member)),
        Found::Action(action) => action,
    }
}

/// The same, and by which number the member was found.
pub(super) fn find(balance: &Balance, frame: &Frame<'_>, loads: &mut Loads) -> Found {
    if punts(balance, frame) {
        return Found::Action(Action::Punt);
    }
    let number = Balance::number_of(balance.eligible, balance.number, frame);
    let bucket = number.and_then(|number| (number as usize).checked_rem(balance.table.len()));
    let (member, load) = match bucket {
        Some(bucket) => (balance.table.get(bucket), loads.buckets.get_mut(bucket)),
        None => (Some(&balance.active), Some(&mut loads.other)),
    };
    if balance.counted
        && let Some(load) = load
    {
        *load += (HEADER + frame.payload().len()) as u64;
    }
    let number = number.filter(|_| bucket.is_some()).unwrap_or(0);
    member.map_or(Found::Action(Action::Drop), |member| Found::Member(*member, number))
}

/// True if the frame goes to the control side.
pub(super) fn punts(balance: &Balance, frame: &Frame<'_>) -> bool {
    let is_punted = |punt: Punt| {
        let wanted = punt.neighbours || frame.ethertype() == ethertype::ARP;
        frame.src() == punt.from && wanted && HEADER + frame.payload().len() <= MAX_PUNTED && is_resolution(frame)
    };
    balance.punt.is_some_and(is_punted)
}

/// All bytes XORed: the kernel's `_simple_hash`.
pub fn simple_hash(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum ^ byte)
}

/// Bytes of an Ethernet header.
const HEADER: usize = 14;
/// Bytes of an IPv4 header without options.
const IPV4_HEADER: usize = 20;
/// Bytes of an IPv6 header.
const IPV6_HEADER: usize = 40;
/// Bytes of an ICMPv6 header (`struct icmp6hdr`).
const ICMPV6_HEADER: usize = 8;
const IGMP: u8 = 2;
const ICMPV6: u8 = 58;
/// Neighbour solicitation and advertisement (RFC 4861).
const NEIGHBOUR_DISCOVERY: [u8; 2] = [135, 136];
/// `33:33:00:00:00:01`, which every IPv6 node hears.
const ALL_NODES: Mac = Mac([0x33, 0x33, 0, 0, 0, 1]);

/// True if the frame may be balanced.
pub(super) fn is_eligible(eligible: Eligible, frame: &Frame<'_>) -> bool {
    let (dst, bytes) = (frame.dst(), frame.payload());
    match (eligible, frame.ethertype()) {
        (Eligible::Tlb, ethertype::IPV4) => !dst.is_multicast(),
        (Eligible::Tlb, ethertype::IPV6) => !dst.is_multicast() && neighbour_discovery(bytes) == Kind::Other,
        (Eligible::Alb, ethertype::IPV4) => match bytes.first_chunk::<IPV4_HEADER>() {
            Some(header) => dst != Mac::BROADCAST && header[16..20] != [0xff; 4] && header[9] != IGMP,
            None => false,
        },
        (Eligible::Alb, ethertype::IPV6) => {
            dst != Mac::BROADCAST
                && dst != ALL_NODES
                && neighbour_discovery(bytes) == Kind::Other
                && bytes.get(8..24).is_some_and(|source| source != [0; 16])
        }
        _ => false,
    }
}

fn number(number: Number, frame: &Frame<'_>) -> u32 {
    match number {
        Number::Hash(policy) => hash::hash(policy, frame),
        Number::Destination => {
            let destination = if frame.ethertype() == ethertype::IPV4 { 16..20 } else { 24..40 };
            frame.payload().get(destination).map_or(0, simple_hash).into()
        }
    }
}

/// ARP, or neighbour discovery that is whole enough to tell.
pub(super) fn is_resolution(frame: &Frame<'_>) -> bool {
    match frame.ethertype() {
        ethertype::ARP => true,
        ethertype::IPV6 => neighbour_discovery(frame.payload()) == Kind::NeighbourDiscovery,
        _ => false,
    }
}

/// What an IPv6 packet is.
#[derive(PartialEq, Eq)]
enum Kind {
    NeighbourDiscovery,
    Short,
    Other,
}

/// `alb_determine_nd`.
fn neighbour_discovery(bytes: &[u8]) -> Kind {
    let Some(header) = bytes.first_chunk::<IPV6_HEADER>() else { return Kind::Short };
    if header[6] != ICMPV6 {
        return Kind::Other;
    }
    match bytes.first_chunk::<{ IPV6_HEADER + ICMPV6_HEADER }>() {
        Some(both) if NEIGHBOUR_DISCOVERY.contains(&both[IPV6_HEADER]) => Kind::NeighbourDiscovery,
        Some(_) => Kind::Other,
        None => Kind::Short,
    }
}
