//! The plan: what a dataplane does with each frame.

use std::time::Duration;

use nicteam_wire::{Frame, GapReport, Mac, ethertype};

use crate::balance::{self, Balance, Loads};
use crate::constants;
use crate::failover::{Failover, FailoverState};
use crate::hash;
use crate::stripe::redundant::Streams;
use crate::stripe::{self, Stripe, StripeState};
use crate::{HashPolicy, MemberId, MemberSet, Time};

/// The longest table a hash can choose from.
pub const MAX_BUCKETS: usize = constants::MAX_BUCKETS;

/// What a dataplane does with each frame, until the next plan.
///
/// A plan never changes: a change is a new plan with a higher generation.
/// What changes from frame to frame lives in [`PlanState`].
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
}

/// How a frame from the stack finds its member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choose {
    /// No member can send: the frame is dropped and counted.
    Nobody,
    /// Always this member (active-backup).
    One(MemberId),
    /// `table[hash % table.len()]` (balance-xor). The table has 1 to
    /// [`MAX_BUCKETS`] entries.
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
        /// The members in their order; 1 to [`crate::MAX_MEMBERS`].
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
}

/// Addresses written into a frame on its way out; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// The new source.
    pub src: Option<Mac>,
    /// The new destination.
    pub dst: Option<Mac>,
}

/// What to do with a frame from the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send it by each of these members, with each member's [`Rewrite`]; at least one.
    Send(MemberSet),
    /// Send it by this member, with these addresses.
    Stripe {
        /// The member.
        member: MemberId,
        /// The new source: its own address.
        src: Mac,
        /// The new destination: a member's of the peer.
        dst: Mac,
        /// What it says of a gap, and is to go without.
        without: Option<GapReport>,
    },
    /// It is not sent, nor dropped: all it says is a gap that may close yet.
    Withhold,
    /// Put a redundancy tag with this number into it, and send it twice.
    Redundant {
        /// The number.
        sequence: u16,
        /// By whom first.
        first: Leg,
        /// And then; nobody if there is one path.
        second: Option<Leg>,
    },
    /// Hand it to the control side instead, which answers it or sends it itself.
    Punt,
    /// Drop and count it.
    Drop,
}

/// A path that a frame takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The member.
    pub member: MemberId,
    /// The new source: its own address.
    pub src: Mac,
    /// The new destination: a member's of the peer.
    pub dst: Mac,
}

/// What to do with a frame from a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the team's: the team's stack gets it, and only the team's.
    ToTeam,
    /// The same, with these addresses in place of its own.
    ToTeamAs {
        /// The source.
        src: Mac,
        /// The destination.
        dst: Mac,
    },
    /// The same, and without its redundancy tag.
    Untagged {
        /// The source.
        src: Mac,
        /// The destination.
        dst: Mac,
    },
    /// The team has had it by another path: drop it.
    Duplicate,
    /// It is the member's own: reserved link-local addresses (LACP, LLDP, STP)
    /// and, in stripe, hellos,
    /// for the control side and for programs that listen on the member.
    ToMember,
    /// It goes back by the member, as its own echo (stripe: a peer's probe,
    /// [`nicteam_wire::Hello::reflect`]). So a peer whose process is slow, or
    /// gone, is no dead path. Faster than a team sends probes they do not go back.
    Echo,
    /// Drop and count it.
    Drop,
}

/// What a dataplane remembers from frame to frame.
#[derive(Clone, Debug)]
pub struct PlanState {
    /// Frames that took part in the round robin so far.
    pub round_robin: u32,
    /// When the next frame is chosen for; a dataplane keeps it up to date.
    pub now: Time,
    /// Whose wires are taken how long, of stripe.
    pub stripe: StripeState,
    /// Redundancy tags sent and received, of stripe.
    pub streams: Streams,
    /// The members' carrier, of plans with a [`Plan::failover`].
    pub failover: FailoverState,
    /// Bytes by bucket, of the plans that count them ([`Balance::counted`]).
    pub loads: Loads,
    /// State of the generator behind `packets_per_slave=0`.
    random: u64,
}

