//! Open vSwitch's balance-tcp without LACP, which carries nothing.

use nicteam_record::Finding;

use super::Rule;
use crate::hop::{Hop, is_idle};
use crate::limits::Limit;
use crate::team::Team;
use crate::words;

/// Idle links of a team whose mode needs LACP while the team does not speak it.
pub(super) struct LacpMissing;

impl Rule for LacpMissing {
    fn cause(&self) -> &'static str {
        "lacp-missing"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let idle = |hop: &Hop<'_>| hop.links.iter().all(|link| is_idle(link.load()));
        let (hop, team) = limit.passed().find_map(|hop| Some((hop, without_lacp(hop).filter(|_| idle(hop))?)))?;
        Some(Finding {
            side: hop.side,
            node: Some(team.node.to_owned()),
            policy: Some(team.mode_name.to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        })
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let (side, node, mode) = (words::side(finding), words::node(finding), finding.policy.as_deref()?);
        Some(format!(
            "{side}: mode {mode} of {node} needs LACP, and its option lacp is off. So {node} sends nothing and drops received \
             frames. Cure: lacp=active and LACP at the switch (with lacp_fallback_ab=1 one member carries all while no \
             partner answers), or mode ovs-balance-slb, which needs no LACP."
        ))
    }
}

/// The team at either end that needs LACP and does not speak it.
fn without_lacp<'a>(hop: &Hop<'a>) -> Option<Team<'a>> {
    [hop.team, hop.receiver].into_iter().flatten().find(|team| team.mode.gives_each_flow_one() && !team.speaks_lacp)
}
