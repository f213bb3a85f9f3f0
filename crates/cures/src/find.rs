//! The cures of a finding.

use std::collections::BTreeSet;

use nicteam_record::{Change, Cure, Finding, Links, Run};

use crate::candidates;
use crate::scene::Scene;

/// A change helps if it delivers this much more, as a share of the limit.
const HELPS: f64 = 0.03;
/// Changes within this part of the limit are as good as each other; then the smallest is named.
const AS_GOOD: f64 = 0.01;
/// Findings that cost less are no matter.
const NOTABLE: f64 = 0.02;

/// What would help against a finding, by prediction: the change that stays within the mode's kind, and mode stripe where
/// that delivers more.
pub(crate) fn cures(run: &Run, scene: &Scene, finding: &Finding) -> Vec<Cure> {
    if finding.lost < NOTABLE {
        return Vec::new();
    }
    let hosts = ends(run, finding);
    let mut found: Vec<Cure> = Vec::new();
    for changes in candidates::of(scene, finding, &hosts) {
        let Some(cure) = tried(scene, finding, &changes) else { continue };
        let best = found.last().map_or(run.of_limit + HELPS, |best| best.of_limit + AS_GOOD);
        if cure.of_limit > best {
            found = vec![cure];
        }
    }
    let best = found.last().map_or(run.of_limit, |best| best.of_limit);
    let changes = if is_of_a_choice(finding) { candidates::striped(scene, &hosts) } else { Vec::new() };
    let striped = tried(scene, finding, &changes).filter(|cure| !changes.is_empty() && cure.of_limit > best + HELPS);
    found.extend(striped);
    found
}

/// The hosts with the links at the ends of a finding's connections, in the order of the record.
fn ends<'r>(run: &'r Run, finding: &Finding) -> Vec<&'r str> {
    let own = finding.connections.iter().filter_map(|place| run.connections.get(*place as usize));
    let ends: BTreeSet<&str> = own.flat_map(|it| [&it.from, &it.to]).map(|end| run.topology.links_of(end)).collect();
    run.topology.hosts.iter().map(|host| host.name.as_str()).filter(|name| ends.contains(*name)).collect()
}

/// Whether a finding is about how links are chosen.
fn is_of_a_choice(finding: &Finding) -> bool {
    const CHOICES: [&str; 10] = [
        "hash",
        "active-backup",
        "load-balancing",
        "learning",
        "unknown-switch",
        "broadcast",
        "reordering",
        "unequal-turns",
        "buckets",
        "peer-does-not-stripe",
    ];
    CHOICES.contains(&finding.cause.as_str())
}

/// What is delivered with some changes.
fn tried(scene: &Scene, finding: &Finding, changes: &[Change]) -> Option<Cure> {
    let changed = scene.changed(changes)?;
    let foreseen = changed.predict();
    let links = finding.hops.first().and_then(|hop| foreseen.links(&hop.node, &hop.peer, &finding.connections));
    let links = links.map(|[used, of]| Links { used: used as u32, of: of as u32 });
    Some(Cure { changes: changes.to_vec(), of_limit: foreseen.of_limit(), links })
}
