//! A round trip to a plain host, as its connection measured it.

/// How long a frame and its acknowledgement were under way, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoundTrip {
    /// When it left.
    pub(super) left: u64,
    pub(super) took: u64,
    /// The shortest of its connection.
    pub(super) shortest: u64,
    /// What neither that nor our own backlog explains.
    pub(super) queued: u64,
    /// True if that says something of queues.
    pub(super) counts: bool,
}
