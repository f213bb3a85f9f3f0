//! What a session logs in with.

use std::net::SocketAddr;

use crate::Isid;

/// What a session logs in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The target's portal; its usual port is 3260.
    pub portal: SocketAddr,
    /// The target's name: `iqn.2026-01.org.example:disk`.
    pub target: String,
    /// The logical unit's number.
    pub lun: u32,
    /// The initiator's own name.
    pub initiator: String,
    /// The initiator's part of the session's identifier. A login by the name and ISID of a session that exists takes
    /// its place.
    pub isid: Isid,
    /// Bytes of a block (default 512). An [`crate::Outcome::Capacity`] replaces it.
    pub block_bytes: u32,
    /// Offer to send data with the command (default yes; both ends must want it).
    pub immediate_data: bool,
    /// Ask that the target requests all data but the immediate (default no; one end suffices to have it).
    pub initial_r2t: bool,
    /// Offer a checksum (CRC32C) over each header (default no).
    pub header_digest: bool,
    /// Log in by way of the security negotiation stage, in which no authentication is offered beside CHAP by a name
    /// that no target knows (default yes).
    ///
    /// tgt closes the replaced session only in that stage: without it a login by the same ISID stands beside the
    /// old session, which goes on to write. Say no for a target that wants CHAP where none would do.
    pub security_stage: bool,
    /// The network interface that the connection is bound to.
    pub bind_device: Option<String>,
}

impl Login {
    /// The usual port of a portal.
    pub const PORT: u16 = 3260;

    /// A login with the defaults.
    pub fn new(portal: SocketAddr, target: &str, lun: u32, initiator: &str, isid: Isid) -> Login {
        Login {
            portal,
            target: target.to_owned(),
            lun,
            initiator: initiator.to_owned(),
            isid,
            block_bytes: 512,
            immediate_data: true,
            initial_r2t: false,
            header_digest: false,
            security_stage: true,
            bind_device: None,
        }
    }
}
