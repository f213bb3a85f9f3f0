//! A team's course, recorded and replayed.
//!
//! A team decides by its inputs and their times, and by nothing else. So a record of all its inputs is a record of the
//! team's course: a report of a defect that can be replayed, and a test once the defect is repaired.
//!
//! - [`Input`] is all that a team can be told, `Team::apply` the one door.
//! - [`Recorded`] is a team behind that door, with a ring of what went through. The daemon keeps its team so, and cannot
//!   change it otherwise: there is no other way to a `&mut Team`.
//! - [`Recording`] is a file of it, [`replay`] tells it to a team again and compares what the team does.
//!
//! No key and no secret is recorded. What follows from them, stamps and whether tags are right, is
//! ([`nicteam_machine::Source`]), so that a replay needs none.
//!
//! The crate knows no team, but what can be recorded ([`Recordable`]).
#![forbid(unsafe_code)]

mod delta;
mod digest;
mod encode;
mod entry;
mod file;
mod recordable;
mod recorded;
mod ring;
mod run;
mod words;

pub use digest::of_plan as plan_digest;
pub use encode::{Keys, put_config, take_config};
pub use entry::{Entry, Told};
pub use file::{Ending, Entries, Recording, head};
pub use nicteam_events::Input;
pub use nicteam_machine::bytes::Unreadable;
pub use recordable::Recordable;
pub use recorded::{Recorded, Segment};
pub use run::{Difference, Outcome, Until, replay};
