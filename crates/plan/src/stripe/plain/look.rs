//! A member as it looks to a frame to a plain host.

use nicteam_machine::MemberId;

/// A member as it looks to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) member: MemberId,
    /// When its wire is free, nanoseconds.
    pub(super) start: u64,
    /// For how long it then is taken.
    pub(super) wire_ns: u64,
}
