//! The core: requests and events in, effects out.
//!
//! One call of `submit`, `handle_*` or `set_*`, then [`Multipath::poll_effect`] until it returns nothing, then
//! [`Multipath::poll_timeout`]. In debug builds a second change before the drain is a panic.

use std::time::Duration;

use crate::{Config, Effect, Outcome, PathId, Policy, Request, Status, SubmitError, TimerReason};

/// Multipath I/O to one LUN.
#[derive(Debug)]
pub struct Multipath {
    config: Config,
}

impl Multipath {
    /// So many paths; the first effects log all of them in. Times are since a start that the caller chose.
    pub fn new(config: Config, paths: usize, now: Duration) -> Multipath {
        let _ = (paths, now);
        Multipath { config }
    }

    /// Takes a request in; it is finished by [`Effect::Finish`].
    pub fn submit(&mut self, request: Request, now: Duration) -> Result<(), SubmitError> {
        let _ = (request, now);
        Ok(())
    }

    /// The session of a path is open.
    pub fn handle_logged_in(&mut self, path: PathId, now: Duration) {
        let _ = (path, now);
    }

    /// A command is answered, or certain not to be. Of a command that is not outstanding, nothing is taken in.
    pub fn handle_done(&mut self, path: PathId, command: u64, outcome: Outcome, now: Duration) {
        let _ = (path, command, outcome, now);
    }

    /// Bytes arrived on a path's connection, or the other end acknowledged bytes (`TCP_INFO`): it is alive.
    /// To be called before [`Multipath::handle_timeout`].
    pub fn handle_heard(&mut self, path: PathId, now: Duration) {
        let _ = (path, now);
    }

    /// The session of a path is over, or could not be opened. What it had outstanding is without an answer, and needs
    /// no [`Multipath::handle_done`]. The executor has closed it: no [`Effect::Drop`] follows.
    pub fn handle_broken(&mut self, path: PathId, reason: &str, now: Duration) {
        let _ = (path, reason, now);
    }

    /// The carrier of a path's own interface.
    pub fn handle_carrier(&mut self, path: PathId, carrier: bool, now: Duration) {
        let _ = (path, carrier, now);
    }

    /// Time has come to a deadline of [`Multipath::poll_timeout`]; harmless earlier or later.
    pub fn handle_timeout(&mut self, now: Duration) {
        let _ = now;
    }

    /// Takes another policy.
    pub fn set_policy(&mut self, policy: Policy, now: Duration) {
        self.config.policy = policy;
        let _ = now;
    }

    /// Bytes of a block, as READ CAPACITY said.
    pub fn set_block_bytes(&mut self, block_bytes: u32) {
        self.config.block_bytes = block_bytes;
    }

    /// The next thing to do, in order.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        None
    }

    /// When to call [`Multipath::handle_timeout`] next, and why.
    pub fn poll_timeout(&self) -> Option<(Duration, TimerReason)> {
        None
    }

    /// The paths and what they did.
    pub fn status(&self) -> Status {
        Status { policy: "", device_config: String::new(), paths: Vec::new(), switches: 0, waiting: 0, resent: 0 }
    }
}
