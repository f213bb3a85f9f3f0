//! What a link does to frames: delay, jitter, loss, duplication, reordering.
//!
//! No I/O, no clock, no threads: time is an argument, randomness a seed. The
//! same crate stands behind a live link emulator between two packet sockets and behind
//! links of virtual time.
//!
//! A [`OneWay`] is one direction of a link. [`OneWay::handle_frame`] takes a
//! frame in, [`OneWay::poll_output`] gives those back that are due, and
//! [`OneWay::poll_timeout`] says when the next one is. Each of [`Impairments`]
//! has random numbers of its own, all from one seed: the same frames are lost
//! whether they are delayed or not.
//!
//! ```
//! use std::time::Duration;
//! use nicteam_impair::{Impairments, OneWay, Room};
//!
//! let far = Impairments { delay: Duration::from_millis(5), ..Impairments::default() };
//! let mut way = OneWay::new(far, 1, Room::default())?;
//! let sent = Duration::from_secs(1);
//! way.handle_frame(sent, "hello", 64);
//! let due = way.poll_timeout().unwrap();
//! assert_eq!(due, sent + Duration::from_millis(5));
//! assert_eq!(way.poll_output(due).unwrap().frame, "hello");
//! # Ok::<(), nicteam_impair::ImpairmentsError>(())
//! ```
#![forbid(unsafe_code)]

mod impairments;
mod loss;
mod one_way;
mod probability;
mod random;

pub use impairments::{
    Distribution, Gemodel, Impairments, ImpairmentsError, Jitter, LONGEST_DELAY, Loss, MOST_ON_THE_WAY, Reorder,
};
pub use one_way::{Counts, OneWay, Output, Room};
pub use probability::Probability;
pub use random::Random;
