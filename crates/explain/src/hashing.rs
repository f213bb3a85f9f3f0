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

/// How often a hash that tells these flows apart puts all of them where they are by chance: `links` to the power of the
/// number of flows that could be elsewhere.
pub(crate) fn chance(links: usize, free: usize) -> f64 {
    (links.max(1) as f64).powi(-i32::try_from(free).unwrap_or(i32::MAX))
}

/// How often so many flows use so few of the links by chance, at most: the ways to choose these links times the odds that all flows
/// are on them.
pub(crate) fn part_by_chance(links: usize, used: usize, flows: usize) -> f64 {
    let ways = (0..used.min(links)).fold(1.0, |ways, at| ways * (links - at) as f64 / (at + 1) as f64);
    (ways * (used as f64 / links.max(1) as f64).powi(i32::try_from(flows).unwrap_or(i32::MAX))).min(1.0)
}

/// A chance for people.
pub(crate) fn odds(chance: f64) -> String {
    let of = 1.0 / chance.max(1e-12);
    match of {
        of if of >= 1e6 => "one of more than a million cases".to_owned(),
        of => format!("one of {of:.0} cases"),
    }
}
