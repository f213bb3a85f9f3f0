//! Sessions: opened, tested, lost, and fenced when they were lost with writes outstanding.

use std::time::Duration;

use crate::path::{Opening, Path, Session, Step};
use crate::{Effect, IoError, Multipath, Notice, Outcome, PathId};

/// Sense key NOT READY.
const NOT_READY: u8 = 2;

impl Multipath {
    /// Opens the sessions that are due.
    pub(crate) fn recover(&mut self, now: Duration) {
        for index in 0..self.paths.len() {
            if let Some(via) = self.portal_for(index, now) {
                let deadline = Some(now + self.config.login_timeout);
                let opening = Opening { via, step: Step::LogIn, deadline };
                self.set_session(PathId(index), Session::Opening(opening), "");
                self.effects.push_back(Effect::LogIn { path: PathId(index), via });
            }
        }
    }

    /// The path with the portal through which the session of a path without one has to be opened now.
    ///
    /// A path that is to be fenced is reinstated through those that are up, one attempt each at once; then by its turn,
    /// through its own portal, too.
    fn portal_for(&self, index: usize, now: Duration) -> Option<PathId> {
        let path = &self.paths[index];
        let Session::None { log_in_at } = path.session else { return None };
        let own = path.carrier.then_some(PathId(index));
        let due = now >= log_in_at;
        if path.unfenced.is_some() && self.config.fence.any_portal {
            let others = self.paths.iter().enumerate().filter(|(_, other)| other.is_up());
            let others: Vec<PathId> = others.map(|(other, _)| PathId(other)).collect();
            if !others.is_empty() {
                let first_round = path.fence_tries < others.len();
                let portals: Vec<PathId> = others.into_iter().chain(own).collect();
                return (first_round || due).then(|| portals[path.fence_tries % portals.len()]);
            }
        }
        own.filter(|_| due)
    }

    /// The login of a path's session is answered.
    pub(crate) fn logged_in(&mut self, id: PathId, now: Duration) {
        let Some(path) = self.paths.get_mut(id.0) else { return };
        let Some(opening @ Opening { step: Step::LogIn, .. }) = path.opening() else { return };
        path.heard = now;
        match path.unfenced {
            Some(_) if self.config.fence.reset => {
                let opening = Opening { step: Step::Quiesce, deadline: None, ..opening };
                self.set_session(id, Session::Opening(opening), "");
            }
            _ => self.fenced(id, opening, now),
        }
    }

    /// The session that a path had before is over at the target, with all that it held.
    fn fenced(&mut self, id: PathId, opening: Opening, now: Duration) {
        let Some(path) = self.paths.get_mut(id.0) else { return };
        path.fence_tries = 0;
        let backoff = path.backoff;
        if let Some(lost) = path.unfenced.take() {
            let (writes, took) = (lost.writes.len(), now.saturating_sub(lost.since));
            self.effects.push_back(Effect::Notice(Notice::Fenced { path: id, via: opening.via, writes, took }));
        }
        if opening.via == id {
            self.test(id, 0, now);
        } else {
            // The session has done what it was for; the path's own portal is tried next.
            self.effects.push_back(Effect::Drop { path: id });
            self.set_session(id, Session::None { log_in_at: now + backoff }, "fenced");
        }
    }

    /// The reset is sent as soon as no command is outstanding, which it would abort.
    pub(crate) fn try_reset(&mut self, now: Duration) {
        let busy = |path: &Path| {
            path.outstanding() > 0 || matches!(path.opening(), Some(Opening { step: Step::Reset { .. }, .. }))
        };
        let waits = |path: &Path| matches!(path.opening(), Some(Opening { step: Step::Quiesce, .. }));
        let Some(index) = self.paths.iter().position(waits) else { return };
        let Some(opening) = self.paths[index].opening() else { return };
        if self.paths.iter().any(busy) {
            return;
        }
        let (path, command) = (PathId(index), self.number());
        let deadline = Some(now + self.config.login_timeout);
        self.set_session(path, Session::Opening(Opening { step: Step::Reset { command }, deadline, ..opening }), "");
        self.effects.push_back(Effect::LunReset { path, command });
    }

    /// True while no command may be sent, as a reset is to come.
    pub(crate) fn is_quiescing(&self) -> bool {
        let resets = |opening: Opening| matches!(opening.step, Step::Quiesce | Step::Reset { .. });
        self.paths.iter().any(|path| path.opening().is_some_and(resets))
    }

    /// Asks by TEST UNIT READY whether commands would be executed.
    pub(crate) fn test(&mut self, id: PathId, tries: u32, now: Duration) {
        let command = self.number();
        let deadline = Some(now + self.config.login_timeout);
        let opening = Opening { via: id, step: Step::Test { command, tries }, deadline };
        self.set_session(id, Session::Opening(opening), "");
        self.effects.push_back(Effect::TestUnitReady { path: id, command });
    }

