//! What the other end still sends to a member that was just relieved.
//!
//! When another member becomes the active one, frames are on their way to the
//! old one until the switch has heard the new one's announcements. The kernel
//! drops them (Linux bond_main.c, bond_should_deliver_exact_match); here those
//! for the team's own address are taken for a while. Others are not: what a
//! switch floods comes to both members, and so would come twice.

use std::time::Duration;

use nicteam_team::{Choose, MemberId, Plan, Receive, Time};

/// How long: the time that a full port queue of a switch takes to drain.
pub(super) const DRAIN_PERIOD: Duration = Duration::from_millis(50);

/// The members that were relieved a moment ago.
#[derive(Debug)]
pub(super) struct DrainPeriod {
    /// As the team wants it.
    pub(super) plan: Plan,
    pub(super) relieved: Vec<MemberId>,
    pub(super) until: Time,
    /// The announcements that tell the switch may not be sent yet.
    pub(super) is_new: bool,
}

impl Default for DrainPeriod {
    fn default() -> DrainPeriod {
        DrainPeriod { plan: Plan::nobody(), relieved: Vec::new(), until: Time::ZERO, is_new: false }
    }
}

impl DrainPeriod {
    /// When the last of them is to be closed; none if there is none.
    pub(super) fn deadline(&self) -> Option<Time> {
        (!self.relieved.is_empty()).then_some(self.until)
    }

    /// Those that a plan with an active member relieves, and those that still are.
    pub(super) fn relieved_by(&self, plan: &Plan) -> Vec<MemberId> {
        if !matches!(plan.choose, Choose::One(_)) {
            return Vec::new();
        }
        let delivered = |id| {
            self.relieved.contains(&id) || self.plan.member(id).is_some_and(|line| line.receive == Receive::Deliver)
        };
        let dropping = plan.members.iter().filter(|line| line.receive == Receive::Drop).map(|line| line.id);
        dropping.filter(|&id| delivered(id)).collect()
    }
}
