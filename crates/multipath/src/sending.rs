//! Requests: sent by a path, answered, sent again, given up.

use std::time::Duration;

use crate::path::{Command, Path};
use crate::policy::Load;
use crate::{Effect, IoError, Multipath, NoPath, Notice, Outcome, PathId};

/// When the policy holds requests back, it is asked again after so long, though nothing was answered.
const CHOOSE_AGAIN: Duration = Duration::from_millis(5);

/// Sense keys that say more than that the command failed.
mod key {
    pub const RECOVERED_ERROR: u8 = 1;
    pub const NOT_READY: u8 = 2;
    pub const UNIT_ATTENTION: u8 = 6;
    pub const ABORTED_COMMAND: u8 = 0xb;
}

impl Multipath {
    /// Sends what waits and may be sent, in order.
    pub(crate) fn dispatch(&mut self, now: Duration) {
        self.choose_at = None;
        if self.is_quiescing() || !self.paths.iter().any(Path::is_up) {
            return;
        }
        let mut order = 0;
        while let Some(pending) = self.requests.next_waiting(order) {
            order = pending.order;
            let (kind, range) = (pending.request.kind, pending.range());
            if self.paths.iter().any(|path| path.threatens(range)) {
                continue;
            }
            let bytes = u64::from(range.blocks) * u64::from(self.config.block_bytes);
            let Some(id) = self.chooser.choose(Load { kind, bytes }, &self.paths, now) else {
                self.choose_at = Some(now + CHOOSE_AGAIN);
                return;
            };
            let (command, request) = (self.number(), pending.request.id);
            let Some(path) = self.paths.get_mut(id.0) else { return };
            path.send(command, Command { request, kind, range, bytes, sent: now });
            self.requests.sent(&pending);
            self.switches += u64::from(self.last_sent.is_some_and(|last| last != id));
            self.last_sent = Some(id);
            self.effects.push_back(Effect::Send { path: id, command, request });
        }
    }

    /// A command is answered.
    pub(crate) fn done(&mut self, id: PathId, command: u64, outcome: Outcome, now: Duration) {
        let Some(path) = self.paths.get_mut(id.0) else { return };
        let is_nop = path.nop.is_some_and(|(nop, _)| nop == command);
        let opening = path.opening();
        if opening.is_none() && !is_nop && !path.commands.contains_key(&command) {
            return;
        }
        match outcome {
            Outcome::NoAnswer => return self.lose(id, "a command has no answer", true, now),
            // It did not come from the target.
            Outcome::Refused(_) => {}
            _ => self.heard(id, now),
        }
        let path = &mut self.paths[id.0];
        if is_nop {
            path.nop = None;
        } else if let Some(opening) = opening {
            self.opening_done(id, opening, command, outcome, now);
        } else if let Some(sent) = path.answer(command, outcome == Outcome::Good, now) {
            self.answered(id, sent.request, outcome, now);
        }
    }

    /// A request's command is answered: it is finished, or tried again.
    fn answered(&mut self, id: PathId, request: u64, outcome: Outcome, now: Duration) {
        let pause = Some(now + self.config.busy_pause);
        match outcome {
            Outcome::Good | Outcome::CheckCondition { key: key::RECOVERED_ERROR, .. } => self.finish(request, Ok(())),
            Outcome::UnitAttention { asc, ascq } => {
                self.effects.push_back(Effect::Notice(Notice::UnitAttention { path: id, asc, ascq }));
                let error = |_| IoError::CheckCondition { key: key::UNIT_ATTENTION, asc, ascq };
                self.try_again(request, None, error);
            }
            Outcome::Busy => self.try_again(request, pause, |tries| IoError::Busy { tries }),
            Outcome::Aborted => {
                self.try_again(request, None, |_| IoError::CheckCondition {
                    key: key::ABORTED_COMMAND,
                    asc: 0,
                    ascq: 0,
                });
            }
            Outcome::CheckCondition { key, asc, ascq } => {
                let error = IoError::CheckCondition { key, asc, ascq };
                match key {
                    key::ABORTED_COMMAND => self.try_again(request, None, |_| error),
                    key::NOT_READY => self.try_again(request, pause, |_| error),
                    _ => self.finish(request, Err(error)),
                }
            }
            Outcome::ReservationConflict => self.finish(request, Err(IoError::ReservationConflict)),
            Outcome::Refused(reason) => self.try_again(request, pause, |_| IoError::Refused(reason)),
            // Taken by `done`.
            Outcome::NoAnswer => {}
        }
    }

    /// A command was not executed, and will not be: it is sent again, at once or then, unless that was tried enough.
    fn try_again(&mut self, request: u64, at: Option<Duration>, error: impl FnOnce(u32) -> IoError) {
        let tries = self.requests.retry(request, at);
        if tries >= self.config.max_tries {
            self.finish(request, Err(error(tries)));
        } else {
            self.resent += 1;
        }
    }

    fn finish(&mut self, request: u64, result: Result<(), IoError>) {
        if self.requests.finish(request) {
            self.effects.push_back(Effect::Finish { request, result });
        }
    }

    /// Lets those fail that have waited as long as they may.
    pub(crate) fn expire(&mut self, now: Duration) {
        if self.requests.waiting() == 0 {
            return;
        }
        if let Some(since) = self.down_since.filter(|since| now >= *since + self.no_path_limit()) {
            let down = now.saturating_sub(since);
            for request in self.requests.unsent() {
                self.finish(request, Err(IoError::NoPath { down }));
            }
        }
        for index in 0..self.paths.len() {
            let Some(since) = self.paths[index].unfenced.as_ref().map(|lost| lost.since) else { continue };
            if now < since + self.config.fence.limit {
                continue;
            }
            let (path, waited) = (PathId(index), now.saturating_sub(since));
            for request in self.threatened_by(&self.paths[index]) {
                self.finish(request, Err(IoError::NotFenced { path, waited }));
            }
        }
    }

    /// The requests that a path's lost session keeps waiting.
    pub(crate) fn threatened_by(&self, path: &Path) -> Vec<u64> {
        if path.unfenced.is_none() {
            return Vec::new();
        }
        let mut unsent = self.requests.unsent();
        unsent.retain(|id| self.requests.get(*id).is_some_and(|pending| path.threatens(pending.range())));
        unsent
    }

    /// How long requests wait while no path is up.
    pub(crate) fn no_path_limit(&self) -> Duration {
        match self.config.no_path {
            NoPath::Fail => Duration::ZERO,
            NoPath::Queue(limit) => limit,
        }
    }
}
