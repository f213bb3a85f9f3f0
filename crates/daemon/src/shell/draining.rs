//! Executes plans, and keeps a relieved member open for the drain period.

use nicteam_team::{Plan, Receive};

use super::Shell;
use super::drain::DRAIN_PERIOD;
use crate::Happened;

impl Shell {
    /// Executes a plan from now on.
    pub(super) fn execute(&mut self, plan: &Plan) -> Result<(), nicteam_dataplane::Error> {
        let relieved = self.drain_period.relieved_by(plan);
        let mut open = plan.clone();
        for line in open.members.iter_mut().filter(|line| relieved.contains(&line.id)) {
            line.receive = Receive::Own { own: self.mac, team: self.mac };
        }
        self.dataplane.apply(&open)?;
        if relieved.iter().any(|id| !self.drain_period.relieved.contains(id)) {
            self.drain_period.until = self.clock.now() + DRAIN_PERIOD;
            self.drain_period.is_new = true;
        }
        (self.drain_period.plan, self.drain_period.relieved) = (plan.clone(), relieved);
        self.note(Happened::Plan { generation: plan.generation });
        Ok(())
    }

    /// The time of those that were just relieved begins when the switch has been told: this process may have been held up
    /// between the plan and its announcements.
    pub(super) fn announced(&mut self) {
        if std::mem::take(&mut self.drain_period.is_new) {
            self.drain_period.until = self.clock.now() + DRAIN_PERIOD;
        }
    }

    /// Closes the relieved members once their time has come.
    pub(super) fn close_relieved(&mut self) {
        if self.drain_period.deadline().is_some_and(|until| until <= self.clock.now()) {
            self.drain_period.relieved.clear();
            let closed = self.dataplane.apply(&self.drain_period.plan);
            self.tell(closed);
        }
    }
}
