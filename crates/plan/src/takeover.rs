//! Which member sends and receives in the place of one that was left ([`super::failover`]).

use nicteam_machine::MemberId;
use nicteam_wire::Mac;

use super::plan::{Choose, Plan, PlanMember, Receive, Rewrite};
use super::state::PlanState;

impl Plan {
    /// The member by which a frame of this number leaves that was chosen for `chosen`.
    pub(super) fn member_for(&self, chosen: MemberId, number: u32, state: &mut PlanState) -> MemberId {
        match &self.failover {
            Some(failover) => state.failover.member_for(failover, self.generation, (chosen, number), state.now),
            None => chosen,
        }
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
    pub(super) fn receives_now(&self, member: MemberId, state: &mut PlanState) -> bool {
        self.failover.is_some() && self.receiver().is_some_and(|active| self.member_for(active, 0, state) == member)
    }

    /// The team's address, if `dst` is the own address of another member that was left.
    pub(super) fn team_of_lost(&self, dst: Mac, state: &mut PlanState) -> Option<Mac> {
        let failover = self.failover.as_ref()?;
        let own = |line: &PlanMember| match line.receive {
            Receive::Own { own, team } if own == dst => Some((line.id, team)),
            _ => None,
        };
        let (id, team) = self.members.iter().find_map(own)?;
        state.failover.has_left(failover, id, state.now).then_some(team)
    }

    /// The one member that receives for the team, in the modes that have one.
    fn receiver(&self) -> Option<MemberId> {
        match &self.choose {
            Choose::One(member) => Some(*member),
            Choose::Balance(balance) => Some(balance.active),
            Choose::Buckets(_) => {
                let is_active = |line: &&PlanMember| matches!(line.receive, Receive::DropIfMoved { active: true });
                self.members.iter().find(is_active).map(|line| line.id)
            }
            _ => None,
        }
    }
}
