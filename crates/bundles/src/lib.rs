//! The bundles of a host at one moment, as values.
//!
//! A [`Bundle`] is several links used as one: a team of nicteam, a bond of the kernel, a bond of Open
//! vSwitch, a team of teamd. [`read`] makes it from the texts by which these say how they are. A [`Sample`] has the
//! counters of devices at a time, and two samples make [`Rates`].
//!
//! No I/O and no clock: crate `observe` reads a host into these types.
#![forbid(unsafe_code)]

mod bundle;
mod flows;
pub mod read;
mod sample;
pub mod traffic;

pub use bundle::{Bundle, Kind, Lacp, Member, Port, PortEnd, Problem, Shaper, state};
pub use flows::{Flow, flows};
pub use sample::{Counters, Rate, Rates, Sample};
