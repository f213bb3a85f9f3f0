//! What is due, and when.

use std::time::Duration;

use crate::path::{Path, Session, Step};
use crate::{Effect, Multipath, PathId, TimerReason};

impl Multipath {
    /// The earliest deadline.
    pub(crate) fn next_deadline(&self) -> Option<(Duration, TimerReason)> {
        let paths = self.paths.iter().enumerate();
        let of_paths = paths.filter_map(|(index, path)| self.deadline_of(PathId(index), path));
        let busy = self.requests.resumes().map(|at| (at, TimerReason::Busy));
        let choose = self.choose_at.map(|at| (at, TimerReason::Choose));
        of_paths.chain(busy).chain(choose).chain(self.wait_ends()).min()
    }

    /// A path's earliest deadline.
    fn deadline_of(&self, id: PathId, path: &Path) -> Option<(Duration, TimerReason)> {
        match path.session {
            Session::None { log_in_at } => {
                let fences = path.unfenced.is_some() && self.config.fence.any_portal;
                let may = path.carrier || fences && self.paths.iter().any(Path::is_up);
                may.then_some((log_in_at, TimerReason::LogIn(id)))
            }
            Session::Opening(opening) => match opening.step {
                Step::Pause { until, .. } => Some((until, TimerReason::TestUnitReady(id))),
                _ => opening.deadline.map(|at| (at, TimerReason::LoginTimeout(id))),
            },
            Session::Up { .. } => {
                let command = self.command_due(path).map(|at| (at, TimerReason::CommandTimeout(id)));
                command.into_iter().chain([self.nop_due(id, path)]).min()
            }
        }
    }

    /// When the oldest command is overdue.
    fn command_due(&self, path: &Path) -> Option<Duration> {
        let (_, oldest) = path.commands.first_key_value()?;
        Some(oldest.sent + self.config.command_timeout)
    }

    /// When a NOP-Out is to be sent, or is overdue.
    fn nop_due(&self, id: PathId, path: &Path) -> (Duration, TimerReason) {
        let Some((_, sent)) = path.nop else {
            return (path.heard + self.config.nop_interval, TimerReason::NopInterval(id));
        };
        let silent_since = sent.max(path.heard);
        let timeout = self.config.nop_timeout;
        let wait = if path.is_up() { timeout / 2 } else { timeout };
        (silent_since + wait, TimerReason::NopTimeout(id))
    }

    /// When requests have waited as long as they may.
    fn wait_ends(&self) -> Option<(Duration, TimerReason)> {
        if self.requests.waiting() == 0 {
            return None;
        }
        let no_path = self.down_since.map(|since| since + self.no_path_limit());
        // Of those that wait for something else a deadline that is over would come again and again.
        let blocking = self.paths.iter().filter(|path| !self.threatened_by(path).is_empty());
        let fences = blocking.filter_map(|path| Some(path.unfenced.as_ref()?.since + self.config.fence.limit));
        no_path.into_iter().chain(fences).min().map(|at| (at, TimerReason::NoPath))
    }

    /// Does what is due.
    pub(crate) fn time_out(&mut self, now: Duration) {
        self.requests.resume(now);
        for index in 0..self.paths.len() {
            let id = PathId(index);
            while let Some((at, reason)) = self.deadline_of(id, &self.paths[index])
                && at <= now
                && self.path_due(id, reason, now)
            {}
        }
    }

    /// Does what is due of a path; false: it is done elsewhere, or nothing more can be due.
    fn path_due(&mut self, id: PathId, reason: TimerReason, now: Duration) -> bool {
        let Some(path) = self.paths.get_mut(id.0) else { return false };
        match (reason, path.session) {
            (TimerReason::NopInterval(_), _) => {
                let command = self.number();
                self.paths[id.0].nop = Some((command, now));
                self.effects.push_back(Effect::Nop { path: id, command });
            }
            (TimerReason::NopTimeout(_), Session::Up { since, suspect: false }) => {
                self.set_session(id, Session::Up { since, suspect: true }, "a NOP-Out is overdue");
            }
            (TimerReason::NopTimeout(_), _) => {
                let silent = now.saturating_sub(path.heard).as_millis();
                self.lose(id, &format!("silent for {silent} ms"), true, now);
                return false;
            }
            (TimerReason::CommandTimeout(_), _) => {
                let seconds = self.config.command_timeout.as_secs_f64();
                self.lose(id, &format!("a command is not answered for {seconds} s"), true, now);
                return false;
            }
            (TimerReason::LoginTimeout(_), Session::Opening(opening)) => {
                let what = match opening.step {
                    Step::LogIn => "login",
                    Step::Test { .. } => "TEST UNIT READY",
                    _ => "LOGICAL UNIT RESET",
                };
                self.lose(id, &format!("{what} not answered"), true, now);
                return false;
            }
            (TimerReason::TestUnitReady(_), Session::Opening(opening)) => {
                if let Step::Pause { tries, .. } = opening.step {
                    self.test(id, tries, now);
                }
            }
            // Logins are begun by `recover`.
            _ => return false,
        }
        true
    }
}
