//! What goes in and comes out of [`crate::Multipath`], in its own terms.

use std::fmt;
use std::time::Duration;

/// A path's index, in the order in which the paths were given.
///
/// A path is a pair of an own interface and a portal, and the session with an ISID of its own that goes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub usize);

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// READ.
    Read,
    /// WRITE.
    Write,
    /// SYNCHRONIZE CACHE of the whole LUN.
    Flush,
}

/// What the caller wants of the LUN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The caller's number for it; unique among those that are not finished.
    pub id: u64,
    /// What it does.
    pub kind: Kind,
    /// The first block.
    pub lba: u64,
    /// How many blocks; 0 for a flush.
    pub blocks: u32,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// GOOD.
    Good,
    /// CHECK CONDITION with sense key UNIT ATTENTION: not executed, to be sent again.
    UnitAttention {
        /// Additional sense code.
        asc: u8,
        /// Its qualifier.
        ascq: u8,
    },
    /// BUSY or TASK SET FULL: not executed, to be sent again after a pause.
    Busy,
    /// TASK ABORTED: the target has given it up, and will not execute it.
    Aborted,
    /// RESERVATION CONFLICT.
    ReservationConflict,
    /// CHECK CONDITION with any other sense key.
    CheckCondition {
        /// Sense key (SPC-4 table 28).
        key: u8,
        /// Additional sense code.
        asc: u8,
        /// Its qualifier.
        ascq: u8,
    },
    /// The session is over or given up, and it is not known whether the command was or will be executed.
    NoAnswer,
    /// It was not sent: the reason.
    Refused(String),
}

/// What the executor is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Open a session with the ISID of `path` through the interface and the portal of `via`.
    ///
    /// `via` is `path` itself, unless the session that `path` had is reinstated to fence it. Answered by
    /// [`crate::Multipath::handle_logged_in`] or [`crate::Multipath::handle_broken`], both with `path`.
    LogIn {
        /// The path with this ISID; every later call and effect names the session by it.
        path: PathId,
        /// The path with the interface and portal.
        via: PathId,
    },
    /// Close the session of `path` at once and without a word: unsent bytes must not be sent any more
    /// (`SO_LINGER` of 0 seconds). Nothing that it still reports is to be handed in.
    Drop {
        /// The path.
        path: PathId,
    },
    /// Send the command of a request. Answered by [`crate::Multipath::handle_done`].
    Send {
        /// By which path's session.
        path: PathId,
        /// The command, never the same twice.
        command: u64,
        /// The request.
        request: u64,
    },
    /// Send a NOP-Out that asks for an answer. Answered by [`crate::Multipath::handle_done`] with any outcome.
    Nop {
        /// By which path's session.
        path: PathId,
        /// The command.
        command: u64,
    },
    /// Send TEST UNIT READY. Answered by [`crate::Multipath::handle_done`].
    TestUnitReady {
        /// By which path's session.
        path: PathId,
        /// The command.
        command: u64,
    },
    /// Send the task management function LOGICAL UNIT RESET. Answered by [`crate::Multipath::handle_done`]: `Good` if
    /// the function is complete.
    LunReset {
        /// By which path's session.
        path: PathId,
        /// The command.
        command: u64,
    },
    /// A request is finished.
    Finish {
        /// Which.
        request: u64,
        /// Whether it was executed.
        result: Result<(), IoError>,
    },
    /// Something a user may want to know.
    Notice(Notice),
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IoError {
    /// No path was up for as long as requests may wait.
    #[error("no path to the LUN is up (since {} ms); hint: `no_path` says how long requests wait for one", .down.as_millis())]
    NoPath {
        /// For how long none was.
        down: Duration,
    },
    /// The range overlaps a write on a path that died and could not be fenced.
    #[error(
        "a write to these blocks may still be on its way by {path}, which could not be fenced for {} ms; \
         hint: the target has to be reached by any portal for a session reinstatement", .waited.as_millis()
    )]
    NotFenced {
        /// The path that died.
        path: PathId,
        /// For how long the fence has been wanted.
        waited: Duration,
    },
    /// The target repeated this answer.
    #[error("the target is busy (BUSY or TASK SET FULL, {tries} times)")]
    Busy {
        /// How often the command was sent.
        tries: u32,
    },
    /// Each session that it was sent by was lost before its answer.
    #[error("{losses} sessions were lost before they answered it; hint: look at what the target says of it")]
    Lost {
        /// How many.
        losses: u32,
    },
    /// Another initiator has reserved the LUN.
    #[error("RESERVATION CONFLICT: another initiator has reserved the LUN")]
    ReservationConflict,
    /// The target's sense data.
    #[error("CHECK CONDITION: {} (sense key {key:#x}, ASC/ASCQ {asc:02x}h/{ascq:02x}h)", sense_key(*.key))]
    CheckCondition {
        /// Sense key.
        key: u8,
        /// Additional sense code.
        asc: u8,
        /// Its qualifier.
        ascq: u8,
    },
    /// The command could not be sent: the reason.
    #[error("not sent: {0}")]
    Refused(String),
}

