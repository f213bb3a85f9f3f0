//! What the other end still sends to a member that was just relieved.
//!
//! When another member becomes the active one, frames are on their way to the
//! old one until the switch has heard the new one's announcements. The kernel
//! drops them (Linux bond_main.c, bond_should_deliver_exact_match); here those
//! for the team's own address are taken for a while. Others are not: what a
//! switch floods comes to both members, and so would come twice.

use std::time::Duration;

use nicteam_team::{Choose, MemberId, Plan, Receive, Time};

use super::Shell;
use crate::Happened;

/// How long: the time that a full port queue of a switch takes to drain.
const LINGER: Duration = Duration::from_millis(50);

/// The members that were relieved a moment ago.
#[derive(Debug)]
pub(super) struct Linger {
    /// As the team wants it.
    plan: Plan,
    relieved: Vec<MemberId>,
    until: Time,
    /// The announcements that tell the switch may not be sent yet.
    is_new: bool,
}

impl Default for Linger {
    fn default() -> Linger {
        Linger { plan: Plan::nobody(), relieved: Vec::new(), until: Time::ZERO, is_new: false }
    }
}

impl Linger {
    /// When the last of them is to be closed; none if there is none.
    pub(super) fn deadline(&self) -> Option<Time> {
        (!self.relieved.is_empty()).then_some(self.until)
    }

    /// Those that a plan with an active member relieves, and those that still are.
    fn relieved_by(&self, plan: &Plan) -> Vec<MemberId> {
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

impl Shell {
    /// Executes a plan from now on.
    pub(super) fn execute(&mut self, plan: &Plan) -> Result<(), nicteam_dataplane::Error> {
        let relieved = self.linger.relieved_by(plan);
        let mut open = plan.clone();
        for line in open.members.iter_mut().filter(|line| relieved.contains(&line.id)) {
            line.receive = Receive::Own { own: self.mac, team: self.mac };
        }
        self.dataplane.apply(&open)?;
        if relieved.iter().any(|id| !self.linger.relieved.contains(id)) {
            self.linger.until = self.clock.now() + LINGER;
            self.linger.is_new = true;
        }
        (self.linger.plan, self.linger.relieved) = (plan.clone(), relieved);
        self.note(Happened::Plan { generation: plan.generation });
        Ok(())
    }

    /// The time of those that were just relieved begins when the switch has been told: this process may have been held up
    /// between the plan and its announcements.
    pub(super) fn announced(&mut self) {
        if std::mem::take(&mut self.linger.is_new) {
            self.linger.until = self.clock.now() + LINGER;
        }
    }

    /// Closes the relieved members once their time has come.
    pub(super) fn close_relieved(&mut self) {
        if self.linger.deadline().is_some_and(|until| until <= self.clock.now()) {
            self.linger.relieved.clear();
            let closed = self.dataplane.apply(&self.linger.plan);
            self.tell(closed);
        }
    }
}
