//! What the loader and the programs share, in the form of `bpf/plan.h`; [`laid_out_as`] holds both to the same bytes.

use std::time::Duration;

use nicteam_team::balance::{Eligible, Number, Punt};
use nicteam_team::buckets::Key;
use nicteam_team::constants::PLAIN_OFF;
use nicteam_team::{
    Balance, Choose, Failover, HashPolicy, MAX_BUCKETS, MAX_MEMBERS, MAX_QUEUE_ID, MemberId, MemberSet, Receive,
};
use nicteam_wire::{Mac, PortInfo};

use super::abi::laid_out_as;
use super::constants::*;
use crate::{Error, Port, Programs};

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

    /// The plan in the kernel's form, for the members that are attached.
    pub(super) fn new<'a>(plan: &nicteam_team::Plan, ports: impl IntoIterator<Item = &'a Port>) -> Result<Plan, Error> {
        let silent = PlanMember { keep: [0xff; 12], ..PlanMember::default() };
        let mut own = Plan { generation: plan.generation, members: [silent; MAX_MEMBERS], ..Plan::default() };
        match &plan.choose {
            Choose::Nobody => {}
            Choose::One(member) => {
                own.choose = CHOOSE_ONE;
                own.other = member.index() as u32;
                own.set_table(&[*member])?;
            }
            Choose::Hash { policy, table } => {
                own.choose = CHOOSE_HASH;
                own.policy = policy_number(*policy);
                own.set_table(table)?;
            }
            Choose::HashOrAll { policy, table } => {
                own.choose = CHOOSE_HASH_OR_ALL;
                own.policy = policy_number(*policy);
                own.all = table.iter().copied().collect::<MemberSet>().bits();
                own.set_table(table)?;
            }
            Choose::RoundRobin { members, packets_per_member, igmp } => {
                own.choose = CHOOSE_ROUND_ROBIN;
                own.packets_per_member = *packets_per_member;
                own.igmp = igmp.index() as u32;
                own.set_table(members)?;
            }
            Choose::All(members) => {
                own.choose = CHOOSE_ALL;
                own.all = members.bits();
            }
            Choose::Buckets(buckets) => own.set_buckets(buckets),
            Choose::Balance(balance) => own.set_balance(balance)?,
            Choose::Stripe(stripe) => {
                own.set_balance(&stripe.other)?;
                own.choose = CHOOSE_STRIPE;
                own.balance |= if stripe.redundant.is_off() { 0 } else { STRIPE_REDUNDANT };
                own.all = stripe.group.bits();
                own.sack_delay_ns = saturating_ns(stripe.sack_delay);
                own.plain_kind = stripe.plain.kind.number();
                own.team = padded(stripe.team);
            }
        }
        if let Some(lease) = plan.lease {
            // balance.h looks at it where it punts.
            own.choose |= if matches!(own.choose, CHOOSE_BALANCE | CHOOSE_STRIPE) { 0 } else { CHOOSE_LEASED };
            // Zero would stand for none.
            own.lease_ns = saturating_ns(lease).max(1);
        }
        for line in &plan.members {
            own.members[line.id.index()] = member(line);
            own.set_queue(line);
            if let Receive::Own { team, .. } | Receive::DeliverAnd { team, .. } = line.receive {
                own.team = padded(team);
            }
        }
        if let Choose::Stripe(stripe) = &plan.choose {
            own.members.iter_mut().for_each(|line| line.flags |= MEMBER_STRIPES);
            for sender in &stripe.senders {
                let line = &mut own.members[sender.id.index()];
                (line.path, line.rate_mbps) = (padded(sender.mac), sender.rate_mbps);
                line.token = sender.lost_token.to_be_bytes();
                if stripe.plain.members.contains(sender.id) {
                    own.plain[own.plain_len as usize] = sender.id.index() as u8;
                    own.plain_len += 1;
                }
            }
        }
        if let Some(failover) = &plan.failover {
            own.set_failover(plan, failover);
        }
        if plan.notes_sources {
            own.behind = own.choose;
            own.choose = CHOOSE_SOURCES | (own.choose & CHOOSE_WAY);
        }
        for port in ports {
            own.members[port.id.index()].ifindex = port.index;
        }
        Ok(own)
    }

    fn set_balance(&mut self, balance: &Balance) -> Result<(), Error> {
        self.choose = CHOOSE_BALANCE;
        self.other = balance.active.index() as u32;
        if balance.eligible == Eligible::Alb {
            self.balance |= BALANCE_ALB;
        }
        match balance.number {
            Number::Hash(policy) => self.policy = policy_number(policy),
            Number::Destination => self.balance |= BALANCE_DESTINATION,
        }
        if balance.counted {
            self.balance |= BALANCE_COUNT;
        }
        if let Some(Punt { from, neighbours }) = balance.punt {
            self.balance |= BALANCE_PUNT | if neighbours { BALANCE_PUNT_ND } else { 0 };
            self.team = padded(from);
        }
        self.set_table(&balance.table)
    }

    fn set_buckets(&mut self, buckets: &nicteam_team::Buckets) {
        self.choose = CHOOSE_BUCKETS;
        self.table = [NO_PLACE; MAX_BUCKETS];
        for (entry, member) in self.table.iter_mut().zip(buckets.table.iter()) {
            if let Some(member) = member.filter(|member| buckets.enabled.contains(member)) {
                *entry = member.index() as u8;
            }
        }
        match buckets.key {
            Key::Source { basis } => self.policy = basis,
            Key::Flow { basis } => {
                self.policy = basis;
                self.balance |= BUCKETS_BY_FLOW;
            }
        }
        self.all = buckets.enabled.iter().copied().collect::<MemberSet>().bits();
        for (entry, member) in self.enabled.iter_mut().zip(&buckets.enabled) {
            *entry = member.index() as u8;
            self.table_len += 1;
        }
    }

    /// A plan that stripes has a program of its own for this ([`super::carrier`]).
    fn set_failover(&mut self, plan: &nicteam_team::Plan, failover: &Failover) {
        if matches!(plan.choose, Choose::Stripe(_)) {
            return;
        }
        let has_own = |line: &nicteam_team::PlanMember| matches!(line.receive, Receive::Own { .. });
        let has_active = matches!(plan.choose, Choose::One(_) | Choose::Balance(_));
        self.failover = FAILOVER_ON;
        self.failover |= if has_active { FAILOVER_ACTIVE } else { 0 };
        let takes_groups =
            |line: &&nicteam_team::PlanMember| matches!(line.receive, Receive::DropIfMoved { active: true });
        if let Some(active) = plan.members.iter().find(takes_groups).filter(|_| !has_active) {
            self.failover |= FAILOVER_GROUPS;
            self.other = active.id.index() as u32;
        }
        self.failover |= if has_active && plan.members.iter().any(has_own) { FAILOVER_OWN } else { 0 };
        (self.downdelay_ns, self.updelay_ns) = (saturating_ns(failover.downdelay), saturating_ns(failover.updelay));
        self.ranks = [NO_RANK; MAX_MEMBERS];
        for ((rank, entry), member) in (0..).zip(&mut self.fallback).zip(&failover.order) {
            *entry = member.index() as u8;
            self.ranks[member.index()] = rank;
            self.fallback_len = u32::from(rank) + 1;
        }
    }

    fn set_queue(&mut self, line: &nicteam_team::PlanMember) {
        if let Some(queue) = self.queues.get_mut(usize::from(line.queue_id)).filter(|_| line.queue_id != 0) {
            *queue = line.id.index() as u8 + 1;
            self.choose |= CHOOSE_QUEUED;
        }
    }

    fn set_table(&mut self, members: &[MemberId]) -> Result<(), Error> {
        let Some(table) = self.table.get_mut(..members.len()) else {
            return Err(Error::Bpf {
                operation: "execute the plan".to_owned(),
                message: format!("its table has {} entries; {MAX_BUCKETS} is the most", members.len()),
            });
        };
        for (entry, member) in table.iter_mut().zip(members) {
            *entry = member.index() as u8;
        }
        self.table_len = members.len() as u32;
        Ok(())
    }
}