/// Why [`crate::Multipath::submit`] refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// A request of this number is not finished.
    #[error("request {0} is not finished")]
    Duplicate(u64),
    /// The range does not end within 64 bits.
    #[error("request {0} ends beyond the last block that can be named")]
    Range(u64),
}

/// A path's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathState {
    /// A session is being opened, or TEST UNIT READY is not yet answered by GOOD.
    LoggingIn,
    /// Commands are sent.
    Up,
    /// A NOP-Out is overdue: no new commands.
    Suspect,
    /// The session is lost, and its ISID is being reinstated through another path.
    Fencing,
    /// No session.
    Dead,
}

/// Something a user may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A path's state changed.
    Path {
        /// Which.
        path: PathId,
        /// Before.
        from: PathState,
        /// Now.
        to: PathState,
        /// Why; empty where the states say it.
        reason: String,
    },
    /// A UNIT ATTENTION was consumed. 2Ah/09h says that the capacity changed.
    UnitAttention {
        /// By which path.
        path: PathId,
        /// Additional sense code.
        asc: u8,
        /// Its qualifier.
        ascq: u8,
    },
    /// The session that a path had is fenced: what it still held will not be executed.
    Fenced {
        /// The path that died.
        path: PathId,
        /// The path with the portal through which it was reinstated.
        via: PathId,
        /// Writes with an unknown outcome.
        writes: usize,
        /// From the death to the fence.
        took: Duration,
    },
    /// The last path went down (false) or the first one came up (true).
    Reachable(bool),
}

/// Why [`crate::Multipath::poll_timeout`] wants to be called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimerReason {
    /// A path was silent for `nop_interval`.
    NopInterval(PathId),
    /// A NOP-Out is overdue: the path becomes suspect, then dead.
    NopTimeout(PathId),
    /// A command is without an answer for `command_timeout`.
    CommandTimeout(PathId),
    /// A login, TEST UNIT READY or the reset takes too long.
    LoginTimeout(PathId),
    /// The next TEST UNIT READY.
    TestUnitReady(PathId),
    /// The next login.
    LogIn(PathId),
    /// A command that met a busy target is sent again.
    Busy,
    /// Requests have waited for a path, or for a fence, as long as they may.
    NoPath,
    /// The policy has held requests back and wants to choose again.
    Choose,
}

impl PathId {
    /// Its name as ESXi makes them: the adapter of the software initiator, and a channel a path.
    pub fn runtime_name(self) -> String {
        format!("vmhba64:C{}:T0:L0", self.0)
    }
}

impl fmt::Display for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "path {}", self.0)
    }
}

impl fmt::Display for PathState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PathState::LoggingIn => "logging in",
            PathState::Up => "up",
            PathState::Suspect => "suspect",
            PathState::Fencing => "fencing",
            PathState::Dead => "dead",
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Good => f.write_str("GOOD"),
            Outcome::UnitAttention { asc, ascq } => write!(f, "UNIT ATTENTION {asc:02x}h/{ascq:02x}h"),
            Outcome::Busy => f.write_str("BUSY"),
            Outcome::Aborted => f.write_str("TASK ABORTED"),
            Outcome::ReservationConflict => f.write_str("RESERVATION CONFLICT"),
            Outcome::CheckCondition { key, asc, ascq } => write!(f, "{} {asc:02x}h/{ascq:02x}h", sense_key(*key)),
            Outcome::NoAnswer => f.write_str("no answer"),
            Outcome::Refused(reason) => write!(f, "not sent: {reason}"),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Path { path, from, to, reason } if reason.is_empty() => write!(f, "{path}: {from} -> {to}"),
            Notice::Path { path, from, to, reason } => write!(f, "{path}: {from} -> {to}: {reason}"),
            Notice::UnitAttention { path, asc, ascq } => {
                write!(f, "{path}: UNIT ATTENTION {asc:02x}h/{ascq:02x}h consumed")
            }
            Notice::Fenced { path, via, writes, took } => {
                let ms = took.as_secs_f64() * 1e3;
                write!(f, "{path}: session reinstated through {via} after {ms:.1} ms, {writes} writes fenced")
            }
            Notice::Reachable(true) => f.write_str("the LUN is reachable"),
            Notice::Reachable(false) => f.write_str("all paths are down"),
        }
    }
}

/// The name of a sense key (SPC-4 table 28).
fn sense_key(key: u8) -> &'static str {
    const NAMES: [&str; 16] = [
        "NO SENSE",
        "RECOVERED ERROR",
        "NOT READY",
        "MEDIUM ERROR",
        "HARDWARE ERROR",
        "ILLEGAL REQUEST",
        "UNIT ATTENTION",
        "DATA PROTECT",
        "BLANK CHECK",
        "VENDOR SPECIFIC",
        "COPY ABORTED",
        "ABORTED COMMAND",
        "RESERVED",
        "VOLUME OVERFLOW",
        "MISCOMPARE",
        "COMPLETED",
    ];
    NAMES[usize::from(key & 15)]
}
