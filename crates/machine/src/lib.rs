//! What machines without I/O are made of.
//!
//! A machine has events in (`handle_*`, with the time as an argument), effects out, and a deadline at which it wants to be
//! called again. It opens no socket, reads no clock, and is therefore tested under virtual time. Here is what such machines
//! share: a point in [`Time`], a table of [`deadlines`], a [`TokenBucket`], the members of a team and their links, numbers
//! from a seed ([`split_mix`]), and the [`state`](mod@state) of a machine as bytes, from which a recording goes on.
//!
//! [`constants`] are the numbers that the eBPF programs need, too.
#![forbid(unsafe_code)]

pub mod bytes;
pub mod constants;
pub mod deadlines;
mod derived;
mod link;
mod member;
mod random;
pub mod state;
mod time;
mod token_bucket;

pub use derived::{Derived, Source};
pub use link::{Duplex, MemberLink};
pub use member::{MAX_MEMBERS, MemberId, MemberSet};
pub use random::{SPLIT_MIX_STEP, split_mix};
pub use time::Time;
pub use token_bucket::TokenBucket;