    /// A command of a session that is being opened is answered.
    pub(crate) fn opening_done(&mut self, id: PathId, opening: Opening, done: u64, outcome: Outcome, now: Duration) {
        match opening.step {
            Step::Test { command, tries } if command == done => self.tested(id, tries + 1, outcome, now),
            Step::Reset { command } if command == done => match outcome {
                Outcome::Good => self.fenced(id, opening, now),
                other => self.lose(id, &format!("LOGICAL UNIT RESET: {other}"), true, now),
            },
            _ => {}
        }
    }

    fn tested(&mut self, id: PathId, tries: u32, outcome: Outcome, now: Duration) {
        let again = tries < self.config.max_tries;
        match outcome {
            // A reservation of another initiator does not make the path worse: requests will get the error.
            Outcome::Good | Outcome::ReservationConflict => self.came_up(id, now),
            Outcome::UnitAttention { asc, ascq } if again => {
                self.effects.push_back(Effect::Notice(Notice::UnitAttention { path: id, asc, ascq }));
                self.test(id, tries, now);
            }
            Outcome::Busy | Outcome::Aborted | Outcome::CheckCondition { key: NOT_READY, .. } if again => {
                let until = now + self.config.busy_pause;
                let opening = Opening { via: id, step: Step::Pause { until, tries }, deadline: None };
                self.set_session(id, Session::Opening(opening), "");
            }
            other => self.lose(id, &format!("TEST UNIT READY: {other}"), true, now),
        }
    }

    fn came_up(&mut self, id: PathId, now: Duration) {
        let Some(path) = self.paths.get_mut(id.0) else { return };
        path.heard = now;
        self.set_session(id, Session::Up { since: now, suspect: false }, "");
        if !self.config.fence.any_portal {
            return;
        }
        // A path with a portal that does not answer can be fenced through this one now.
        for index in 0..self.paths.len() {
            let path = &self.paths[index];
            let hangs = path.opening().is_some_and(|opening| opening.step == Step::LogIn);
            if hangs && path.unfenced.is_some() {
                self.lose(PathId(index), "to be fenced through another path", true, now);
                self.paths[index].fence_tries = 0;
            }
        }
    }

    /// The session of a path is over; `close`: the executor does not know it yet.
    pub(crate) fn lose(&mut self, id: PathId, reason: &str, close: bool, now: Duration) {
        let Some(path) = self.paths.get_mut(id.0) else { return };
        let before = path.session;
        let log_in_at = match before {
            Session::None { .. } => return,
            // One that was up for a while is tried at once.
            Session::Up { since, .. } if now.saturating_sub(since) >= self.config.backoff_max => {
                path.backoff = self.config.backoff_min;
                now
            }
            Session::Up { .. } | Session::Opening(_) => {
                let pause = path.backoff;
                path.backoff = (pause * 2).min(self.config.backoff_max);
                now + pause
            }
        };
        path.counters.deaths += u32::from(path.has_session());
        path.fence_tries += usize::from(path.opening().is_some() && path.unfenced.is_some());
        if close {
            self.effects.push_back(Effect::Drop { path: id });
        }
        for command in path.lose(now) {
            let losses = self.requests.again(command.request);
            // Else a target that ends the session for it would be sent it for ever.
            if losses >= self.config.max_tries {
                self.finish(command.request, Err(IoError::Lost { losses }));
            } else {
                self.resent += 1;
            }
        }
        self.set_session(id, Session::None { log_in_at }, reason);
        if matches!(before, Session::Up { .. }) {
            self.lose_those_through(id, now);
        }
    }

    /// What was being opened through the portal of a path that died has to go another way.
    fn lose_those_through(&mut self, via: PathId, now: Duration) {
        let through = |path: &Path| path.opening().is_some_and(|opening| opening.via == via);
        for index in (0..self.paths.len()).filter(|index| *index != via.0) {
            if through(&self.paths[index]) {
                self.lose(PathId(index), &format!("{via} died"), true, now);
                // The others have their first round yet.
                self.paths[index].fence_tries = 0;
            }
        }
    }

    /// A path's own interface has carrier, or has it no more.
    pub(crate) fn carrier(&mut self, id: PathId, carrier: bool, now: Duration) {
        let backoff = self.config.backoff_min;
        let Some(path) = self.paths.get_mut(id.0) else { return };
        if std::mem::replace(&mut path.carrier, carrier) == carrier {
            return;
        }
        if carrier {
            path.backoff = backoff;
            if let Session::None { log_in_at } = &mut path.session {
                *log_in_at = now;
            }
        } else if path.opening().is_none_or(|opening| opening.via == id) {
            self.lose(id, "no carrier", true, now);
        }
    }

    /// A sign of life of a path.
    pub(crate) fn heard(&mut self, id: PathId, now: Duration) {
        let Some(path) = self.paths.get_mut(id.0) else { return };
        path.heard = now;
        if let Session::Up { since, suspect: true } = path.session {
            self.set_session(id, Session::Up { since, suspect: false }, "heard again");
        }
    }
}
