//! 802.3ad: members that do not aggregate, so that the others carry all.

use nicteam_record::{Finding, Port, Run};
use nicteam_team::Mode;

use super::Rule;
use super::full::WHOLE;
use crate::aggregation::LeftOut;
use crate::hop::{Hop, HopLink, is_idle};
use crate::limits::{FilledBy, Limit};
use crate::words;

/// Full links of a team that LACP leaves with fewer members than it has.
pub(super) struct NotAggregating;

impl Rule for NotAggregating {
    fn cause(&self) -> &'static str {
        "not-aggregating"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        // Where full links are as much as any could be, more members would be no use.
        let enough = limit.picture.two_way || limit.picture.run.of_limit >= WHOLE;
        if limit.filled_by == FilledBy::Payload && enough {
            return None;
        }
        let nothing = limit.connections().all(|connection| connection.delivered_bps == 0.0);
        let mut hops = limit.suspects().into_iter().filter(|hop| nothing || is_full(hop));
        let (hop, left_out) = hops.find_map(|hop| Some((hop, left_out(limit.picture.run, hop)?)))?;
        let finding = Finding {
            side: hop.side,
            node: Some(left_out.node.clone()),
            policy: Some(Mode::Ad.name().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&left_out))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let nothing = finding.hops.first()?.links.iter().all(|link| is_idle(link.load));
        let nothing = match nothing {
            true => " Nothing passed: frames that come by members that do not aggregate are dropped.",
            false => "",
        };
        Some(format!("{}: {}{nothing}", words::side(finding), finding.details::<LeftOut>()?.words()))
    }
}

/// Whether every link that LACP leaves the hop is full.
fn is_full(hop: &Hop<'_>) -> bool {
    let mut used = hop.links.iter().filter(|link| !link.stands_by()).peekable();
    used.peek().is_some() && used.all(HopLink::is_full)
}

/// Who of the team at either end does not aggregate, and why. The choosing end
/// comes first; the other one counts where that one speaks no LACP.
fn left_out(run: &Run, hop: &Hop<'_>) -> Option<LeftOut> {
    [0, 1].into_iter().find_map(|end| {
        let known = hop.links.iter().find_map(|link| link.ports[end])?;
        let of_team = |port: &&Port| (&port.host, &port.team) == (&known.host, &known.team);
        LeftOut::of(&run.ports.iter().filter(of_team).collect::<Vec<_>>())
    })
}
