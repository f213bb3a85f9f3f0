//! What a run draws at random depends on what it builds without it.

use super::{Named, Resolver};
use crate::chaos;
use crate::overrides::Overrides;
use crate::record::{At, Record, Value};
use crate::topology::Built;
use nicteam_diagnostics::Problem;

/// The file with the random faults of its runs among their events; none if no run has some.
pub(super) fn drawn(
    file: &Record,
    defaults: &Record,
    overrides: &Overrides,
    problems: &mut Vec<Problem>,
) -> Option<Record> {
    let (none, mut unheard) = (Record::default(), Vec::new());
    let runs: &[Record] = file.get("runs").map_or(&[], |at| at.value);
    if runs.iter().all(|run| run.get::<&Record>("chaos").is_none()) || file.get::<Named<'_>>("hosts").is_none() {
        return None;
    }
    // What is wrong with the file is found again, when the faults are in it.
    let mut resolver = Resolver { file, none: &none, defaults, overrides, problems: &mut unheard };
    let mut with = Vec::new();
    for run in runs {
        let Some(chaos) = run.get::<&Record>("chaos") else {
            with.push(run.clone());
            continue;
        };
        let Built { topology, impairments, .. } = resolver.topology(run, None);
        let duration = resolver.duration(run);
        let names = impairments.into_keys().collect();
        with.push(chaos::with_events(run, chaos::faults(&chaos, &topology, names, duration, problems), &chaos.span));
    }
    let span = file.get::<&[Record]>("runs").map_or(0..0, |at| at.span);
    let mut all = file.clone();
    all.set("runs", At { value: Value::List(with), span });
    Some(all)
}
