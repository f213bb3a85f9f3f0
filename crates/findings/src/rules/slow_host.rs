//! A host was the limit, not a link: its processor, or its receive window.

use nicteam_record::{Finding, LinkLoads, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::slow::{self, Bound};
use crate::units::{bytes, rate, ratio};

/// No link full, and a host that has used up what it was given.
pub(super) struct SlowHost;

#[derive(Serialize, Deserialize)]
struct Details {
    host: String,
    /// Payload that its processor can send and receive, bit/s.
    can_bps: Option<f64>,
    /// What it did.
    did_bps: Option<f64>,
    /// Its receive window.
    window_bytes: Option<u32>,
}

impl Rule for SlowHost {
    fn cause(&self) -> &'static str {
        "slow-host"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let FilledBy::Host { host } = limit.filled_by else { return None };
        let (can_bps, did_bps, window_bytes) = match slow::bound(limit.picture.run, host)? {
            Bound::Processor(can, did) => (Some(can as f64), Some(did), None),
            Bound::Window(bytes) => (None, None, Some(bytes)),
        };
        let links = limit.passed().flat_map(|hop| hop.links.iter().map(move |link| (hop, link)));
        let fullest = links.max_by(|(_, one), (_, other)| one.load().total_cmp(&other.load()));
        let hops = fullest.map(|(hop, link)| LinkLoads { links: vec![link.as_found()], ..hop.as_found() });
        let finding = Finding {
            side: Side::Hosts,
            node: Some(host.to_owned()),
            hops: hops.into_iter().collect(),
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { host: host.to_owned(), can_bps, did_bps, window_bytes }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { host, can_bps, did_bps, window_bytes } = finding.details()?;
        let what = match (can_bps.zip(did_bps), window_bytes) {
            (Some((can, did)), _) => {
                format!("its processor did {} of {} at most", rate(did), rate(can))
            }
            (None, Some(window)) => {
                format!("its connections filled its receive window of {}", bytes(window.into()))
            }
            (None, None) => return None,
        };
        Some(format!("Host {host} was the limit, not a link: {what}."))
    }

    fn facts(&self, finding: &Finding) -> Vec<String> {
        let fullest = finding.hops.first().and_then(|hop| hop.links.first().map(|link| link.load));
        let fullest = fullest.map(|load| {
            format!("The fullest link carried {} of what it can: a team gives such a host nothing more.", ratio(load))
        });
        fullest.into_iter().collect()
    }
}
