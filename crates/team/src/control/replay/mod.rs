//! A team's course, recorded and replayed.
//!
//! A team decides by what it is told and when, and by nothing else. So whoever has all that it was told has its course: a
//! report of a defect that can be replayed, and a test once the defect is mended.
//!
//! - [`Input`] is all that a team can be told, [`Team::apply`](crate::Team::apply) the one door.
//! - [`Recorded`] is a team behind that door, with a ring of what went through. The daemon keeps its team so, and cannot
//!   change it otherwise: there is no other way to a `&mut Team`.
//! - [`Recording`] is a file of it, [`replay`] tells it to a team again and compares what the team does.
//!
//! No key and no secret is recorded. What follows from them, stamps and whether tags are right, is
//! (`nicteam_discovery::Source`), so that a replay needs none.

mod delta;
mod digest;
mod encode;
mod entry;
mod file;
mod input;
mod recorded;
mod ring;
mod run;
mod whole;
mod words;

pub use entry::{Entry, Told};
pub use file::{Ending, Entries, Recording, head};
pub use input::Input;
pub use nicteam_machine::bytes::Unreadable;
pub use recorded::{Recorded, Segment};
pub use run::{Difference, Outcome, Until, replay};

use super::Team;
use nicteam_discovery::{Discovery, Source};

impl Team {
    /// What follows from secrets comes from there from now on.
    fn set_source(&mut self, source: Source) {
        self.source = source;
        if let Some(discovery) = &mut self.parts.discovery {
            discovery.set_source(source);
        }
    }

    /// What followed from secrets since the last call; where it is given, what nobody asked for.
    fn take_derived(&mut self) -> impl Iterator<Item = u64> {
        self.parts.discovery.iter_mut().flat_map(Discovery::take_derived)
    }

    /// What follows from secrets next.
    fn give_derived(&mut self, numbers: &[u64]) {
        if let Some(discovery) = &mut self.parts.discovery {
            discovery.give_derived(numbers);
        }
    }
}
