//! What teams in mode stripe did towards hosts that do not stripe.

use serde::{Deserialize, Serialize};

/// A team at the end of the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneSided {
    /// Its host.
    pub host: String,
    /// Its device.
    pub team: String,
    /// The hosts, and gateways, that it sent to lately.
    pub hosts: Vec<PlainHost>,
    /// Its members.
    pub members: Vec<PlainMember>,
}

/// A host, or a gateway, that does not stripe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainHost {
    /// The MAC address by which it is sent to.
    pub mac: String,
    /// Members that are used towards it.
    pub width: u32,
    /// What it acknowledged lately, Mbit/s.
    pub delivered_mbps: u32,
    /// More members were tried and nothing gained: until the next trial, milliseconds; 0: none is held off.
    #[serde(default)]
    pub held_ms: u32,
}

/// A member towards such hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainMember {
    /// Its device.
    pub member: String,
    /// Segments of TCP with data that it sent to such hosts, since the team began.
    pub sent: u64,
    /// Of these, the retransmissions.
    pub resent: u64,
    /// `used`, `silent` (nothing comes back by it) or `lossy` (much of it is sent again).
    pub state: String,
    /// Why it is not used, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
