//! From when on the figures of operations count.

use nicteam_record::{Operations, Run};

pub(super) fn of(run: &Run) -> Vec<String> {
    run.operations.iter().filter_map(note).collect()
}

fn note(task: &Operations) -> Option<String> {
    match task.steady_from_ms {
        _ if task.unsteady => Some(format!(
            "{}: no steady state was found, so the whole window counts; a longer run may find one.",
            task.workload
        )),
        Some(from_ms) if from_ms > 0.0 => {
            Some(format!("{}: figures count from {:.1} s on, when it was steady.", task.workload, from_ms / 1e3))
        }
        _ => None,
    }
}
