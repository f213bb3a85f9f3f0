//! A host's teams while they are read from another program's configuration, and what is read.
//!
//! A format ([`Format`]) puts what it reads into [`Teams`]: one [`draft::Draft`] a team, in which every part keeps its place.
//! When all is read, the drafts are checked together and become a [`Network`]. A [`Writer`] takes the same value. No format is
//! named here.
#![forbid(unsafe_code)]

mod address;
pub mod draft;
mod format;
pub mod kernel;
pub mod names;
mod network;
mod once_each;
mod reading;
mod route;
mod teams;
mod template;

pub use address::{Address, AddressError};
pub use format::{Format, Writer, Written};
pub use network::{Disable, Import, Left, Network, Team};
pub use once_each::OnceEach;
pub use reading::Reading;
pub use route::{Route, RouteError, RouteWords};
pub use teams::Teams;
pub use template::template;
