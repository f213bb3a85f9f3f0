//! The plan: what a dataplane does with each frame.

use std::time::Duration;

use nicteam_machine::{MemberId, MemberSet};
use nicteam_wire::Mac;

use super::balance::Balance;
use super::buckets::Buckets;
use super::failover::Failover;
use super::stripe::plan::Stripe;
use nicteam_options::HashPolicy;

/// What a dataplane does with each frame, until the next plan.
///
/// A plan never changes: a change is a new plan with a higher generation.
/// What changes from frame to frame lives in [`PlanState`](crate::PlanState).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Counts the plans of a team, from 1; a dataplane reports which it executes.
    pub generation: u64,
    /// How a frame from the stack finds its member.
    pub choose: Choose,
    /// The members, by place: how each sends and what becomes of its frames.
    pub members: Vec<PlanMember>,
    /// For how long a dataplane that goes on without its process may send by it;
    /// none: for ever. 802.3ad has one, for a partner has to be spoken to. Where
    /// frames are punted (balance-alb) it goes on, and what would be punted leaves by
    /// the active member as it is.
    pub lease: Option<Duration>,
    /// What a dataplane that goes on without its process does about a member without carrier; none: it sends as
    /// if every member had one.
    pub failover: Option<Failover>,
    /// The dataplane remembers the sources that the stack sends ([`PlanState::sources`](crate::PlanState::sources)).
    pub notes_sources: bool,
}

/// How a frame from the stack finds its member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choose {
    /// No member can send: the frame is dropped and counted.
    Nobody,
    /// Always this member (active-backup).
    One(MemberId),
    /// `table[hash % table.len()]` (balance-xor). The table has 1 to
    /// [`MAX_BUCKETS`](crate::MAX_BUCKETS) entries.
    Hash {
        /// What the hash is made of.
        policy: HashPolicy,
        /// The members by hash.
        table: Vec<MemberId>,
    },
    /// The same, but ARP, neighbour solicitations and advertisements go to every
    /// member of the table (802.3ad with `broadcast_neighbor`).
    HashOrAll {
        /// What the hash is made of.
        policy: HashPolicy,
        /// The members by hash.
        table: Vec<MemberId>,
    },
    /// In turn (balance-rr).
    RoundRobin {
        /// The members in their order; 1 to [`nicteam_machine::MAX_MEMBERS`].
        members: Vec<MemberId>,
        /// Frames before the next member's turn; 0 means a member at random each time.
        packets_per_member: u32,
        /// IPv4 IGMP goes here always, so that a switch that snoops learns one
        /// place (Linux `bond_xmit_roundrobin_slave_get`).
        igmp: MemberId,
    },
    /// A copy to each of these (broadcast).
    All(MemberSet),
    /// By buckets where a frame may be balanced, else by the active member
    /// (balance-tlb, balance-alb).
    Balance(Balance),
    /// By 256 buckets, whatever the frame (Open vSwitch's balance-slb and balance-tcp).
    Buckets(Buckets),
    /// By the path by which it arrives first, towards peers that stripe, too (stripe).
    Stripe(Stripe),
}

/// One member in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanMember {
    /// Whose line this is.
    pub id: MemberId,
    /// What becomes of the frames it receives.
    pub receive: Receive,
    /// What is written into the frames it sends.
    pub rewrite: Rewrite,
    /// The queue whose frames leave by it, whatever [`Plan::choose`] says; 0: none.
    pub queue_id: u16,
}

/// What becomes of the frames a member receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receive {
    /// They go to the team's stack.
    Deliver,
    /// They are dropped and counted: the member is a standby or not up.
    Drop,
    /// The same, and those for another address, a lost member's, with the
    /// team's address in its place (balance-alb: the active member).
    DeliverAnd {
        /// The other address.
        own: Mac,
        /// The team's.
        team: Mac,
    },
    /// Those for the member's own address go to the team's stack, with the
    /// team's address in its place; all others are dropped and counted
    /// (balance-alb: a member that is not the active one).
    Own {
        /// The member's address.
        own: Mac,
        /// The team's.
        team: Mac,
    },
    /// They go to the team's stack, but for those whose source the team sent itself, and that is not said to have
    /// moved ([`Plan::notes_sources`]). Open vSwitch's `BV_DROP_IF_MOVED`, in balance-slb without LACP.
    DropIfMoved {
        /// It is the active member: it takes frames for groups, which others drop.
        active: bool,
    },
}

/// Addresses written into a frame on its way out; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// The new source.
    pub src: Option<Mac>,
    /// The new destination.
    pub dst: Option<Mac>,
}

impl Plan {
    /// A plan that drops everything: what a team starts with.
    pub fn nobody() -> Plan {
        Plan {
            generation: 0,
            choose: Choose::Nobody,
            members: Vec::new(),
            lease: None,
            failover: None,
            notes_sources: false,
        }
    }

    /// This member's line, if it has one.
    pub fn member(&self, id: MemberId) -> Option<&PlanMember> {
        self.members.iter().find(|member| member.id == id)
    }

    /// True if some frames from the stack are the control side's ([`Action::Punt`](crate::Action::Punt)).
    pub fn punts(&self) -> bool {
        match &self.choose {
            Choose::Balance(balance) => balance.punt.is_some(),
            Choose::Stripe(stripe) => stripe.other.punt.is_some(),
            _ => false,
        }
    }
}
