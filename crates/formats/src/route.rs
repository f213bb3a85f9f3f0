//! A route in the words of `ip route`.

use std::net::IpAddr;

use crate::Address;

/// A route by a team: `default via 10.0.0.254 metric 100`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// Where it leads; a prefix of length 0 is `default`.
    pub to: Address,
    /// The next hop; `None`: it is on the link.
    pub via: Option<IpAddr>,
    /// Its metric, if it has one.
    pub metric: Option<u32>,
    /// Its table, if it is not the main one.
    pub table: Option<u32>,
}
