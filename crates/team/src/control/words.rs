//! States and events in the kernel's words.

use std::fmt;

use nicteam_machine::MemberId;

use crate::{Event, LinkState};

impl fmt::Display for LinkState {
    /// As `MII Status` in `/proc/net/bonding/NAME`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LinkState::Up => "up",
            LinkState::Fail => "going down",
            LinkState::Down => "down",
            LinkState::Back => "going back",
        })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let member = |id: &Option<MemberId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        match self {
            Event::Member { id, name, from, to } => write!(f, "member {id} ({name}): {from} -> {to}"),
            Event::Active { from, to } => write!(f, "active member: {} -> {}", member(from), member(to)),
            Event::Carrier(true) => f.write_str("carrier"),
            Event::Carrier(false) => f.write_str("no carrier"),
            Event::Lacp(event) => fmt::Display::fmt(event, f),
            Event::Plain(event) => write!(f, "member {} {}", event.member(), event.words()),
            Event::Pagp(heard) => {
                write!(f, "member {}: {} speaks PAgP (mode {})", heard.member, heard.switch(), heard.mode())
            }
        }
    }
}
