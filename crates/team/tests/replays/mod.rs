//! What a team was told, recorded and told to a team again: it does the same.
//!
//! `cost` measures, `faults` records hours of faults, `secrets` looks for keys, `ring` fills one, `hostile` reads what is no recording,
//! `recorded` replays the files beside. The cases of `docs/lacp-cases.md` and those of `control/pair.rs` are recorded where
//! they run, and replayed at their ends.

mod cost;
mod faults;
mod hostile;
mod recorded;
mod ring;
mod secrets;

use nicteam_team::replay::{Ending, Outcome, Recorded, Recording, Until, head, replay};

/// Bytes of a recording, more than any test here fills.
pub const LIMIT: usize = 64 << 20;

/// The file of a recording.
pub fn file(team: &Recorded) -> Vec<u8> {
    let mut file = head("a test");
    team.recording().expect("it is recorded").iter().for_each(|block| file.extend_from_slice(block));
    file
}

/// A recorded team's replay does what it did.
#[track_caller]
pub fn holds(team: &Recorded) {
    let file = file(team);
    let outcome = replayed(&file);
    assert_eq!(outcome.difference, None);
    assert_eq!(first(&file) + outcome.entries, team.recorded().1);
}

/// The number of the first entry that is in a file.
pub fn first(file: &[u8]) -> u64 {
    Recording::read(file).unwrap().entries().next().unwrap().unwrap().number
}

/// What the replay of a whole file comes to.
#[track_caller]
fn replayed(file: &[u8]) -> Outcome {
    let recording = Recording::read(file).unwrap();
    assert_eq!(recording.ending, Ending::Whole);
    replay(&recording, Until::End, |_, _| {}).unwrap()
}
