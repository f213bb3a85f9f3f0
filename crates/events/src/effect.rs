//! What a team wants, and what it says.

use std::fmt;

use nicteam_lacp::LacpEvent;
use nicteam_machine::MemberId;
use nicteam_plan::Plan;
use nicteam_wire::Mac;

use crate::link_state::LinkState;
use crate::pagp::PagpHeard;
use crate::plain::PlainEvent;

/// What the shell is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Execute this plan from now on.
    Apply(Box<Plan>),
    /// Show the team's stack a carrier, or none.
    SetCarrier(bool),
    /// Send this frame by this member.
    Transmit {
        /// The member.
        member: MemberId,
        /// The frame, from the destination address on, no check sequence.
        frame: Vec<u8>,
    },
    /// Give a member, or the team, this address.
    SetMac {
        /// Whose; none: the team's own, and the members keep theirs.
        member: Option<MemberId>,
        /// The address.
        mac: Mac,
    },
    /// Let a member's device take every frame, or those for it alone as before.
    TakeAll {
        /// Whose.
        member: MemberId,
        /// Every frame.
        on: bool,
    },
    /// Read the multicast groups of the team's stack and call `Team::handle_groups`.
    ReadGroups,
    /// Read the link of every member now and call `Team::handle_link` for each.
    ReadLinks,
    /// The same; then read the counters of all members and call `Team::handle_traffic` once.
    ReadTraffic,
    /// Read what the dataplane counted and call `Team::handle_loads`.
    ReadLoads,
    /// Read the sources that the dataplane noted and call `Team::handle_sources`; after the loads, if they are
    /// asked for as well.
    ReadSources,
    /// Read what the dataplane noted of peers' frames and call `Team::handle_notes`.
    ReadNotes,
    /// Read what the dataplane says of hosts that do not stripe and call `Team::handle_plain`.
    ReadPlain,
    /// Something a user may want to know.
    Event(Event),
}

/// Something a user may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A member's state changed.
    Member {
        /// The member.
        id: MemberId,
        /// Its device.
        name: String,
        /// Before.
        from: LinkState,
        /// Now.
        to: LinkState,
    },
    /// active-backup, balance-tlb, balance-alb, stripe: another member, or none, is active now.
    Active {
        /// Before.
        from: Option<MemberId>,
        /// Now.
        to: Option<MemberId>,
    },
    /// The team has carrier now, or has it no more.
    Carrier(bool),
    /// 802.3ad: something happened to a port or an aggregator.
    Lacp(LacpEvent),
    /// The other end of a member speaks PAgP, which no team answers.
    Pagp(PagpHeard),
    /// stripe: a member is left, or used again, towards hosts that do not stripe.
    Plain(PlainEvent),
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
