//! Where a transmit hash policy puts flows.

use std::collections::BTreeMap;

use nicteam_options::HashPolicy;
use nicteam_plan::hash::{hash, place};
use nicteam_wire::Frame;

use crate::units::{list, plural, rate};
use crate::view::{Direction, Placed, View};

/// The place of each flow among so many members; none of flows whose frames were not seen.
pub(crate) fn places(policy: HashPolicy, flows: &[Placed<'_>], members: usize) -> Vec<Option<usize>> {
    let of = |flow: &Placed<'_>| place(hash(policy, &Frame::parse_untagged(flow.head).ok()?), 0, members);
    flows.iter().map(of).collect()
}

/// How many places flows get.
pub(crate) fn distinct(places: &[Option<usize>]) -> usize {
    places.iter().flatten().collect::<std::collections::BTreeSet<_>>().len()
}

/// What a policy would do to what is sent now: flows and bit/s for each member.
pub(crate) fn prediction(view: &View<'_>, policy: HashPolicy, flows: &[Placed<'_>], members: usize) -> String {
    let total_bytes: u64 = flows.iter().map(|flow| flow.bytes).sum();
    let bps = view.total_bps(Direction::Out);
    let mut by_place: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
    for (flow, place) in flows.iter().zip(places(policy, flows, members)) {
        let Some(place) = place else { continue };
        let (count, load) = by_place.entry(place).or_default();
        *count += 1;
        *load += bps * flow.bytes as f64 / total_bytes.max(1) as f64;
    }
    let groups: Vec<String> =
        by_place.values().map(|(count, load)| format!("{} ({})", plural(*count, "flow"), rate(*load))).collect();
    format!(
        "{} would put {} on {} of {members} links, at the rates of now",
        policy.name(),
        list(&groups),
        by_place.len()
    )
}
