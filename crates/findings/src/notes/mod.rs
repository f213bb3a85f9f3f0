//! What a reader of a storage run should know beside what held it back, a file each. A new one is a file and a line in
//! [`NOTES`].

mod copies;
mod negotiated;
mod steady;
mod turns;

use nicteam_record::Run;

/// A note: sentences about a run, none where it does not apply.
type Note = fn(&Run) -> Vec<String>;

/// The notes in the order in which they stand.
const NOTES: &[Note] = &[copies::of, turns::of, negotiated::of, steady::of];

/// All notes about a run.
pub(super) fn of(run: &Run) -> Vec<String> {
    NOTES.iter().flat_map(|note| note(run)).collect()
}
