//! Telling the neighbours where the team is now: gratuitous ARP and
//! unsolicited neighbour advertisements.

use nicteam_events::Effect;
use nicteam_machine::{MemberSet, Time};

use super::Team;
use super::monitor::millis;
use crate::TimerReason;

impl Team {
    /// By whom it is announced where the team is.
    fn announcing(&self) -> MemberSet {
        match self.lacp() {
            Some(lacp) if self.config.lacp.broadcast_neighbor => lacp.distributing(),
            _ => self.active.into_iter().collect(),
        }
    }

    /// Sends the next round of announcements, if one is due.
    ///
    /// Rounds wait until the team has carrier. (The kernel counts them down
    /// meanwhile, and sends the first of a team that just got carrier a `miimon`
    /// later.) Without `miimon` and `arp_interval` only the first is sent: the
    /// kernel sends the others from its link monitor, which does not run then.
    pub(super) fn announce(&mut self, now: Time) {
        let members = self.announcing();
        if members.is_empty() || !self.carrier || self.announcer.rounds == 0 {
            return;
        }
        for frame in self.announcer.frames() {
            let copies = members.iter().map(|member| Effect::Transmit { member, frame: frame.clone() });
            self.effects.extend(copies);
        }
        let interval_ms = match self.config.peer_notif_delay_ms {
            0 => self.config.miimon_ms.max(self.config.arp.interval_ms),
            delay_ms => delay_ms,
        };
        self.announcer.rounds = if interval_ms > 0 { self.announcer.rounds - 1 } else { 0 };
        if self.announcer.rounds > 0 {
            self.timers.set(TimerReason::PeerNotify, now + millis(interval_ms));
        }
    }
}
