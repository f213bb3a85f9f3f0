//! balance-rr: equal numbers of frames, unequal bytes.

use nicteam_record::Finding;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Hop, HopLink};
use crate::limits::Limit;
use crate::team::TeamMode;
use crate::units::{link_rate, names};
use crate::words;

/// A slower link holds the others from this load on: what TCP sends again leaves it a little below full.
const HELD: f64 = 0.5;
/// Others that carry this many times as much as the slowest link are not held by it.
const MORE: f64 = 1.3;

/// Full and not full links that took turns, or a slow link to whose rate the others are held.
pub(super) struct UnequalTurns;

#[derive(Serialize, Deserialize)]
struct Details {
    /// The slow links, and the others.
    slow: Vec<String>,
    slow_bps: u64,
    others: Vec<String>,
    others_bps: u64,
}

impl Rule for UnequalTurns {
    fn cause(&self) -> &'static str {
        "unequal-turns"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let takes_turns = |hop: &&Hop<'_>| hop.has_mode(TeamMode::takes_turns);
        let uneven = |hop: &&Hop<'_>| takes_turns(hop) && hop.some_full() && !hop.all_full();
        let held = || limit.passed().filter(takes_turns).find_map(|hop| Some((hop, held(hop)?)));
        let (hop, details) = match limit.hops.iter().copied().find(uneven) {
            Some(hop) => (hop, self::held(hop)),
            None => held().map(|(hop, details)| (hop, Some(details)))?,
        };
        let finding = Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            policy: Some(limit.chooser(hop).by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(details.map_or(finding.clone(), |details| finding.with_details(&details)))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let (side, node, hop) = (words::side(finding), words::node(finding), finding.hops.first()?);
        let sends = format!("{side}: {node} sends as many frames by each link, not as many bytes (mode balance-rr)");
        Some(match finding.details::<Details>() {
            Some(Details { slow, slow_bps, others, others_bps }) => format!(
                "{sends}: turns, not bytes. So {} ({}) held {} ({}) to its rate.",
                names(&slow),
                link_rate(slow_bps),
                names(&others),
                link_rate(others_bps),
            ),
            None => format!("{sends}: the busiest was full, the least used at {}.", words::least(hop)),
        })
    }
}

/// The slow links of a hop by which the others are held to their rate.
fn held(hop: &Hop<'_>) -> Option<Details> {
    let slow_bps = hop.links.iter().map(|link| link.rate_bps).min()?;
    let (slow, others): (Vec<&HopLink<'_>>, Vec<_>) = hop.links.iter().partition(|link| link.rate_bps == slow_bps);
    let others_bps = others.iter().map(|link| link.rate_bps).min()?;
    let carried = slow.iter().map(|link| link.tx_bps).fold(0.0, f64::max);
    let load = slow.iter().map(|link| link.load()).fold(0.0, f64::max);
    let is_held = load >= HELD && others.iter().all(|link| link.tx_bps <= carried * MORE && link.load() < load);
    let devices = |links: &[&HopLink<'_>]| links.iter().map(|link| link.device.to_owned()).collect();
    is_held.then(|| Details { slow: devices(&slow), slow_bps, others: devices(&others), others_bps })
}
