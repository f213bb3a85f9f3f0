//! What goes in and comes out of a team, as values.
//!
//! A team is told an [`Input`], with the time; it refuses with a [`TeamError`], or changes and then has [`Effect`]s for the
//! shell to carry out. The crate knows no team: to record and to replay its course takes these values alone.
#![forbid(unsafe_code)]

mod effect;
mod error;
mod identity;
mod input;
mod link_state;
mod pagp;
mod plain;
mod readings;

pub use effect::{Effect, Event};
pub use error::TeamError;
pub use identity::Identity;
pub use input::Input;
pub use link_state::LinkState;
pub use pagp::PagpHeard;
pub use plain::PlainEvent;
pub use readings::{Group, Subnet, Traffic};
