//! What the connections of a workload are.

use std::fmt;

use serde_json::Value;

/// What the connections of a workload are.
pub trait Task: fmt::Debug + Send + Sync {
    /// The `kind` of the file, by which agents know it, too.
    fn kind(&self) -> &'static str;

    /// What it is called, and how it goes, in words: `TCP`, `cubic`.
    fn words(&self) -> (&'static str, String);

    /// What both ends of each of so many connections of one direction have to know.
    fn each(&self, connections: u32, ipv6: bool) -> Value;

    /// Payload that all connections of one direction ask for, bit/s; none: as much as they get.
    fn asked_bps(&self, _ipv6: bool) -> Option<f64> {
        None
    }

    /// VLAN in whose tagged frames it sends the connection of this number, counted from 0 in each direction; none: without a tag.
    fn vlan(&self, _number: u32) -> Option<u16> {
        None
    }

    /// Congestion control of the sending ends, if they have one.
    fn congestion(&self) -> Option<&str> {
        None
    }

    /// The programs that it runs, if it is not the lab that makes its connections: a connection of the plan is then one
    /// client with its server, which open connections of their own. It has ports of its own, and runs once whichever way
    /// the payload goes.
    fn programs(&self) -> Vec<&str> {
        Vec::new()
    }

    /// True if a connection takes every link of its hosts by itself (multipath TCP): then each link has an address.
    fn takes_every_path(&self) -> bool {
        false
    }
}

impl PartialEq for dyn Task {
    fn eq(&self, other: &Self) -> bool {
        (self.kind(), self.words(), self.each(1, false)) == (other.kind(), other.words(), other.each(1, false))
    }
}

impl Eq for dyn Task {}
