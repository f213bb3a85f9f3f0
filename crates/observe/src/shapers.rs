//! What other programs put on the devices of bundles: shapers and filters.

use nicteam_bundles::{Bundle, Shaper};
use nicteam_dataplane::MEMBER_PREF;
use nicteam_netlink::{Discipline, Netlink};

/// Kinds that delay, hold back or lose frames by what they were told, beyond what a link does.
const SHAPERS: [&str; 8] = ["cake", "cbq", "cbs", "hfsc", "htb", "netem", "taprio", "tbf"];
/// Kinds that have filters on what a device receives.
const WITH_FILTERS: [&str; 2] = ["clsact", "ingress"];

/// Completes bundles by what is on their devices. Where the kernel does not say it, nothing is.
pub(super) fn read(bundles: &mut [Bundle], netlink: &mut Netlink) {
    if bundles.is_empty() {
        return;
    }
    let all = netlink.disciplines().unwrap_or_default();
    for bundle in bundles {
        bundle.shapers = shapers(&all, bundle.index);
        for member in &mut bundle.members {
            member.shapers = shapers(&all, member.index);
            member.filters = member.index.map_or_else(Vec::new, |index| filters(&all, index, netlink));
        }
    }
}

fn shapers(all: &[Discipline], index: Option<u32>) -> Vec<Shaper> {
    let own = all.iter().filter(|of| Some(of.index) == index && SHAPERS.contains(&of.kind.as_str()));
    own.map(|of| Shaper { kind: of.kind.clone(), drops: of.drops, overlimits: of.overlimits }).collect()
}

fn filters(all: &[Discipline], index: u32, netlink: &mut Netlink) -> Vec<String> {
    if !all.iter().any(|of| of.index == index && WITH_FILTERS.contains(&of.kind.as_str())) {
        return Vec::new();
    }
    let filters = netlink.ingress_filters(index).unwrap_or_default();
    filters.into_iter().filter(|of| of.priority != MEMBER_PREF).map(|of| of.kind).collect()
}
