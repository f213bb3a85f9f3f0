//! 802.3ad: members that do not aggregate, so that the others carry all.

use nicteam_record::{Port, Run};

use super::because;
use super::full::WHOLE;
use crate::explain::Explanation;
use crate::explain::aggregation;
use crate::explain::hop::{Hop, HopLink};
use crate::explain::limits::{Cause, Limit};

/// Full links of a team that LACP leaves with fewer members than it has.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    // Where full links are as much as any could be, more members would be no use.
    let enough = limit.picture.two_way || limit.picture.run.of_limit >= WHOLE;
    if limit.cause == Cause::Links && enough {
        return None;
    }
    let hops = limit.hops.iter().copied().filter(|hop| is_full(hop));
    let (hop, words) =
        hops.map(|hop| (hop, words(limit.picture.run, hop))).find_map(|(hop, words)| Some((hop, words?)))?;
    because(hop.side, Some("802.3ad"), format!("{}: {words}", hop.side_words()))
}

/// Whether every link that LACP leaves the hop is full.
fn is_full(hop: &Hop<'_>) -> bool {
    let mut used = hop.links.iter().filter(|link| !link.stands_by()).peekable();
    used.peek().is_some() && used.all(HopLink::is_full)
}

/// Who of the team at either end does not aggregate, and why. The choosing end
/// has the first word; the other has it where that one speaks no LACP.
fn words(run: &Run, hop: &Hop<'_>) -> Option<String> {
    [0, 1].into_iter().find_map(|end| {
        let known = hop.links.iter().find_map(|link| link.ports[end])?;
        let of_team = |port: &&Port| (&port.host, &port.team) == (&known.host, &known.team);
        aggregation::words(&run.ports.iter().filter(of_team).collect::<Vec<_>>())
    })
}
