//! A team's course, recorded and replayed.

pub use nicteam_replay::{
    Difference, Ending, Entries, Entry, Input, Outcome, Recording, Segment, Told, Unreadable, Until, head,
};

use crate::Team;

/// A team with a ring of what it was told.
pub type Recorded = nicteam_replay::Recorded<Team>;

/// Tells a team what is recorded, as far as that. `watch` sees each entry and the team after it.
///
/// # Errors
/// An entry cannot be read, or no team can begin with the first.
pub fn replay(
    recording: &Recording<'_>,
    until: Until,
    watch: impl FnMut(&Entry, &Team),
) -> Result<Outcome, Unreadable> {
    nicteam_replay::replay(recording, until, watch)
}
