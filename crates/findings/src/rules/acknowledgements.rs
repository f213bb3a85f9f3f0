//! Payload of the other direction fills the links by which acknowledgements come back.

use nicteam_record::{Finding, Side};

use super::Rule;
use crate::hop::Hop;
use crate::limits::{FilledBy, Limit};
use crate::words;

/// No link full on the way there, and a full one on the way back.
pub(super) struct Acknowledgements;

impl Rule for Acknowledgements {
    fn cause(&self) -> &'static str {
        "acknowledgements"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        if limit.filled_by != FilledBy::Nothing || limit.connections().any(|own| own.datagrams.is_some()) {
            return None;
        }
        let leads_back = |hop: &&Hop<'_>| {
            hop.some_full() && limit.passed().any(|there| (there.node, there.peer) == (hop.peer, hop.node))
        };
        let hop = limit.picture.hops.iter().find(leads_back)?;
        Some(Finding { side: Side::Links, hops: vec![hop.as_found()], ..limit.finding(self.cause()) })
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let hop = finding.hops.first()?;
        Some(format!(
            "No link was full on the way there. {} from {} to {}, by which acknowledgements come back, was full of other payload, so \
             they waited in its queue.",
            words::upper_first(&words::numbers(words::full(hop))),
            hop.node,
            hop.peer
        ))
    }
}
