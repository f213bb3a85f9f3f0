//! A session with a target.

use std::os::fd::BorrowedFd;

use nix::poll::PollFlags;

use crate::{Buffer, Error, Event, Library, Login, Negotiated, Outcome};

/// A session with a target: one TCP connection. See the crate's words.
///
/// Dropped before a logout was answered it resets the connection, so that nothing that is not sent yet will be.
#[derive(Debug)]
pub struct Session {
    _login: Login,
    events: std::collections::VecDeque<Event>,
}

impl Session {
    /// Begins to connect and to log in; [`Event::LoggedIn`] or [`Event::Broken`] follows.
    ///
    /// # Errors
    /// A name is not one that iSCSI takes, or the system refuses a socket or a route.
    pub fn begin(_library: &Library, login: Login) -> Result<Session, Error> {
        Ok(Session { _login: login, events: std::collections::VecDeque::new() })
    }

    /// The connection, as long as there is one.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// What to wait for at [`Session::fd`]; changes with every call of another function.
    pub fn wants(&self) -> PollFlags {
        PollFlags::empty()
    }

    /// Does what the connection allows, by what `poll` found.
    pub fn service(&mut self, _found: PollFlags) {}

    /// The next event, in order.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// What was agreed on at login, once logged in.
    pub fn negotiated(&self) -> Option<Negotiated> {
        None
    }

    /// Commands are taken: logged in, and neither over nor logging out.
    pub fn is_ready(&self) -> bool {
        false
    }

    /// How many commands have no answer yet.
    pub fn outstanding(&self) -> usize {
        0
    }

    /// Reads from block `lba` on as many blocks as the buffer holds (READ(16)).
    pub fn read(&mut self, tag: u64, _lba: u64, buffer: Buffer) {
        self.refuse(tag, Some(buffer));
    }

    /// Writes the buffer from block `lba` on (WRITE(16)).
    pub fn write(&mut self, tag: u64, _lba: u64, buffer: Buffer) {
        self.refuse(tag, Some(buffer));
    }

    /// Has the target put everything written on its medium (SYNCHRONIZE CACHE(16)).
    pub fn flush(&mut self, tag: u64) {
        self.refuse(tag, None);
    }

    /// Asks whether the logical unit is ready, which also takes a UNIT ATTENTION (TEST UNIT READY).
    pub fn test_unit_ready(&mut self, tag: u64) {
        self.refuse(tag, None);
    }

    /// Asks for the logical unit's size (READ CAPACITY(16)): [`Outcome::Capacity`].
    pub fn read_capacity(&mut self, tag: u64) {
        self.refuse(tag, None);
    }

    /// Asks the target for a sign of life (NOP-Out).
    pub fn nop_out(&mut self, tag: u64) {
        self.refuse(tag, None);
    }

    /// Has the target abort every command of the logical unit, of all sessions (LOGICAL UNIT RESET). This session's own
    /// commands end as [`Outcome::Aborted`] when the target has confirmed.
    pub fn lun_reset(&mut self, tag: u64) {
        self.refuse(tag, None);
    }

    /// Ends the session in order; [`Event::Broken`] does not follow. No command is taken any more.
    pub fn logout(&mut self, tag: u64) {
        self.refuse(tag, None);
    }

    fn refuse(&mut self, tag: u64, buffer: Option<Buffer>) {
        self.events.push_back(Event::Done { tag, buffer, outcome: Outcome::Refused("not there yet".into()) });
    }
}
