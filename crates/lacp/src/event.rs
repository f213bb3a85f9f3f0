//! What an actor system wants done and told, and its states in words.

use std::fmt;

use nicteam_machine::MemberId;
use nicteam_wire::Mac;

use super::{ChurnState, End, MarkerId, MuxState, Reason, ReceiveState};

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

impl fmt::Display for ReceiveState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReceiveState::PortDisabled => "port disabled",
            ReceiveState::Expired => "expired",
            ReceiveState::LacpDisabled => "lacp disabled",
            ReceiveState::Defaulted => "defaulted",
            ReceiveState::Current => "current",
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

impl LacpEvent {
    /// The member it is about.
    pub fn member(&self) -> Option<MemberId> {
        match self {
            LacpEvent::Mux { member, .. }
            | LacpEvent::Partner { member, .. }
            | LacpEvent::Looped { member }
            | LacpEvent::Churned { member, .. }
            | LacpEvent::Flushed { member, .. } => Some(*member),
            LacpEvent::Active { .. } => None,
        }
    }

    /// What happened, without the member.
    pub fn words(&self) -> String {
        let id = |id: &Option<u16>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        match self {
            LacpEvent::Mux { from, to, why_not: Some(reason), .. } => format!("{from} -> {to} ({reason})"),
            LacpEvent::Mux { from, to, why_not: None, .. } => format!("{from} -> {to}"),
            LacpEvent::Partner { system: Some(system), .. } => format!("partner is {system}"),
            LacpEvent::Partner { system: None, .. } => "no partner".to_owned(),
            LacpEvent::Active { from, to } => format!("active aggregator: {} -> {}", id(from), id(to)),
            LacpEvent::Looped { .. } => {
                "our own LACPDU came back; is the cable looped, or the system address taken?".to_owned()
            }
            LacpEvent::Churned { end: End::Actor, .. } => "this end has been out of sync for 60 s".to_owned(),
            LacpEvent::Churned { end: End::Partner, .. } => "the partner has been out of sync for 60 s".to_owned(),
            LacpEvent::Flushed { marker, answered: true, .. } => format!("marker {} answered", marker.0),
            LacpEvent::Flushed { marker, answered: false, .. } => format!("marker {} not answered", marker.0),
        }
    }
}

impl fmt::Display for LacpEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(member) = self.member() {
            write!(f, "member {member}: ")?;
        }
        f.write_str(&self.words())
    }
}
