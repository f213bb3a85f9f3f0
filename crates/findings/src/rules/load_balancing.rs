//! balance-tlb and balance-alb: one member for a flow, or for a neighbour.

use nicteam_record::{Finding, Side};
use nicteam_team::Mode;

use super::Rule;
use crate::hop::{Choice, Hop};
use crate::limits::Limit;
use crate::words;

/// Full and not full links of a team that gives each flow, or each neighbour, one of them.
pub(super) struct LoadBalancing;

impl Rule for LoadBalancing {
    fn cause(&self) -> &'static str {
        "load-balancing"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let balances = |hop: &Hop<'_>| {
            matches!(limit.chooser(hop).by, Choice::Mode(Mode::BalanceTlb | Mode::BalanceAlb)) && hop.links.len() > 1
        };
        let hop = limit.hops.iter().find(|hop| balances(hop) && hop.some_full() && !hop.all_full())?;
        let chooser = limit.chooser(hop);
        Some(Finding {
            side: hop.side,
            node: Some(chooser.node.to_owned()),
            policy: Some(chooser.by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        })
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let mode = finding.policy.as_deref()?;
        let does = match (mode.parse::<Mode>().ok()?, finding.side) {
            (Mode::BalanceTlb, Side::Receiving) => "receives by its active member alone",
            (_, Side::Receiving) => "announces one member's address to each neighbour",
            (Mode::BalanceTlb, _) => "sends each flow by one member",
            _ => "sends to each neighbour by one member",
        };
        let (side, host, least) = (words::side(finding), words::node(finding), words::least(finding.hops.first()?));
        Some(format!("{side}: {host} {does} (mode {mode}): the busiest was full, the least used at {least}."))
    }
}
