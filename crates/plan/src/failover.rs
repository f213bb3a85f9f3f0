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

use nicteam_machine::{MAX_MEMBERS, MemberId, MemberSet, Time};

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
    /// The member by which a frame of this number leaves that was chosen for `chosen`, by a plan of this generation.
    pub(super) fn member_for(
        &mut self,
        failover: &Failover,
        generation: u64,
        (chosen, number): (MemberId, u32),
        now: Time,
    ) -> MemberId {
        if self.generation != generation {
            self.generation = generation;
            self.seen = [Seen::Used; MAX_MEMBERS];
        }
        let found = self.look(failover, chosen, now);
        if found.is_used() {
            return chosen;
        }
        let others: Vec<MemberId> = failover.order.iter().copied().filter(|&id| id != chosen).collect();
        let first = (number as usize).checked_rem(others.len()).unwrap_or(0);
        let mut back = if matches!(found, Seen::Back(_)) { Some(chosen) } else { None };
        for &other in others.iter().cycle().skip(first).take(others.len()) {
            match self.look(failover, other, now) {
                Seen::Used | Seen::Failing(_) => return other,
                Seen::Back(_) => back = back.or(Some(other)),
                Seen::Left => {}
            }
        }
        back.unwrap_or(chosen)
    }

    /// True if a member was left.
    pub(super) fn has_left(&mut self, failover: &Failover, id: MemberId, now: Time) -> bool {
        !self.look(failover, id, now).is_used()
    }

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
