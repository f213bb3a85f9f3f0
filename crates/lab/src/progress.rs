//! Who is told what happens while an experiment runs.

use std::time::Duration;

use nicteam_experiment::Run;
use nicteam_record as record;

/// Told what happens while an experiment runs.
pub trait Progress {
    /// An experiment begins: its name, and all its runs.
    fn begins(&mut self, _experiment: &str, _runs: &[Run]) {}
    /// A run begins: `number` of `count`.
    fn run_begins(&mut self, run: &Run, number: usize, count: usize);
    /// A run is left out: `number` of `count`.
    fn run_is_skipped(&mut self, _run: &Run, _number: usize, _count: usize, _reason: &str) {}
    /// Members' traffic of late ([`crate::LOOK_BACK`]), every sampling interval or so; `t` is what is left of the warm-up
    /// while that lasts.
    fn traffic(&mut self, run: &Run, t: Duration, warming_up: bool, members: &[record::Member]);
    /// So many bytes of what tasks carry from beginning to end are done, of so many; before each [`Progress::traffic`].
    fn carried(&mut self, _done_bytes: u64, _all_bytes: u64) {}
    /// A run is over.
    fn run_ends(&mut self, run: &record::Run);
    /// A host or switch tells something.
    fn notice(&mut self, node: &str, text: &str);
}
