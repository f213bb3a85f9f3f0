//! What can be seen of a disk.

use std::net::SocketAddr;

use nicteam_iscsi::Negotiated;
use nicteam_multipath as multipath;

/// What can be seen of a disk.
#[derive(Clone, Debug)]
pub struct Status {
    /// What multipath did, a line a path in the order in which they were given, and the policy in ESXi's words.
    pub multipath: multipath::Status,
    /// The sessions, in the same order.
    pub paths: Vec<SessionStatus>,
    /// Commands that met the model of disks, and how many of them its cache had.
    pub model: Option<(u64, u64)>,
}

/// What can be seen of a path's session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionStatus {
    /// The target's portal.
    pub portal: SocketAddr,
    /// The own end of the connection, while there is one.
    pub local: Option<SocketAddr>,
    /// The device that it leaves by, once known.
    pub device: Option<String>,
    /// Whether that device has its carrier; true while it is not known.
    pub carrier: bool,
    /// What was agreed on at the last login.
    pub negotiated: Option<Negotiated>,
    /// How often it logged in.
    pub logins: u32,
    /// Why it was lost last, or could not be opened.
    pub last_error: Option<String>,
}
