//! What is left when no rule applies.

use nicteam_record::{Finding, LinkLoads};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::units::{percent, plural, ratio};

/// The counters do not explain the limit; the finding shows the fullest link alone.
pub(super) struct Unexplained;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Whether a link was full.
    full: bool,
    /// Busy part of all processors.
    busy: f64,
}

impl Rule for Unexplained {
    fn cause(&self) -> &'static str {
        "unexplained"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let links = limit.passed().flat_map(|hop| hop.links.iter().map(move |link| (hop, link)));
        let fullest = links.max_by(|(_, one), (_, other)| one.load().total_cmp(&other.load()));
        let hops = fullest.map(|(hop, link)| LinkLoads { links: vec![link.as_found()], ..hop.as_found() });
        let details = Details { full: limit.filled_by != FilledBy::Nothing, busy: limit.picture.run.cpu.busy };
        let finding = Finding { hops: hops.into_iter().collect(), ..limit.finding(self.cause()) };
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { full, busy } = finding.details()?;
        let Some((hop, link)) = finding.hops.first().and_then(|hop| Some((hop, hop.links.first()?))) else {
            return Some(
                "The counters do not say what held it back: no link between the hosts is recorded.".to_owned(),
            );
        };
        let most = format!(
            "{} of {} towards {}, carried {} of what it can",
            link.device,
            hop.node,
            hop.peer,
            ratio(link.load)
        );
        if full {
            return Some(format!("The counters do not say what held it back: the fullest link, {most}."));
        }
        let sender = match finding.connections.len() {
            1 => "The connection".to_owned(),
            count => format!("The {}", plural(count, "connection")),
        };
        Some(format!(
            "No link was full (the fullest, {most}), and the processors were {} busy. {sender} did not send more.",
            percent(busy)
        ))
    }
}
