//! The team's signs of life.

use std::time::Duration;

use nicteam_team::{LinkState, Time};

use super::Shell;
use crate::pulse::{Pulse, Vitals, patience};

/// Signs of life in the time that a team may be silent.
const SIGNS: u32 = 4;
/// Between two of them passes so much at least, unless something has changed.
const LEAST: Duration = Duration::from_millis(50);

/// Who hears signs of life.
pub(super) struct Beating {
    pulse: Pulse,
    /// When the next one is due.
    next: Time,
    /// The plan and the carrier of the last one: what is said follows from them.
    of: Option<(u64, bool)>,
}

impl Beating {
    pub(super) fn new(pulse: Pulse, now: Time) -> Beating {
        Beating { pulse, next: now, of: None }
    }

    /// When the next sign is due.
    pub(super) fn deadline(&self) -> Time {
        self.next
    }
}

impl Shell {
    /// Gives a sign of life, if one is due or there is something to tell.
    pub(super) fn beat(&mut self) {
        let (now, of) = (self.clock.now(), (self.team.plan().generation, self.team.carrier()));
        let is_due = |beating: &mut Beating| beating.next <= now || beating.of != Some(of);
        let Some(mut beating) = self.beating.take_if(is_due) else { return };
        let vitals = self.vitals();
        (beating.pulse)(&vitals);
        (beating.next, beating.of) = (now + (vitals.patience / SIGNS).max(LEAST), Some(of));
        self.beating = Some(beating);
    }

    fn vitals(&self) -> Vitals {
        let members = self.team.members();
        let is_up = |state: LinkState| matches!(state, LinkState::Up | LinkState::Fail);
        Vitals {
            mode: self.team.config().mode,
            dataplane: self.kind(),
            members: members.len(),
            up: members.iter().filter(|member| is_up(member.state)).count(),
            missing: self.missing().len(),
            carrier: self.team.carrier(),
            patience: patience(self.team.config(), self.team.plan().lease),
        }
    }
}
