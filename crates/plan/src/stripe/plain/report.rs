//! What a dataplane reports of one-sided striping.

use nicteam_machine::{MemberId, state};
use nicteam_wire::Mac;

/// What a dataplane has seen of hosts that do not stripe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainReport {
    /// The hosts that were sent to lately, in no order.
    pub hosts: Vec<PlainHost>,
    /// Members that have sent one-sided, by place.
    pub members: Vec<PlainMember>,
}

/// A host, or a next hop, that does not stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainHost {
    /// Its address.
    pub mac: Mac,
    /// Members that are used towards it, at least 1.
    pub width: u8,
    /// What it acknowledged lately, Mbit/s.
    pub delivered_mbps: u32,
    /// It was sent to by more than one member since the last report.
    pub striped: bool,
    /// Another member was tried and nothing gained: until the next trial, milliseconds from now; 0: none is held off.
    pub held_ms: u32,
}

/// What a member sent to hosts that do not stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainMember {
    /// Its place.
    pub id: MemberId,
    /// Segments of TCP with data that it sent to such hosts, since the team began.
    pub sent: u64,
    /// Of these, those whose data was sent again.
    pub resent: u64,
}

state!(struct PlainReport { hosts, members });
state!(struct PlainHost { mac, width, delivered_mbps, striped, held_ms });
state!(struct PlainMember { id, sent, resent });
