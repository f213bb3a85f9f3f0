//! iSCSI sessions: a safe wrapper of libiscsi, which is opened at run time, so that the program runs where it is not
//! installed.
//!
//! A [`Session`] is one TCP connection to one portal. It never blocks: wait for [`Session::wants`] on [`Session::fd`]
//! by `poll`, call [`Session::service`], drain [`Session::next_event`]. It neither connects again nor sends a command
//! again by itself, and it has no clock: its owner decides when a command has taken too long, and drops the session.
//!
//! Every command has exactly one [`Event::Done`], which gives its buffer back, whatever happens to the session.
//!
//! With `sys` and `dataplane` this is a place for `unsafe`: libiscsi is C.

mod buffer;
mod commands;
mod error;
mod ffi;
mod isid;
mod library;
mod log;
mod login;
mod names;
mod negotiated;
mod outcome;
mod replies;
mod session;

pub use buffer::Buffer;
pub use error::Error;
pub use isid::Isid;
pub use library::{Absent, Library};
pub use login::Login;
pub use negotiated::Negotiated;
pub use outcome::{Event, Outcome};
pub use session::Session;
