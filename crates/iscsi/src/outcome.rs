//! What a session reports.

use crate::Buffer;

/// What a session reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The target took the login: commands may be sent.
    LoggedIn,
    /// A command is over. Each has exactly one, also one that could not be sent.
    Done {
        /// The number that the command was given.
        tag: u64,
        /// The command's buffer, if it had one. Of a write that is [`Outcome::Good`] it may be another one of the
        /// same size, with any content: what was written may still be on its way out of its own.
        buffer: Option<Buffer>,
        /// How it ended.
        outcome: Outcome,
    },
    /// The session is over: login failed, the connection broke, or the target broke a rule. Every command that was
    /// given before this event was taken has had its [`Event::Done`] before it.
    Broken {
        /// Why, in words.
        reason: String,
    },
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Done: data is read or written, the NOP-Out or the task management function answered, the logout taken.
    Good,
    /// The size of the logical unit, to [`crate::Session::read_capacity`].
    Capacity {
        /// How many blocks it has.
        blocks: u64,
        /// Bytes of a block.
        block_bytes: u32,
    },
    /// The target has something to say first (it restarted: 29h/00h to 29h/07h; the size changed: 2Ah/09h); the
    /// command was not executed and may be sent again.
    UnitAttention {
        /// Additional sense code.
        asc: u8,
        /// Its qualifier.
        ascq: u8,
    },
    /// The target is busy or its queue is full; the command was not executed and may be sent again.
    Busy,
    /// Another initiator has reserved the logical unit.
    ReservationConflict,
    /// The target refused the command or could not do it.
    CheckCondition {
        /// Sense key.
        key: u8,
        /// Additional sense code.
        asc: u8,
        /// Its qualifier.
        ascq: u8,
    },
    /// The target aborted the command, or ended it in some other way than by executing it: whether a write changed
    /// the medium is not known.
    Aborted(String),
    /// A task management function was refused, by this response code (RFC 7143 section 11.6.1).
    FunctionRefused(u8),
    /// The session ended before the answer: whether the command was executed, or will be, is not known.
    NoAnswer,
    /// The command never left this host, for this reason.
    Refused(String),
}
