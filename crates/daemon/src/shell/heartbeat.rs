//! The team's signs of life.

use nicteam_team::LinkState;

use super::Shell;
use crate::heartbeat::{Heartbeat, Heartbeats, LEAST, SIGNS, watchdog_timeout};

impl Shell {
    /// Gives a sign of life, if one is due or there is something to tell.
    pub(super) fn send_heartbeat(&mut self) {
        let (now, of) = (self.clock.now(), (self.team.plan().generation, self.team.carrier()));
        let is_due = |heartbeats: &mut Heartbeats| heartbeats.next <= now || heartbeats.of != Some(of);
        let Some(mut heartbeats) = self.heartbeats.take_if(is_due) else { return };
        let heartbeat = self.heartbeat();
        (heartbeats.listener)(&heartbeat);
        (heartbeats.next, heartbeats.of) = (now + (heartbeat.watchdog_timeout / SIGNS).max(LEAST), Some(of));
        self.heartbeats = Some(heartbeats);
    }

    fn heartbeat(&self) -> Heartbeat {
        let members = self.team.members();
        let is_up = |state: LinkState| matches!(state, LinkState::Up | LinkState::Fail);
        Heartbeat {
            mode: self.team.config().mode,
            dataplane: self.kind(),
            members: members.len(),
            up: members.iter().filter(|member| is_up(member.state)).count(),
            missing: self.missing().len(),
            carrier: self.team.carrier(),
            watchdog_timeout: watchdog_timeout(self.team.config(), self.team.plan().lease),
        }
    }
}
