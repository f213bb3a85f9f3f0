//! What an actor system wants done and told, and its states in words.

use std::fmt;

use nicteam_wire::Mac;

use super::{ChurnState, End, MarkerId, MuxState, Reason};
use crate::MemberId;

/// What the caller is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LacpEffect {
    /// Send this frame by this member.
    Transmit {
        /// The member.
        member: MemberId,
        /// The frame, from the destination address on, no check sequence.
        frame: Vec<u8>,
    },
    /// [`collecting`](super::Lacp::collecting), [`distributing`](super::Lacp::distributing),
    /// the active aggregator or [`carrier`](super::Lacp::carrier) changed. It
    /// comes before the PDU that tells the partner.
    Changed,
    /// Something a user may want to know.
    Event(LacpEvent),
}

/// Something a user may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LacpEvent {
    /// A port's mux machine came to rest in another state.
    Mux {
        /// The member.
        member: MemberId,
        /// Before.
        from: MuxState,
        /// Now.
        to: MuxState,
        /// Why it does not distribute.
        why_not: Option<Reason>,
    },
    /// A port's partner is another system, or nobody.
    Partner {
        /// The member.
        member: MemberId,
        /// The partner, if there is one.
        system: Option<Mac>,
    },
    /// Another aggregator is active.
    Active {
        /// Before.
        from: Option<u16>,
        /// Now.
        to: Option<u16>,
    },
    /// Our own PDU came back, for the first time in a while.
    Looped {
        /// The member.
        member: MemberId,
    },
    /// One end of a link has been out of sync for 60 s.
    Churned {
        /// The member.
        member: MemberId,
        /// Which end.
        end: End,
    },
    /// A marker of [`Lacp::flush`](super::Lacp::flush) was answered, or will not be.
    Flushed {
        /// The member.
        member: MemberId,
        /// The marker.
        marker: MarkerId,
        /// Every frame sent by the member before the marker has been taken in.
        answered: bool,
    },
}

impl fmt::Display for ChurnState {
    /// As `Actor Churn State` in `/proc/net/bonding/NAME`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ChurnState::Monitor => "monitoring",
            ChurnState::None => "none",
            ChurnState::Churned => "churned",
        })
    }
}

impl fmt::Display for MuxState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MuxState::Detached => "detached",
            MuxState::Waiting => "waiting",
            MuxState::Attached => "attached",
            MuxState::Collecting => "collecting",
            MuxState::Distributing => "distributing",
        })
    }
}

impl fmt::Display for LacpEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = |id: &Option<u16>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        match self {
            LacpEvent::Mux { member, from, to, why_not: Some(reason) } => {
                write!(f, "member {member}: {from} -> {to} ({reason})")
            }
            LacpEvent::Mux { member, from, to, why_not: None } => write!(f, "member {member}: {from} -> {to}"),
            LacpEvent::Partner { member, system: Some(system) } => write!(f, "member {member}: partner is {system}"),
            LacpEvent::Partner { member, system: None } => write!(f, "member {member}: no partner"),
            LacpEvent::Active { from, to } => write!(f, "active aggregator: {} -> {}", id(from), id(to)),
            LacpEvent::Looped { member } => {
                write!(
                    f,
                    "member {member}: our own LACPDU came back; is the cable looped, or the system address taken?"
                )
            }
            LacpEvent::Churned { member, end: End::Actor } => {
                write!(f, "member {member}: this end has been out of sync for 60 s")
            }
            LacpEvent::Churned { member, end: End::Partner } => {
                write!(f, "member {member}: the partner has been out of sync for 60 s")
            }
            LacpEvent::Flushed { member, marker, answered: true } => {
                write!(f, "member {member}: marker {} answered", marker.0)
            }
            LacpEvent::Flushed { member, marker, answered: false } => {
                write!(f, "member {member}: marker {} not answered", marker.0)
            }
        }
    }
}
