//! Where the two were carried out, and what of them can be compared for that.

use std::collections::BTreeMap;

use nicteam_findings::units::rate;
use nicteam_record::{Environment as RecordEnvironment, Run};

use super::compared::Side;
use super::figures::Kind;

/// From this part on processors count as busy.
const BUSY: f64 = 0.9;

/// What two records' environments allow.
pub(super) struct Environment {
    /// Kinds of figures that are not compared.
    pub(super) leaves_out: Vec<Kind>,
    /// What a reader should know of them, a sentence each.
    pub(super) notes: Vec<String>,
}

/// What can be compared where the two were carried out.
pub(super) fn environment(first: &Side<'_>, second: &Side<'_>, runs: &[Vec<&Run>; 2]) -> Result<Environment, String> {
    let (one, other) = (&first.record.environment, &second.record.environment);
    let (mut leaves_out, mut notes) = (Vec::new(), Vec::new());
    if one.frames() != other.frames() {
        return Err(format!(
            "{} had {}, {} had {}: what is lost and what is shared depends on it; run one of them again with `granularity` of the other",
            first.label,
            one.frames(),
            second.label,
            other.frames()
        ));
    }
    let limits = runs.each_ref().map(|runs| runs.first().map_or(0.0, |run| run.limit_bps));
    if (limits[0] / limits[1] - 1.0).abs() > 0.001 && limits.iter().all(|limit| *limit > 0.0) {
        notes.push(format!(
            "The links could carry {} and {}: utilisation is the part of that.",
            rate(limits[0]),
            rate(limits[1])
        ));
    }
    let machine = |of: &RecordEnvironment| format!("{} x {}", of.cpus, of.cpu_model);
    if machine(one) != machine(other) {
        leaves_out.extend([Kind::Processor, Kind::Latency]);
        notes.push(format!(
            "Processor time and latency are not compared: they were measured on other processors ({} and {}).",
            machine(one),
            machine(other)
        ));
    }
    let mut differs = BTreeMap::new();
    for (what, one, other) in [
        ("kernel", &one.kernel, &other.kernel),
        ("dataplane", &one.dataplane, &other.dataplane),
        ("nicteam", &first.record.nicteam, &second.record.nicteam),
    ] {
        if one != other {
            differs.insert(what, format!("{what} {one} and {other}"));
        }
    }
    if !differs.is_empty() {
        let differs: Vec<String> = differs.into_values().collect();
        notes.push(format!("What else differs: {}.", differs.join("; ")));
    }
    let busy = |runs: &[&Run]| runs.iter().filter(|run| run.cpu.busy > BUSY).count();
    for (side, runs) in [first, second].into_iter().zip(runs) {
        let busy = busy(runs);
        if busy > 0 && machine(one) != machine(other) {
            notes.push(format!(
                "In {busy} of {} times of {} its machine's processors were the limit: payload is the machine's there.",
                runs.len(),
                side.label
            ));
        }
    }
    Ok(Environment { leaves_out, notes })
}
