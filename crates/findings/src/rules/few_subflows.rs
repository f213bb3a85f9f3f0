//! Multipath TCP with fewer subflows than its hosts have links, or plain TCP between such hosts.

use nicteam_record::Finding;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Choice, Hop, is_idle};
use crate::limits::Limit;
use crate::units::{list, plural};
use crate::words;

/// Full links of hosts with an address a link beside idle ones, to which no subflow leads.
pub(super) struct FewSubflows;

#[derive(Serialize, Deserialize)]
struct Details {
    /// The fewest subflows that a connection had; none of plain TCP.
    subflows: Option<u32>,
}

impl Rule for FewSubflows {
    fn cause(&self) -> &'static str {
        "few-subflows"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let hop = limit.suspects().into_iter().find(|hop| leaves_some_idle(limit, hop))?;
        let by = limit.chooser(hop).by;
        // The kernel reports nothing for connections without subflows.
        let fewest = limit.connections().filter_map(|connection| connection.subflows).filter(|count| *count > 0).min();
        let subflows = match by {
            Choice::Subflows => Some(fewest.filter(|fewest| (*fewest as usize) < hop.links.len())?),
            _ => None,
        };
        let finding = Finding {
            side: hop.side,
            node: Some(hop.host().to_owned()),
            policy: subflows.map(|_| by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { subflows }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { subflows } = finding.details()?;
        let (side, host, hop) = (words::side(finding), words::node(finding), finding.hops.first()?);
        let links = hop.links.len();
        let idle = hop.links.iter().filter(|link| is_idle(link.load));
        let idle: Vec<&str> = idle.map(|link| words::device(hop, link, host)).collect();
        let what = match subflows {
            Some(count) => {
                format!("multipath TCP had {} for {host}'s {links} links", plural(count as usize, "subflow"))
            }
            None => format!("plain TCP uses one of {host}'s {links} links, that of the address it connects to"),
        };
        Some(format!("{side}: {what}, and {} stayed idle.", list(&idle)))
    }
}

/// Whether a host with an address a link has some in use and others idle.
fn leaves_some_idle(limit: &Limit<'_, '_>, hop: &Hop<'_>) -> bool {
    let idle = hop.links.iter().filter(|link| is_idle(link.load())).count();
    matches!(limit.chooser(hop).by, Choice::Subflows | Choice::Address) && idle > 0 && idle < hop.links.len()
}
