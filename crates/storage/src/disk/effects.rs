//! What sessions report goes to multipath, and what multipath wants is done.

use nicteam_iscsi::{Buffer, Outcome};
use nicteam_multipath::{Effect, Notice, PathId, PathState};
use nix::poll::PollFlags;

use super::capacity::{Answer, outcome_of};
use super::sessions::Report;
use super::state::{Disk, MOST_NOTICES, Next};
use crate::Kind;

impl Disk {
    /// Does what multipath wants, and what follows from it, until nothing is left.
    pub(super) fn do_effects(&mut self) {
        loop {
            while let Some(effect) = self.multipath.poll_effect() {
                self.do_effect(effect);
            }
            let Some(next) = self.next.pop_front() else { return };
            let now = self.now();
            match next {
                Next::NotBegun(path, reason) => self.multipath.handle_broken(path, &reason, now),
                Next::NotSent(path, command) => {
                    let outcome = nicteam_multipath::Outcome::Refused("its buffer is missing".to_owned());
                    self.multipath.handle_done(path, command, outcome, now);
                }
                Next::Finished(pending, result) => self.finished(pending, result),
                Next::Submit(request) => {
                    if let Err(error) = self.multipath.submit(request, now) {
                        self.finish(request.id, Err(error.to_string()));
                    }
                }
            }
        }
    }

    fn do_effect(&mut self, effect: Effect) {
        match effect {
            Effect::LogIn { path, via } => {
                if let Err(reason) = self.sessions.begin(path, via, self.block_bytes) {
                    self.next.push_back(Next::NotBegun(path, reason));
                }
            }
            Effect::Drop { path } => {
                for (command, buffer) in self.sessions.abandon(path) {
                    self.take_back(command, buffer);
                }
                self.capacity.lost(path);
            }
            Effect::Send { path, command, request } => self.send(path, command, request),
            Effect::Nop { path, command } => self.with_session(path, |session| session.nop_out(command)),
            Effect::TestUnitReady { path, command } => {
                self.capacity.tested(path, command);
                self.with_session(path, |session| session.test_unit_ready(command));
            }
            Effect::LunReset { path, command } => self.with_session(path, |session| session.lun_reset(command)),
            Effect::Finish { request, result } => self.finish(request, result.map_err(|error| error.to_string())),
            Effect::Notice(notice) => {
                if let Notice::Path { path, to: PathState::Dead | PathState::Fencing, reason, .. } = &notice {
                    self.sessions.note_error(*path, reason);
                }
                if self.notices.len() == MOST_NOTICES {
                    self.notices.pop_front();
                }
                self.notices.push_back((self.now(), notice));
            }
        }
    }

    /// A request is finished; it is held back until the model has it ready.
    fn finish(&mut self, request: u64, result: Result<(), String>) {
        let now = self.now();
        let result = result.map_err(|reason| match self.capacity.mismatch() {
            Some(mismatch) => format!("{reason}; {mismatch}"),
            None => reason,
        });
        let ready = self.requests.finish(request, result, now);
        self.next.extend(ready.map(|(pending, result)| Next::Finished(pending, result)));
    }

    fn send(&mut self, path: PathId, command: u64, request: u64) {
        let Some(pending) = self.requests.get_mut(request) else { return };
        let (kind, lba) = (pending.kind, pending.lba);
        let Some(session) = self.sessions.session(path.0) else { return };
        match (kind, pending.buffer.take()) {
            (Kind::Flush, buffer) => {
                pending.buffer = buffer;
                session.flush(command);
            }
            (Kind::Read, Some(buffer)) => session.read(command, lba, buffer),
            (Kind::Write, Some(buffer)) => session.write(command, lba, buffer),
            // A session that was not dropped would still have it, but multipath sends nothing twice at a time.
            (_, None) => return self.next.push_back(Next::NotSent(path, command)),
        }
        self.commands.insert(command, request);
    }

    fn with_session(&mut self, path: PathId, act: impl FnOnce(&mut nicteam_iscsi::Session)) {
        // Without one its end is reported already, and multipath will hear of it.
        if let Some(session) = self.sessions.session(path.0) {
            act(session);
        }
    }

    /// A command is over: its buffer comes back to its request.
    fn take_back(&mut self, command: u64, buffer: Option<Buffer>) {
        let request = self.commands.remove(&command).and_then(|request| self.requests.get_mut(request));
        if let (Some(pending), Some(buffer)) = (request, buffer) {
            pending.buffer = Some(buffer);
        }
    }

    /// Serves the sessions with ready connections.
    pub(super) fn serve(&mut self, found: &[(usize, PollFlags)]) {
        for (path, found) in found.iter().filter(|(_, found)| !found.is_empty()) {
            if found.contains(PollFlags::POLLIN) {
                let now = self.now();
                self.multipath.handle_heard(PathId(*path), now);
                self.do_effects();
            }
            // What it heard may have cost the path its session.
            if let Some(session) = self.sessions.session(*path) {
                session.service(*found);
            }
        }
        self.handle_reports();
    }

    /// Hands multipath what sessions report, until they report nothing.
    pub(super) fn handle_reports(&mut self) {
        while let Some((path, report)) = self.sessions.next_report() {
            let now = self.now();
            match report {
                Report::LoggedIn => self.multipath.handle_logged_in(path, now),
                Report::Broken(reason) => {
                    self.capacity.lost(path);
                    self.multipath.handle_broken(path, &reason, now);
                }
                Report::Done(command, buffer, outcome) => {
                    self.take_back(command, buffer);
                    self.answered(path, command, outcome);
                }
            }
            self.do_effects();
        }
    }

    /// Hands multipath an answer, or asks the path for its size first.
    fn answered(&mut self, path: PathId, command: u64, outcome: Outcome) {
        let now = self.now();
        match self.capacity.answered(path, command, outcome) {
            Answer::Ask(number) => self.with_session(path, |session| session.read_capacity(number)),
            Answer::Tell(command, outcome) => {
                // The session's end follows where there is none, and says it of all its commands at once.
                if let Some(outcome) = outcome_of(outcome) {
                    self.multipath.handle_done(path, command, outcome, now);
                }
            }
            Answer::Nothing => {}
        }
    }

    /// Does what is due.
    pub(super) fn handle_time(&mut self) {
        let now = self.now();
        while let Some((pending, result)) = self.requests.next_ready(now) {
            self.next.push_back(Next::Finished(pending, result));
        }
        self.do_effects();
        if self.multipath.poll_timeout().is_none_or(|(due, _)| due > now) {
            return;
        }
        // Whatever is due first: after a pause without a call, a path's NOP-Out is overdue, too, though its answer is
        // there. And a long write makes the target say nothing for a while, and yet it takes what is sent.
        for path in 0..self.sessions.len() {
            if self.sessions.has_moved(path) {
                self.multipath.handle_heard(PathId(path), now);
                self.do_effects();
            }
        }
        self.multipath.handle_timeout(now);
        self.do_effects();
    }

    /// Informs multipath of changed carriers.
    pub(super) fn look_at_carriers(&mut self, hinted: bool) {
        let now = self.now();
        for (path, carrier) in self.sessions.carriers.look(hinted, now) {
            self.multipath.handle_carrier(PathId(path), carrier, now);
            self.do_effects();
        }
    }
}
