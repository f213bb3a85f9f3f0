//! The bundles of a host, and the runs of the lab, for those who watch them.
//!
//! [`Watcher`] looks at the host: each look is a [`Snapshot`]. [`metrics`] says it to Prometheus, [`top`] shows it in a
//! terminal; [`runs`] shows how far an experiment is. What is said and shown is pure: a snapshot in, a text or a frame out.
#![forbid(unsafe_code)]

pub mod metrics;
pub mod runs;
mod snapshot;
pub mod top;
mod watcher;

pub use snapshot::{Happening, Snapshot, Tally};
pub use watcher::Watcher;
