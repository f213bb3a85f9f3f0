//! A member of the team that discovers.

use nicteam_machine::{MemberId, state};
use nicteam_wire::Mac;

/// A member of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// Which.
    pub id: MemberId,
    /// Its own address.
    pub mac: Mac,
    /// Its rate, Mbit/s; at least 1.
    pub rate_mbps: u32,
    /// True if frames may be sent by it and to it.
    pub usable: bool,
}

state!(struct Own { id, mac, rate_mbps, usable });
