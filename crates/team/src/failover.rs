//! What a dataplane does by itself about a member that has no carrier.
//!
//! A process needs a moment to hear of a lost carrier, and a process that is stopped or
//! dead hears of nothing. Meanwhile a dataplane that goes on without its process looks at the carrier of the member
//! that a frame was chosen for, and sends it by another one:
//!
//! - A member is *left* when it has had no carrier for `downdelay`, counted from the first frame that
//!   was to leave by it (or to be received for it) meanwhile. A member that was left is used again when it has had
//!   carrier for `updelay`, counted in the same way. So the dataplane leaves a member later, and never sooner, than the
//!   options allow. A new plan starts without any memory of this.
//! - A frame for a member that was left leaves by the [`Failover::order`] without that member: by entry
//!   `number % len`, where `number` is the frame's hash or turn, so that the frames spread as evenly as they
//!   did; 0 for frames that are not spread. Members of the order that were left, too, are passed over. If all were left, a member that
//!   has carrier again is taken although its `updelay` runs.
//! - Where one member receives for the team (active-backup, balance-tlb, balance-alb) and was left, the member by which
//!   its frames leave receives in its place, and sends what it took over from the team's address.
//!   That member also takes what is sent to the own address of another one that was left (balance-alb).
//!
//! `bpf/failover.h` does the same; a change here is a change there.

use std::time::Duration;

use nicteam_wire::Mac;

use crate::{Choose, MAX_MEMBERS, MemberId, MemberSet, Plan, PlanMember, PlanState, Receive, Rewrite, Time};

/// How a dataplane leaves a member without carrier, until the next plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failover {
    /// The members that can take over, the best one first, each once.
    pub order: Vec<MemberId>,
    /// How long a member is without carrier before it is left.
    pub downdelay: Duration,
    /// How long it has carrier before it is used again.
    pub updelay: Duration,
}

/// What a dataplane knows of the members' carrier.
#[derive(Clone, Debug)]
pub struct FailoverState {
    /// The members whose devices have no carrier now; a dataplane that acts on them keeps it up to date.
    pub without_carrier: MemberSet,
    /// The plan that the rest is about.
    generation: u64,
    seen: [Seen; MAX_MEMBERS],
}

/// What frames have met at a member so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Seen {
    /// It is used.
    #[default]
    Used,
    /// It has no carrier, and is used until `downdelay` is over.
    Failing(Time),
    /// It was left.
    Left,
    /// It has carrier again, and waits until `updelay` is over.
    Back(Time),
}

impl Default for FailoverState {
    fn default() -> FailoverState {
        FailoverState { without_carrier: MemberSet::EMPTY, generation: 0, seen: [Seen::Used; MAX_MEMBERS] }
    }
}

impl FailoverState {
    /// Looks at a member, by which the state goes on.
    fn look(&mut self, failover: &Failover, id: MemberId, now: Time) -> Seen {
        let carrier = !self.without_carrier.contains(id);
        let over = |since: Time, delay: Duration| now.since(since) >= delay;
        let seen = &mut self.seen[id.index()];
        *seen = match (*seen, carrier) {
            (Seen::Used | Seen::Failing(_), true) => Seen::Used,
            (Seen::Used, false) if !failover.downdelay.is_zero() => Seen::Failing(now),
            (Seen::Failing(since), false) if !over(since, failover.downdelay) => Seen::Failing(since),
            (_, false) => Seen::Left,
            (Seen::Left, true) if !failover.updelay.is_zero() => Seen::Back(now),
            (Seen::Back(since), true) if !over(since, failover.updelay) => Seen::Back(since),
            (_, true) => Seen::Used,
        };
        *seen
    }
}

impl Seen {
    fn is_used(self) -> bool {
        matches!(self, Seen::Used | Seen::Failing(_))
    }
}

impl Plan {
    /// The member by which a frame of this number leaves that was chosen for `chosen`.
    pub(crate) fn member_for(&self, chosen: MemberId, number: u32, state: &mut PlanState) -> MemberId {
        let Some(failover) = &self.failover else { return chosen };
        let (now, state) = (state.now, &mut state.failover);
        if state.generation != self.generation {
            state.generation = self.generation;
            state.seen = [Seen::Used; MAX_MEMBERS];
        }
        let found = state.look(failover, chosen, now);
        if found.is_used() {
            return chosen;
        }
        let others: Vec<MemberId> = failover.order.iter().copied().filter(|&id| id != chosen).collect();
        let first = (number as usize).checked_rem(others.len()).unwrap_or(0);
        let mut back = if matches!(found, Seen::Back(_)) { Some(chosen) } else { None };
        for &other in others.iter().cycle().skip(first).take(others.len()) {
            match state.look(failover, other, now) {
                Seen::Used | Seen::Failing(_) => return other,
                Seen::Back(_) => back = back.or(Some(other)),
                Seen::Left => {}
            }
        }
        back.unwrap_or(chosen)
    }

    /// What is written into a frame that was chosen for `chosen` and leaves by `id`: nothing where that one
    /// sends in the place of the active member.
    pub fn rewrite_of(&self, chosen: MemberId, id: MemberId, state: &mut PlanState) -> Rewrite {
        let rewrite = self.member(id).map(|line| line.rewrite).unwrap_or_default();
        match self.receiver() {
            Some(active) if chosen != id && active != id && self.member_for(active, 0, state) == id => {
                Rewrite::default()
            }
            _ => rewrite,
        }
    }

    /// True if this is the one member that receives for the team now.
    pub(crate) fn receives_now(&self, member: MemberId, state: &mut PlanState) -> bool {
        self.failover.is_some() && self.receiver().is_some_and(|active| self.member_for(active, 0, state) == member)
    }

    /// The team's address, if `dst` is the own address of another member that was left.
    pub(crate) fn team_of_lost(&self, dst: Mac, state: &mut PlanState) -> Option<Mac> {
        let failover = self.failover.as_ref()?;
        let own = |line: &PlanMember| match line.receive {
            Receive::Own { own, team } if own == dst => Some((line.id, team)),
            _ => None,
        };
        let (id, team) = self.members.iter().find_map(own)?;
        (!state.failover.look(failover, id, state.now).is_used()).then_some(team)
    }

    /// The one member that receives for the team, in the modes that have one.
    fn receiver(&self) -> Option<MemberId> {
        match &self.choose {
            Choose::One(member) => Some(*member),
            Choose::Balance(balance) => Some(balance.active),
            _ => None,
        }
    }
}
