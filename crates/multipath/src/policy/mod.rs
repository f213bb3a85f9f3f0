//! Path policies: by which path a request is sent.

/// A path policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The first path; another one while it is down.
    Fixed,
    /// The paths in turn.
    RoundRobin {
        /// I/Os before the next path's turn; none: never set, [`DEFAULT_IOPS`], and shown as ESXi shows its default.
        ios: Option<u32>,
    },
    /// The path with the fewest commands outstanding.
    QueueLength,
    /// The path with the fewest bytes outstanding for its throughput.
    ServiceTime,
    /// The path by which the request is done first, by what was measured of each.
    #[default]
    Best,
}

/// I/Os before the next path's turn where nothing is set, as in ESXi.
pub const DEFAULT_IOPS: u32 = 1000;
