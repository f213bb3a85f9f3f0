//! Open vSwitch's balance-slb and balance-tcp: a bucket for a source, or for a flow, and a member for a bucket.

use std::collections::BTreeMap;

use nicteam_record::{Finding, LinkLoads};
use nicteam_team::mode::Sends;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::explain::hop::Hop;
use crate::explain::limits::Limit;
use crate::explain::words;
use crate::team::TeamMode;
use crate::units::{list, plural};

/// Full links beside others that had room, where buckets choose.
pub(super) struct Buckets;

/// More buckets are not named one by one.
const MOST_NAMED: usize = 4;

#[derive(Serialize, Deserialize)]
struct Details {
    /// True if the bucket follows from the source alone, false if from addresses and ports.
    by_source: bool,
    /// Where each bucket with connections is; none if the record lacks what it follows from.
    placed: Option<Vec<Placed>>,
}

/// The connections of one bucket.
#[derive(Clone, Serialize, Deserialize)]
struct Placed {
    bucket: u8,
    /// Device of the member that it had at the end; none if nobody said.
    member: Option<String>,
    connections: usize,
}

impl Rule for Buckets {
    fn cause(&self) -> &'static str {
        "buckets"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let spreads = |hop: &&&Hop<'_>| hop.has_mode(TeamMode::spreads_by_buckets) && hop.links.len() > 1;
        let hop = limit.hops.iter().filter(spreads).find(|hop| hop.some_full() && !hop.all_full())?;
        let team = hop.team?;
        let finding = Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            policy: Some(team.mode_name.to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        let by_source = team.mode.sends() == Some(Sends::BySource);
        Some(finding.with_details(&Details { by_source, placed: hop.buckets.as_deref().map(placed) }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let (details, mode): (Details, &str) = (finding.details()?, finding.policy.as_deref()?);
        let hop = finding.hops.first()?;
        let by = if details.by_source { "source address and VLAN" } else { "addresses and ports" };
        let outcome = match details.placed.as_deref() {
            Some(placed @ [_, ..]) => where_they_are(placed),
            _ => format!("used {} of {} (counted, not predicted)", words::numbers(words::full(hop)), hop.links.len()),
        };
        Some(format!("{}: {} spreads by {by} (mode {mode}): {outcome}.", words::side(finding), words::node(finding)))
    }

    fn facts(&self, finding: &Finding) -> Vec<String> {
        let loads = |hop: &LinkLoads| format!("The least used link of {} was {} full.", hop.node, words::least(hop));
        finding.hops.iter().map(loads).collect()
    }
}

/// The connections of each bucket, in the order of the buckets.
fn placed(buckets: &[(u8, Option<&str>)]) -> Vec<Placed> {
    let mut placed: BTreeMap<u8, Placed> = BTreeMap::new();
    for (bucket, member) in buckets {
        let member = member.map(str::to_owned);
        placed.entry(*bucket).or_insert(Placed { bucket: *bucket, member, connections: 0 }).connections += 1;
    }
    placed.into_values().collect()
}

/// `both connections hash to bucket 38, which has member eth1`, or a count a member.
fn where_they_are(placed: &[Placed]) -> String {
    match placed {
        [one] => {
            let who = match one.connections {
                1 => "the connection hashes".to_owned(),
                2 => "both connections hash".to_owned(),
                count => format!("all {count} connections hash"),
            };
            format!("{who} to {}", bucket(one))
        }
        few if few.len() <= MOST_NAMED => {
            let each = few.iter().map(|one| format!("{} to {}", plural(one.connections, "connection"), bucket(one)));
            list(&each.collect::<Vec<_>>())
        }
        many => {
            let mut members: BTreeMap<&str, usize> = BTreeMap::new();
            for one in many {
                let member = one.member.as_deref().unwrap_or("a member that nobody named");
                let count = members.entry(member).or_default();
                *count = count.saturating_add(one.connections);
            }
            let each =
                members.into_iter().map(|(member, count)| format!("{} on {member}", plural(count, "connection")));
            format!("by {} buckets {}", many.len(), list(&each.collect::<Vec<_>>()))
        }
    }
}

/// `bucket 38, which has member eth1`.
fn bucket(placed: &Placed) -> String {
    match &placed.member {
        Some(member) => format!("bucket {}, which has member {member}", placed.bucket),
        None => format!("bucket {}", placed.bucket),
    }
}
