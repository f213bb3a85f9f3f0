//! What a plan says of a frame from a member.

use nicteam_machine::MemberId;
use nicteam_wire::{Frame, ethertype};

use super::action::Verdict;
use super::plan::{Choose, Plan, Receive};
use super::state::PlanState;
use super::stripe;

impl Plan {
    /// What to do with a frame that `member` received. Of two with the same
    /// redundancy tag the first is the team's ([`Verdict::Untagged`]). Of probes only so many go back. What hellos
    /// say of queues on the way, and of lost members, is taken into account, by which path a segment of
    /// TCP came, and what hosts that do not stripe acknowledge.
    pub fn receive_once(&self, member: MemberId, frame: &Frame<'_>, state: &mut PlanState) -> Verdict {
        let verdict = self.receive(member, frame);
        let Choose::Stripe(stripe) = &self.choose else {
            let verdict = self.receive_for_lost(verdict, member, frame, state);
            return self.drop_reflection(verdict, member, frame, state);
        };
        if frame.ethertype() == ethertype::HELLO {
            state.stripe.follow(self.generation);
            stripe::receiving::take_hello(stripe, member, frame, state);
        }
        if verdict == Verdict::Echo {
            return stripe::receiving::bound_echo(stripe, frame, state);
        }
        if matches!(verdict, Verdict::ToTeam | Verdict::ToTeamAs { .. }) {
            stripe::receiving::note_arrival(stripe, member, frame, state);
            if let Some(verdict) = stripe::receiving::hear_plain(stripe, verdict, frame, state) {
                return verdict;
            }
        }
        if frame.ethertype() != ethertype::RTAG {
            return verdict;
        }
        let macs = match verdict {
            Verdict::ToTeamAs { src, dst } => (src, dst),
            Verdict::ToTeam => (frame.src(), frame.dst()),
            _ => return verdict,
        };
        stripe::receiving::recover(stripe, frame, macs, state).unwrap_or(verdict)
    }

    /// A frame of the control side leaves past the plan: a probe counts as sent from now on.
    pub fn note_transmitted(&self, frame: &Frame<'_>, state: &mut PlanState) {
        if let Choose::Stripe(stripe) = &self.choose {
            state.stripe.follow(self.generation);
            stripe::receiving::note_hello(stripe, frame, state);
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

    /// What becomes of a frame that may have been sent by the team itself.
    fn drop_reflection(&self, verdict: Verdict, member: MemberId, frame: &Frame<'_>, state: &mut PlanState) -> Verdict {
        let checks = self.member(member).is_some_and(|line| matches!(line.receive, Receive::DropIfMoved { .. }));
        let is_reflection = checks && verdict == Verdict::ToTeam && state.sources.is_reflection(frame, state.now);
        if is_reflection { Verdict::Drop } else { verdict }
    }

    /// The same, whatever redundancy tags, echoes, carriers and reflections say.
    pub fn receive(&self, member: MemberId, frame: &Frame<'_>) -> Verdict {
        if frame.dst().is_for_port() {
            return Verdict::ToMember;
        }
        if let Choose::Stripe(stripe) = &self.choose
            && frame.ethertype() == ethertype::HELLO
        {
            return stripe::receiving::receive_hello(stripe, member, frame);
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
            Some(Receive::DropIfMoved { active }) if active || !dst.is_multicast() => Verdict::ToTeam,
            Some(Receive::Own { .. } | Receive::DropIfMoved { .. } | Receive::Drop) | None => Verdict::Drop,
        }
    }
}
