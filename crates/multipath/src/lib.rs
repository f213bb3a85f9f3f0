//! Multipath I/O to one LUN without I/O, clock or threads.
//!
//! [`Multipath`] takes in what a caller wants ([`Multipath::submit`]) and what happens to the sessions (`handle_*`); it
//! says what is to be done ([`Effect`]) and when it wants to be called again ([`Multipath::poll_timeout`]).
//! Sessions, buffers and sockets belong to the executor, crate `nicteam-storage`.
//!
//! # What is guaranteed
//!
//! - Every request that was taken is finished exactly once.
//! - Requests that are outstanding at the same time are executed in any order, as by a disk with a command queue, also
//!   where their ranges overlap. A program that needs an order waits for [`Effect::Finish`] first.
//! - A write that was finished without error changes the medium no more, whatever its path still holds of it.
//! - A write that was finished with an error may change the medium later, until its path is fenced; but no request that
//!   overlaps it is sent before that. See [`Fence`].
//!
//! All that is of sessions that this value opened. Of those of a process that ended before nothing is known here.
#![forbid(unsafe_code)]

mod config;
mod measure;
mod multipath;
mod path;
pub mod policy;
mod requests;
mod sending;
mod sessions;
mod status;
mod terms;
mod timers;

pub use config::{Config, Fence, NoPath};
pub use multipath::Multipath;
pub use policy::Policy;
pub use status::{PathStatus, Status};
pub use terms::{Effect, IoError, Kind, Notice, Outcome, PathId, PathState, Request, SubmitError, TimerReason};