/// A member's line, not yet attached.
fn member(line: &nicteam_team::PlanMember) -> PlanMember {
    let mut own = PlanMember { keep: [0xff; 12], ..PlanMember::default() };
    match line.receive {
        Receive::Deliver => own.flags |= MEMBER_DELIVER,
        Receive::Own { own: mac, .. } => {
            own.flags |= MEMBER_OWN;
            own.own = padded(mac);
        }
        Receive::DeliverAnd { own: mac, .. } => {
            own.flags |= MEMBER_DELIVER | MEMBER_OWN;
            own.own = padded(mac);
        }
        Receive::DropIfMoved { active } => own.flags |= MEMBER_UNMOVED | if active { MEMBER_GROUPS } else { 0 },
        Receive::Drop => {}
    }
    for (mac, place) in [(line.rewrite.dst, 0..6), (line.rewrite.src, 6..12)] {
        if let Some(mac) = mac {
            own.flags |= MEMBER_REWRITE;
            own.keep[place.clone()].fill(0);
            own.put[place].copy_from_slice(&mac.0);
        }
    }
    own
}

fn saturating_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn padded(mac: Mac) -> [u8; 8] {
    let [a, b, c, d, e, f] = mac.0;
    [a, b, c, d, e, f, 0, 0]
}

/// `POLICY_...`.
fn policy_number(policy: HashPolicy) -> u32 {
    match policy {
        HashPolicy::Layer2 => POLICY_LAYER2,
        HashPolicy::Layer23 => POLICY_LAYER23,
        HashPolicy::Layer34 => POLICY_LAYER34,
        HashPolicy::SrcMac => POLICY_SRC_MAC,
        HashPolicy::DstMac => POLICY_DST_MAC,
        HashPolicy::SrcDstMac => POLICY_SRC_DST_MAC,
        HashPolicy::SrcDstIp => POLICY_SRC_DST_IP,
        HashPolicy::SrcDstPort => POLICY_SRC_DST_PORT,
        HashPolicy::Encap23 => POLICY_ENCAP23,
        HashPolicy::Encap34 => POLICY_ENCAP34,
        HashPolicy::VlanSrcMac => POLICY_VLAN_SRCMAC,
        HashPolicy::SrcIp => POLICY_SRC_IP,
        HashPolicy::DstIp => POLICY_DST_IP,
        HashPolicy::SrcXorDstIp => POLICY_SRC_XOR_DST_IP,
        HashPolicy::Aggr(layers) => POLICY_AGGR | u32::from(layers.bits()),
    }
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

    #[test]
    fn a_table_too_long_is_refused() {
        let table = vec![MemberId::new(0).unwrap(); MAX_BUCKETS + 1];
        let choose = Choose::Hash { policy: HashPolicy::Layer2, table };
        let plan = nicteam_team::Plan {
            generation: 1,
            choose,
            members: Vec::new(),
            lease: None,
            failover: None,
            notes_sources: false,
        };
        let refused = Plan::new(&plan, []).unwrap_err().to_string();
        assert!(refused.contains("257 entries"), "{refused}");
    }
}
