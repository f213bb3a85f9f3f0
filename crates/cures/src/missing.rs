//! Where the share of the limit went that a run did not deliver.

use nicteam_record::{Finding, Missing, MissingPart, Run};

use crate::scene::Scene;

/// Causes that say that no cause is known.
const UNKNOWN: [&str; 2] = ["unexplained", "unknown"];

/// Causes that a prediction knows: it loses to them what the run loses. To others it loses nothing.
const PREDICTED: [&str; 6] = ["active-backup", "buckets", "broadcast", "full", "hash", "load-balancing"];

/// The missing share of a run that has its findings, by cause.
///
/// Each finding has the part that its links left unused. Causes that a prediction knows cannot have cost more than the
/// prediction loses: what they would have beyond that is unexplained.
pub fn missing(run: &Run, scene: &Result<Scene, String>) -> Missing {
    let lacks = if run.of_limit.is_finite() { (1.0 - run.of_limit).clamp(0.0, 1.0) } else { 0.0 };
    let predicted = scene.as_ref().ok().map(|scene| scene.predict().of_limit());
    let is = |causes: &[&str], finding: &Finding| causes.contains(&finding.cause.as_str());
    let sum = |such: &dyn Fn(&Finding) -> bool| -> f64 {
        run.findings.iter().filter(|finding| such(finding)).map(|finding| finding.lost).sum()
    };
    let of_network = sum(&|finding| is(&PREDICTED, finding));
    // The part of what they have that the prediction loses, too.
    let proven = match predicted {
        Some(predicted) if of_network > 0.0 => ((1.0 - predicted).max(0.0) / of_network).min(1.0),
        _ => 1.0,
    };
    let mut parts: Vec<MissingPart> = Vec::new();
    for finding in run.findings.iter().filter(|finding| !is(&UNKNOWN, finding)) {
        let lost = finding.lost * if is(&PREDICTED, finding) { proven } else { 1.0 };
        let (cause, node, policy) = (finding.cause.clone(), finding.node.clone(), finding.policy.clone());
        match parts.iter_mut().find(|part| (&part.cause, &part.node, &part.policy) == (&cause, &node, &policy)) {
            Some(part) => part.lost += lost,
            None => parts.push(MissingPart { cause, node, policy, lost }),
        }
    }
    parts.retain(|part| part.lost > 0.0);
    parts.sort_by(|one, other| other.lost.total_cmp(&one.lost));
    let explained: f64 = parts.iter().map(|part| part.lost).sum();
    let not_predicted = scene.as_ref().err().cloned();
    Missing { predicted_of_limit: predicted, not_predicted, unexplained: (lacks - explained).max(0.0), parts }
}
