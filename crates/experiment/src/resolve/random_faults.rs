//! What a run draws at random depends on what it builds without it.

use std::time::Duration;

use crate::chaos;
use crate::topology::Built;
use nicteam_diagnostics::Problem;
use nicteam_elements::record::{At, Record, Value};

/// The file with the random faults of its runs among their events; none if no run has some. `built` is what a run builds
/// without them, and its duration.
pub(super) fn drawn<'a>(
    file: &'a Record,
    mut built: impl FnMut(&'a Record) -> (Built, Duration),
    problems: &mut Vec<Problem>,
) -> Option<Record> {
    let runs: &[Record] = file.get("runs").map_or(&[], |at| at.value);
    if runs.iter().all(|run| run.get::<&Record>("chaos").is_none()) || !file.has("hosts") {
        return None;
    }
    let mut with = Vec::new();
    for run in runs {
        let Some(chaos) = run.get::<&Record>("chaos") else {
            with.push(run.clone());
            continue;
        };
        let (Built { topology, impairments, .. }, duration) = built(run);
        let names = impairments.into_keys().collect();
        with.push(chaos::with_events(run, chaos::faults(&chaos, &topology, names, duration, problems), &chaos.span));
    }
    let span = file.get::<&[Record]>("runs").map_or(0..0, |at| at.span);
    let mut all = file.clone();
    all.set("runs", At { value: Value::List(with), span });
    Some(all)
}
