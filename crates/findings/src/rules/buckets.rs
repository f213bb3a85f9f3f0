//! Open vSwitch's balance-slb and balance-tcp: a bucket for a source address, or for a connection, and one link for a bucket.

use std::collections::BTreeMap;

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Choice, Hop};
use crate::limits::Limit;
use crate::team::TeamMode;
use crate::units::{list, plural};
use crate::words;

/// Full and not full links of a team that gives each source, or each connection, a bucket.
pub(super) struct Buckets;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Whether buckets go by the source address, not by addresses and ports.
    by_source: bool,
    /// Hosts that the connections come from.
    sources: usize,
    /// Connections that pass the hop.
    connections: usize,
    /// Where each bucket with connections is, in order; empty if the record lacks what that follows from.
    #[serde(default)]
    placed: Vec<Placed>,
}

/// The connections of one bucket.
#[derive(Serialize, Deserialize)]
struct Placed {
    bucket: u8,
    /// Device of the member that it had at the end; none if the record lacks it.
    member: Option<String>,
    connections: usize,
}

/// More buckets are not named one by one.
const MOST_NAMED: usize = 4;

impl Rule for Buckets {
    fn cause(&self) -> &'static str {
        "buckets"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let bonded = |hop: &&Hop<'_>| mode(limit, hop).is_some() && hop.links.len() > 1;
        let hop = limit.hops.iter().copied().find(|hop| bonded(hop) && hop.some_full() && !hop.all_full())?;
        let (chooser, mode) = (limit.chooser(hop), mode(limit, hop)?);
        // Frames to a team that is no group come where its own frames went.
        let receives = hop.side == Side::Receiving && chooser.node == hop.peer;
        let mut sources: Vec<&str> =
            hop.connections.iter().map(|of| if receives { of.to.as_str() } else { of.from.as_str() }).collect();
        sources.sort_unstable();
        sources.dedup();
        let finding = Finding {
            side: hop.side,
            node: Some(chooser.node.to_owned()),
            policy: Some(chooser.by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        let (by_source, sources, connections) = (mode.gives_each_source_one(), sources.len(), hop.connections.len());
        let placed = hop.buckets.as_deref().map(placed).unwrap_or_default();
        Some(finding.with_details(&Details { by_source, sources, connections, placed }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let (details, mode): (Details, &str) = (finding.details()?, finding.policy.as_deref()?);
        let (side, host, hop) = (words::side(finding), words::node(finding), finding.hops.first()?);
        let least = words::least(hop);
        let used = match &details.placed[..] {
            [] => format!("the busiest was full, the least used at {least}"),
            placed => where_they_are(placed),
        };
        Some(match (details.by_source, finding.side) {
            (true, Side::Receiving) if host == hop.peer => format!(
                "{side}: {host} sends from each address by one link, that of the address's bucket (mode {mode}). {} sends to an \
                 address by the link on which it learned the address: {used}.",
                hop.node
            ),
            (true, _) if details.sources == 1 => format!(
                "{side}: {host} sends from one address (mode {mode}). A source address has one bucket, and a bucket has one link: \
                 {used}."
            ),
            (true, _) => format!(
                "{side}: {host} sends from {} addresses (mode {mode}). A source address has one bucket, and a bucket has one link, \
                 assigned at its first frame: {used}.",
                details.sources
            ),
            (false, _) if details.connections == 1 => {
                format!(
                    "{side}: {host} sends one connection (mode {mode}). A connection has one bucket, and a bucket has one link: {used}."
                )
            }
            (false, _) => format!(
                "{side}: {host} sends {} (mode {mode}). A connection has one bucket, and a bucket has one link, assigned at \
                 random: {used}.",
                plural(details.connections, "connection")
            ),
        })
    }
}

/// The mode that chooses by buckets among the links of a hop, if one does.
fn mode(limit: &Limit<'_, '_>, hop: &Hop<'_>) -> Option<TeamMode> {
    match limit.chooser(hop).by {
        Choice::Mode(mode) => {
            Some(TeamMode::Of(mode)).filter(|mode| mode.gives_each_source_one() || mode.gives_each_flow_one())
        }
        _ => None,
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
                let member = one.member.as_deref().unwrap_or("an unknown member");
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
