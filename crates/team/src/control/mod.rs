//! The control side of a team: events in, effects out.
//!
//! One call of `handle_*` (or `add_member`, `remove_member`), then
//! [`Team::poll_effect`] until it returns nothing, then
//! [`Team::poll_timeout`]. In debug builds a second change before the drain
//! is a panic. A shell keeps a team as [`Recorded`](crate::replay::Recorded): then all that it is told goes by one
//! door, behind which it can be recorded.
//!
//! What a team has is in `team.rs`, and in the files of its parts; each of the other files is a subject, and extends [`Team`].
//! No part knows [`Team`], and no two files need each other.
//!
//! The rules are those of the Linux 6.1 bonding driver
//! (drivers/net/bonding/bond_main.c); the files beside this one name the
//! functions and the differences. One concerns all: `min_links` holds in every
//! mode, not in 802.3ad alone, and a member whose `downdelay` runs counts.

mod active;
mod addresses;
mod aggregate;
mod announcer;
mod arp_monitor;
mod balance;
mod change;
mod door;
mod facts;
mod groups;
mod hearing;
mod links;
mod monitor;
mod notify;
pub mod openvswitch;
mod pagp;
mod pagp_hearing;
mod parts;
mod plain;
mod planning;
mod probe;
mod settling;
mod stripe;
mod team;
mod terms;
mod timers;
mod whole;

pub use self::plain::{PlainHostStatus, PlainMemberStatus, PlainState, PlainStatus};
pub use self::team::Team;
pub use self::terms::{Listen, MemberStatus, TimerReason};
