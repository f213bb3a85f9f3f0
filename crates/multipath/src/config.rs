//! What can be configured.

use std::time::Duration;

use crate::Policy;

/// Configuration of [`crate::Multipath`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How a path is chosen.
    pub policy: Policy,
    /// Bytes of a block, until [`crate::Multipath::set_block_bytes`] says otherwise.
    pub block_bytes: u32,
    /// So long silent, a path is asked by a NOP-Out. More than zero.
    pub nop_interval: Duration,
    /// So long without a sign of life after that, the path is dead; it is suspect after half of it.
    pub nop_timeout: Duration,
    /// So long without an answer, a command costs its path the session, though NOPs are answered.
    pub command_timeout: Duration,
    /// Within this time a login, each TEST UNIT READY and the reset have to be answered.
    pub login_timeout: Duration,
    /// The pause before the second attempt to log in; each further one is twice as long.
    pub backoff_min: Duration,
    /// The longest such pause.
    pub backoff_max: Duration,
    /// The pause before a command is sent again that met a busy target.
    pub busy_pause: Duration,
    /// How often a request is sent at most that meets a busy target, a UNIT ATTENTION or ABORTED COMMAND each time;
    /// and how often a request that loses its session each time. 0 counts as 1.
    pub max_tries: u32,
    /// What becomes of requests while no path is up.
    pub no_path: NoPath,
    /// How the session of a dead path is fenced.
    pub fence: Fence,
}

/// What becomes of requests while no path is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPath {
    /// They fail at once.
    Fail,
    /// They wait; all fail when none has been up for so long, and those that come then fail at once.
    Queue(Duration),
}

/// How the session of a dead path is fenced, so that what it still holds is not executed late.
///
/// A command of a session that the initiator has given up may wait in three places: in the network, in a buffer of the
/// target, in the target's disk queue. Session reinstatement (RFC 7143, 6.3.5: a login with the same initiator name and
/// ISID) closes the old connection at the target, which empties the first two for good. A LOGICAL UNIT RESET, answered
/// when what is executed has ended, empties the third. Alone it would not do, as it says nothing of what arrives after
/// it by a connection that the target still has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The session is reinstated through any path that is up. Else only through its own portal, when that is back: for
    /// targets whose portals belong to several portal groups.
    pub any_portal: bool,
    /// After the reinstatement a LOGICAL UNIT RESET is sent by the new session: for targets that answer the login
    /// before commands of the old session, which they execute already, have ended, as tgt does (1.0.85). It may abort
    /// the commands of all sessions without an answer; so nothing new is sent by any path until what is outstanding
    /// is answered and the reset is done. (A reset whose session is lost may still arrive late: what it aborts
    /// without an answer is sent again after `command_timeout`.)
    pub reset: bool,
    /// So long requests wait for it that overlap a write of the dead path; then they fail.
    pub limit: Duration,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            policy: Policy::default(),
            block_bytes: 512,
            nop_interval: Duration::from_millis(100),
            nop_timeout: Duration::from_millis(150),
            command_timeout: Duration::from_secs(30),
            login_timeout: Duration::from_secs(1),
            backoff_min: Duration::from_millis(100),
            backoff_max: Duration::from_secs(1),
            busy_pause: Duration::from_millis(20),
            max_tries: 64,
            no_path: NoPath::Queue(Duration::from_secs(30)),
            fence: Fence::default(),
        }
    }
}

impl Default for Fence {
    fn default() -> Fence {
        Fence { any_portal: true, reset: true, limit: Duration::from_secs(30) }
    }
}
