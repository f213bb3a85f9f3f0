//! A member's link.

use crate::state;

/// Duplex of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Duplex {
    /// One direction at a time.
    Half,
    /// Both at once.
    Full,
}

state!(
    enum Duplex {
        Half,
        Full,
    }
);

/// What the operating system says of a member's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberLink {
    /// Administratively up and carrier present.
    pub carrier: bool,
    /// Speed in Mbit/s, if the driver knows it.
    pub speed_mbps: Option<u32>,
    /// Duplex, if the driver knows it.
    pub duplex: Option<Duplex>,
}

state!(struct MemberLink { carrier, speed_mbps, duplex });
