//! Events and states in words.

use std::fmt;

use super::{ChurnState, End, LacpEvent, MuxState};

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
