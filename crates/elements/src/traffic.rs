//! What the connections of a workload are.

use std::fmt;

use serde_json::Value;

/// A test in SoftEther's scheme, as each of its clients carries it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tested {
    /// True if SoftEther's own programs do.
    pub by_softether: bool,
    /// Connections of each client.
    pub connections: u32,
    /// True if figures count Ethernet frames.
    pub ethernet_frames: bool,
}

/// What the connections of a workload are.
pub trait Task: fmt::Debug + Send + Sync {
    /// The `kind` of the file, by which agents know it, too.
    fn kind(&self) -> &'static str;

    /// What it is called, and how it goes, in words: `TCP`, `cubic`.
    fn words(&self) -> (&'static str, String);

    /// What both ends of each of so many connections of one direction have to know.
    fn each(&self, connections: u32, ipv6: bool) -> Value;

    /// Connections of one direction that are planned where the file asks for so many.
    fn planned(&self, connections: u32) -> u32 {
        connections
    }

    /// What it is as a test in SoftEther's scheme, if it is one.
    fn tested(&self) -> Option<Tested> {
        None
    }

    /// Payload that all connections of one direction ask for, bit/s; none: as much as they get.
    fn asked_bps(&self, _ipv6: bool) -> Option<f64> {
        None
    }

    /// Payload of the answers to each of its connections, bit/s, which takes room on links and counts as delivered nowhere;
    /// none: it asks for nothing, or nobody knows how much.
    fn answered_bps(&self) -> Option<f64> {
        None
    }

    /// Payload of each of its datagrams, bytes; none: it is TCP.
    fn datagram_payload(&self) -> Option<u32> {
        None
    }

    /// How it reads or writes a disk; none: it does not.
    fn disk_use(&self) -> Option<DiskUse<'_>> {
        None
    }

    /// VLAN of the tagged frames of the connection with this number, counted from 0 in each direction; none: no tag.
    fn vlan(&self, _number: u32) -> Option<u16> {
        None
    }

    /// Congestion control of the sending ends, if they have one.
    fn congestion(&self) -> Option<&str> {
        None
    }

    /// The programs that it runs, if it is not the lab that makes its connections: a connection of the plan is then
    /// one client with its server, which open connections of their own. It has ports of its own, and runs once
    /// whichever way the payload goes.
    fn programs(&self) -> Vec<&str> {
        Vec::new()
    }

    /// True if it opens connections of its own, or none: then none is planned for it, and those that there are are
    /// found by their sockets.
    fn finds_connections(&self) -> bool {
        !self.programs().is_empty()
    }

    /// False if all that it sends is questions that are answered: it has no part in the limit, and none in what is
    /// delivered.
    fn carries_payload(&self) -> bool {
        true
    }

    /// True if how long a packet is on its way is what it measures.
    fn measures_latency(&self) -> bool {
        false
    }

    /// True if it ends by itself: it begins with the measured window, and a run of such tasks alone ends with the last.
    fn is_finite(&self) -> bool {
        false
    }

    /// Parts of the payload that go from `from` to `to`, and back, 0 to 1, together 1, if the task fixes them; none:
    /// all of it goes the way of `direction`.
    fn shares(&self) -> Option<[f64; 2]> {
        None
    }

    /// What bounds [`Task::asked_bps`], in words.
    fn asked_reason(&self) -> String {
        "the rate at which datagrams are sent".to_owned()
    }

    /// True if a connection takes every link of its hosts by itself (multipath TCP, multipath storage): then each
    /// link has an address.
    fn takes_every_path(&self) -> bool {
        false
    }

    /// The target of which it knows every byte: no other workload may use that target at the same time.
    fn owns_target(&self) -> Option<&str> {
        None
    }

    /// The target that it uses.
    fn target(&self) -> Option<&str> {
        self.owns_target()
    }

    /// True if it speaks multipath TCP.
    fn is_mptcp(&self) -> bool {
        false
    }
}

/// How a task reads or writes a disk over its paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskUse<'a> {
    /// What chooses paths: `round-robin`, `fixed`, `queue-length`, `service-time` or `best`.
    pub policy: &'a str,
    /// Of `round-robin`: requests before the next path's turn.
    pub iops: u32,
    /// Requests that are under way at any moment.
    pub outstanding: u32,
    /// True if the initiator's write-back cache takes the data first.
    pub is_cached: bool,
}

impl PartialEq for dyn Task {
    fn eq(&self, other: &Self) -> bool {
        (self.kind(), self.words(), self.each(1, false)) == (other.kind(), other.words(), other.each(1, false))
    }
}

impl Eq for dyn Task {}
