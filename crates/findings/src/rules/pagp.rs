//! A switch that speaks PAgP, which no team answers: its ports form no group.

use nicteam_record::{Finding, PagpHeard};
use nicteam_team::Mode;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Choice, Hop};
use crate::limits::Limit;
use crate::team::Team;
use crate::words;

/// A full link among plain ports to a team that receives PAgP by them.
pub(super) struct Pagp;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Mode of the switch's ports: `auto` or `desirable`.
    mode: String,
    /// What they should be for the team: `on`, `active`; none: no channel group.
    channel_group: Option<String>,
}

impl Rule for Pagp {
    fn cause(&self) -> &'static str {
        "pagp"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let run = limit.picture.run;
        let plain = |hop: &&&Hop<'_>| {
            matches!(limit.chooser(hop).by, Choice::Learned | Choice::Mode(_))
                && hop.team.is_none()
                && hop.links.len() > 1
        };
        let hop = limit.hops.iter().find(|hop| plain(hop) && heard(&run.pagp, hop).is_some())?;
        let group = |team: &Team<'_>| team.mode_name.parse::<Mode>().ok()?.traits().channel_group(team.speaks_lacp);
        let details = Details {
            mode: heard(&run.pagp, hop)?.mode.clone(),
            channel_group: hop.receiver.as_ref().and_then(group).map(str::to_owned),
        };
        // Where the mode wants plain ports nothing is lost to their being plain.
        details.channel_group.as_ref()?;
        let finding = Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let (hop, Details { mode, channel_group }) = (finding.hops.first()?, finding.details()?);
        let (node, peer) = (&hop.node, &hop.peer);
        let cure = channel_group
            .map_or_else(|| "`no channel-group`".to_owned(), |group| format!("`channel-group N mode {group}`"));
        Some(format!(
            "{}: the switch {node} speaks PAgP (mode {mode}), which no team answers, so its {} ports to {peer} form no group. It \
             uses the port on which it last learned {peer}'s address. At {node}: {cure}.",
            words::side(finding),
            hop.links.len(),
        ))
    }
}

/// The PAgP that the node at the far end of a hop received by these links.
fn heard<'r>(pagp: &'r [PagpHeard], hop: &Hop<'_>) -> Option<&'r PagpHeard> {
    pagp.iter().find(|heard| heard.host == hop.peer && hop.links.iter().any(|link| link.far_device == heard.member))
}
