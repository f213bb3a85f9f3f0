//! LACP without I/O: one actor system and its ports (IEEE 802.1AX-2014, clause 6; of 2020, wait-to-restore).
//!
//! One call of `handle_*` (or of what changes ports and configuration), then
//! [`Lacp::poll_effect`] until it returns nothing, then [`Lacp::poll_timeout`].
//! In debug builds a second change before the drain is a panic.
//!
//! Each state machine is a file: `receive`, `periodic`, `selection`, `mux`,
//! `transmit`, `churn`, `marker`. They change their port alone; after every
//! change they run until none moves, so that a PDU never shows a state that
//! does not last.
//!
//! Where the standard leaves a choice, or a team is less than a bridge with
//! many interfaces, it is as in Linux drivers/net/bonding/bond_3ad.c: one
//! aggregator is active, chosen by `ad_select`; half duplex links do not speak
//! LACP; without any partner one port carries the traffic. On purpose
//! different: a port's PDU leaves at once, not at the next tick of 100 ms; a
//! port whose partner was lost gives up its aggregator at once to one that has
//! a partner; a port keeps its key without carrier; of two systems that prefer
//! different aggregators the one with the lower system identifier decides.
//!
//! A system that has one port, whose link comes up, speaks at once:
//!
//! ```
//! use nicteam_lacp::{Lacp, LacpConfig, LacpEffect, PortParams};
//! use nicteam_machine::{Duplex, MemberId, MemberLink, Time};
//! use nicteam_wire::Mac;
//!
//! let mac = Mac([2, 0, 0, 0, 0, 1]);
//! let link = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
//! let member = MemberId::new(0).expect("a place");
//! let mut lacp = Lacp::new(LacpConfig::new(mac), Time::ZERO);
//! lacp.add_port(member, PortParams { mac, port_number: 1, priority: 255, link }, Time::ZERO);
//! let mut sent = 0;
//! while let Some(effect) = lacp.poll_effect() {
//!     sent += usize::from(matches!(effect, LacpEffect::Transmit { .. }));
//! }
//! assert_eq!(sent, 1);
//! assert!(lacp.poll_timeout().is_some());
//! ```
//!
//! `examples/two_systems.rs` runs two systems under virtual time.
#![forbid(unsafe_code)]

mod alone;
mod answer;
mod churn;
mod config;
mod counters;
mod event;
mod insist;
mod lacp;
mod marker;
mod markers;
mod mux;
mod periodic;
mod port;
mod rate_limit;
mod reason;
mod receive;
mod selection;
mod states;
mod status;
mod timer;
mod transmit;

pub use answer::{Answer, lease};
pub use config::{AdSelect, LacpConfig, LacpRate};
pub use counters::PortCounters;
pub use event::{LacpEffect, LacpEvent};
pub use lacp::{Lacp, LacpTimer};
pub use markers::MarkerId;
pub use port::{PortParams, Selected};
pub use reason::Reason;
pub use states::{ChurnState, End, MuxState, PeriodicState, ReceiveState};
pub use status::{AggregatorStatus, PortStatus};
pub use timer::PortTimer;