impl PlanState {
    /// A fresh state; the seed decides the random choices alone.
    pub fn new(seed: u64) -> PlanState {
        PlanState {
            round_robin: 0,
            now: Time::ZERO,
            stripe: StripeState::default(),
            streams: Streams::default(),
            failover: FailoverState::default(),
            loads: Loads::default(),
            random: seed,
        }
    }

    /// SplitMix64 (Steele, Lea, Flood 2014): one addition, two multiplications.
    fn next_random(&mut self) -> u32 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) as u32
    }
}

impl Plan {
    /// A plan that drops everything: what a team starts with.
    pub fn nobody() -> Plan {
        Plan { generation: 0, choose: Choose::Nobody, members: Vec::new(), lease: None, failover: None }
    }

    /// This member's line, if it has one.
    pub fn member(&self, id: MemberId) -> Option<&PlanMember> {
        self.members.iter().find(|member| member.id == id)
    }

    /// The same as [`Plan::choose`], for a dataplane that sees the queue for
    /// which a frame is meant (Linux `skb->queue_mapping`; 0 is none): one that is
    /// a member's `queue_id` leaves by that member (`bond_slave_override`).
    pub fn choose_queued(&self, queue: u16, frame: &Frame<'_>, state: &mut PlanState) -> Action {
        match self.members.iter().find(|line| queue != 0 && line.queue_id == queue) {
            Some(line) => Action::Send(MemberSet::one(self.member_for(line.id, 0, state))),
            None => self.choose(frame, state),
        }
    }

    /// True if some frames from the stack are the control side's ([`Action::Punt`]).
    pub fn punts(&self) -> bool {
        match &self.choose {
            Choose::Balance(balance) => balance.punt.is_some(),
            Choose::Stripe(stripe) => stripe.other.punt.is_some(),
            _ => false,
        }
    }

    /// What to do with a frame that the stack sends.
    pub fn choose(&self, frame: &Frame<'_>, state: &mut PlanState) -> Action {
        match self.find(frame, state) {
            Found::Member(member, number) => Action::Send(MemberSet::one(self.member_for(member, number, state))),
            Found::Action(action) => action,
        }
    }

    /// The same, whatever the members' carrier is.
    fn find(&self, frame: &Frame<'_>, state: &mut PlanState) -> Found {
        match &self.choose {
            Choose::Nobody => Found::Action(Action::Drop),
            Choose::One(member) => Found::Member(*member, 0),
            Choose::All(members) if members.is_empty() => Found::Action(Action::Drop),
            Choose::All(members) => Found::Action(Action::Send(*members)),
            Choose::HashOrAll { table, .. } if !table.is_empty() && balance::is_resolution(frame) => {
                Found::Action(Action::Send(table.iter().copied().collect()))
            }
            Choose::Hash { policy, table } | Choose::HashOrAll { policy, table } => {
                send_by(table, hash::hash(*policy, frame))
            }
            Choose::Balance(balance) => balance::find(balance, frame, &mut state.loads),
            Choose::Stripe(stripe) => {
                state.stripe.follow(self.generation);
                Found::Action(stripe::choose(stripe, frame, state))
            }
            Choose::RoundRobin { igmp, .. } if hash::is_igmp(frame) => Found::Member(*igmp, 0),
            Choose::RoundRobin { members, packets_per_member, .. } => {
                let turn = match packets_per_member {
                    0 => state.next_random(),
                    per_member => {
                        state.round_robin = state.round_robin.wrapping_add(1);
                        state.round_robin / per_member
                    }
                };
                send_by(members, turn)
            }
        }
    }

