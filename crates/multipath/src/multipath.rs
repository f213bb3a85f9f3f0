//! The core: requests and events in, effects out.
//!
//! One call of `submit`, `handle_*` or `set_*`, then [`Multipath::poll_effect`] until it returns nothing, then
//! [`Multipath::poll_timeout`]. In debug builds a second change before the drain is a panic.

use std::collections::VecDeque;
use std::time::Duration;

use crate::path::{Path, Session};
use crate::policy::{Choose, Policy};
use crate::requests::Requests;
use crate::{Config, Effect, Notice, Outcome, PathId, Request, SubmitError, TimerReason};

/// Multipath I/O to one LUN.
///
/// The parts: `sessions` opens, fences and loses them; `sending` chooses paths and takes answers; `timers` knows what
/// is due.
#[derive(Clone, Debug)]
pub struct Multipath {
    pub(crate) config: Config,
    pub(crate) paths: Vec<Path>,
    pub(crate) requests: Requests,
    pub(crate) chooser: Box<dyn Choose>,
    /// Since when no path has a session.
    pub(crate) down_since: Option<Duration>,
    /// Requests were held back: then the policy is asked again.
    pub(crate) choose_at: Option<Duration>,
    pub(crate) last_sent: Option<PathId>,
    pub(crate) switches: u64,
    pub(crate) resent: u64,
    pub(crate) effects: VecDeque<Effect>,
    next_command: u64,
}

impl Multipath {
    /// So many paths; the first effects log all of them in. Times are since a start that the caller chose, and never
    /// go back.
    pub fn new(config: Config, paths: usize, now: Duration) -> Multipath {
        let chooser = config.policy.build();
        let mut multipath = Multipath {
            paths: (0..paths).map(|_| Path::new(now, config.backoff_min)).collect(),
            requests: Requests::default(),
            chooser,
            config,
            down_since: Some(now),
            choose_at: None,
            last_sent: None,
            switches: 0,
            resent: 0,
            effects: VecDeque::new(),
            next_command: 0,
        };
        multipath.settle(now);
        multipath
    }

    /// Takes a request in; it is finished by [`Effect::Finish`].
    pub fn submit(&mut self, request: Request, now: Duration) -> Result<(), SubmitError> {
        self.assert_drained();
        self.requests.take(request)?;
        self.settle(now);
        Ok(())
    }

    /// The session of a path is open.
    pub fn handle_logged_in(&mut self, path: PathId, now: Duration) {
        self.assert_drained();
        self.logged_in(path, now);
        self.settle(now);
    }

    /// A command is answered, or it is certain that it will not be: with [`Outcome::NoAnswer`] the path's session is
    /// given up. Of a command that is not outstanding, nothing is taken in.
    pub fn handle_done(&mut self, path: PathId, command: u64, outcome: Outcome, now: Duration) {
        self.assert_drained();
        self.done(path, command, outcome, now);
        self.settle(now);
    }

    /// Bytes arrived on a path's connection, or the other end acknowledged bytes (`TCP_INFO`): it is alive.
    ///
    /// To be called before [`Multipath::handle_timeout`], so that a path that delivers does not count as dead because
    /// its connection was not read. Other calls do not need it: an answer shows by itself that the path is alive.
    pub fn handle_heard(&mut self, path: PathId, now: Duration) {
        self.assert_drained();
        self.heard(path, now);
        self.settle(now);
    }

    /// The session of a path is over, or could not be opened. What it had outstanding is without an answer, and needs
    /// no [`Multipath::handle_done`]. The executor has closed it: no [`Effect::Drop`] follows.
    pub fn handle_broken(&mut self, path: PathId, reason: &str, now: Duration) {
        self.assert_drained();
        self.lose(path, reason, false, now);
        self.settle(now);
    }

    /// The carrier of a path's own interface; without this call it is assumed to be there.
    pub fn handle_carrier(&mut self, path: PathId, carrier: bool, now: Duration) {
        self.assert_drained();
        self.carrier(path, carrier, now);
        self.settle(now);
    }

    /// Time has come to a deadline of [`Multipath::poll_timeout`]; harmless earlier or later.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.assert_drained();
        self.time_out(now);
        self.settle(now);
    }

    /// Takes another policy, for requests that are not sent yet.
    pub fn set_policy(&mut self, policy: Policy, now: Duration) {
        self.assert_drained();
        self.config.policy = policy;
        self.chooser = policy.build();
        self.settle(now);
    }

    /// Bytes of a block, as READ CAPACITY reported them; those of commands that are outstanding stay what they were.
    pub fn set_block_bytes(&mut self, block_bytes: u32) {
        self.config.block_bytes = block_bytes;
    }

    /// The next thing to do, in order.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// When to call [`Multipath::handle_timeout`] next, and why.
    pub fn poll_timeout(&self) -> Option<(Duration, TimerReason)> {
        self.next_deadline()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn assert_drained(&self) {
        debug_assert!(self.effects.is_empty(), "a change before the effects of the last one were polled");
    }

    /// After every change: makes everything else follow from the sessions and the requests.
    fn settle(&mut self, now: Duration) {
        self.reach(now);
        self.recover(now);
        self.try_reset(now);
        self.expire(now);
        self.dispatch(now);
    }

    /// Notes whether any path has a session.
    fn reach(&mut self, now: Duration) {
        let reachable = self.paths.iter().any(Path::has_session);
        if reachable == self.down_since.is_none() {
            return;
        }
        self.down_since = (!reachable).then_some(now);
        self.effects.push_back(Effect::Notice(Notice::Reachable(reachable)));
    }

    /// A number for a command, which no other one has.
    pub(crate) fn number(&mut self) -> u64 {
        self.next_command += 1;
        self.next_command
    }

    /// A path's session becomes another one.
    pub(crate) fn set_session(&mut self, id: PathId, session: Session, reason: &str) {
        let Some(path) = self.paths.get_mut(id.0) else { return };
        let from = path.state(id);
        path.session = session;
        let to = path.state(id);
        if from != to {
            let reason = reason.to_owned();
            self.effects.push_back(Effect::Notice(Notice::Path { path: id, from, to, reason }));
        }
    }
}