    /// What to do with a frame that `member` received. Of two with the same
    /// redundancy tag the first is the team's ([`Verdict::Untagged`]). Of probes only so many go back. What hellos
    /// say of queues on the way, and of lost members, is taken into account, and by which path a segment of TCP came.
    pub fn receive_once(&self, member: MemberId, frame: &Frame<'_>, state: &mut PlanState) -> Verdict {
        let verdict = self.receive(member, frame);
        let Choose::Stripe(stripe) = &self.choose else { return self.receive_for_lost(verdict, member, frame, state) };
        if frame.ethertype() == ethertype::HELLO {
            state.stripe.follow(self.generation);
            stripe::take_hello(stripe, member, frame, state);
        }
        if verdict == Verdict::Echo {
            return stripe::bound_echo(stripe, frame, state);
        }
        if matches!(verdict, Verdict::ToTeam | Verdict::ToTeamAs { .. }) {
            stripe::note_arrival(stripe, member, frame, state);
        }
        if frame.ethertype() != ethertype::RTAG {
            return verdict;
        }
        let macs = match verdict {
            Verdict::ToTeamAs { src, dst } => (src, dst),
            Verdict::ToTeam => (frame.src(), frame.dst()),
            _ => return verdict,
        };
        stripe::recover(stripe, frame, macs, state).unwrap_or(verdict)
    }

    /// A frame of the control side leaves past the plan: a probe counts as sent from now on.
    pub fn note_transmitted(&self, frame: &Frame<'_>, state: &mut PlanState) {
        if let Choose::Stripe(stripe) = &self.choose {
            state.stripe.follow(self.generation);
            stripe::note_hello(stripe, frame, state);
        }
    }

    /// What becomes of a frame that may be for a member that was left.
    fn receive_for_lost(
        &self,
        verdict: Verdict,
        member: MemberId,
        frame: &Frame<'_>,
        state: &mut PlanState,
    ) -> Verdict {
        if !matches!(verdict, Verdict::Drop | Verdict::ToTeam) || !self.receives_now(member, state) {
            return verdict;
        }
        match self.team_of_lost(frame.dst(), state) {
            Some(team) => Verdict::ToTeamAs { src: frame.src(), dst: team },
            None => Verdict::ToTeam,
        }
    }

    /// The same, whatever redundancy tags, echoes and carriers say.
    pub fn receive(&self, member: MemberId, frame: &Frame<'_>) -> Verdict {
        if frame.dst().is_link_local() {
            return Verdict::ToMember;
        }
        if let Choose::Stripe(stripe) = &self.choose
            && frame.ethertype() == ethertype::HELLO
        {
            return stripe::receive_hello(stripe, member, frame);
        }
        let (src, dst) = (frame.src(), frame.dst());
        let source = match &self.choose {
            Choose::Stripe(stripe) if stripe.is_own(src) => return Verdict::Drop,
            Choose::Stripe(stripe) if dst.is_multicast() => {
                return match stripe.takes_group(member, src) {
                    true => Verdict::ToTeamAs { src: stripe.source(src), dst },
                    false => Verdict::Drop,
                };
            }
            Choose::Stripe(stripe) => stripe.source(src),
            _ => src,
        };
        match self.member(member).map(|line| line.receive) {
            Some(Receive::Own { own, team } | Receive::DeliverAnd { own, team }) if frame.dst() == own => {
                Verdict::ToTeamAs { src: source, dst: team }
            }
            Some(Receive::Deliver | Receive::DeliverAnd { .. }) if source == frame.src() => Verdict::ToTeam,
            Some(Receive::Deliver | Receive::DeliverAnd { .. }) => Verdict::ToTeamAs { src: source, dst: frame.dst() },
            Some(Receive::Own { .. } | Receive::Drop) | None => Verdict::Drop,
        }
    }
}

/// What [`Plan::choose`] says of a frame as long as all members have carrier.
pub(crate) enum Found {
    /// By this member; the number by which it was chosen among the members, 0 if by none.
    Member(MemberId, u32),
    /// This.
    Action(Action),
}

/// `table[number % table.len()]`, or a drop if the table is empty.
fn send_by(table: &[MemberId], number: u32) -> Found {
    let place = (number as usize).checked_rem(table.len());
    match place.and_then(|place| table.get(place)) {
        Some(&member) => Found::Member(member, number),
        None => Found::Action(Action::Drop),
    }
}
