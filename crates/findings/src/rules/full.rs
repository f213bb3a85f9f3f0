//! Nothing held it back: every connection passes links that were all full.

use std::collections::BTreeSet;

use nicteam_record::{Finding, LinkLoads, Side};
use serde::{Deserialize, Serialize};

use super::{Rule, lossy, machine};
use crate::hop::Choice;
use crate::limits::{FilledBy, Limit};
use crate::units::{self, number, ratio, share};

/// Below this part of the limit full links were not the best that could be had of them.
pub(super) const WHOLE: f64 = 0.85;

/// From this part of the limit on, paths to a disk were full together, and links that both ends use together delivered all.
const NEARLY_ALL: f64 = 0.95;

/// Full links on every connection's way.
pub(super) struct Full;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Whose links these are.
    hosts: Vec<String>,
    /// Part of what they can carry that they carried.
    carried: f64,
    /// Whether the same links could have carried more of other connections.
    other_split: bool,
}

impl Rule for Full {
    fn cause(&self) -> &'static str {
        "full"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        if limit.filled_by != FilledBy::Payload && !paths_are_full(limit) || lossy::is_below_full(limit) {
            return None;
        }
        if limit.is_whole() && limit.picture.run.of_limit < NEARLY_ALL && machine::has_no_more(limit) {
            return None;
        }
        let full = &limit.hops;
        let counted = full.iter().map(|hop| hop.load()).sum::<f64>() / full.len() as f64;
        let payload: f64 = full.iter().map(|hop| hop.payload_bps()).sum();
        let capacity: f64 = full.iter().map(|hop| hop.capacity_bps()).sum();
        let of_limit = limit.picture.run.of_limit;
        let is_whole = limit.is_whole() && !limit.picture.two_way && of_limit > 0.0;
        let carried = match () {
            () if is_whole && of_limit >= WHOLE => of_limit,
            () if limit.picture.two_way => counted,
            () => share(payload, capacity),
        };
        let mut hosts: Vec<String> = full.iter().map(|hop| hop.host().to_owned()).collect();
        hosts.dedup();
        let other_split = is_whole && of_limit < WHOLE;
        let finding = Finding {
            side: Side::Nowhere,
            lost: if other_split { 1.0 - of_limit } else { limit.lost },
            hops: full.iter().map(|hop| hop.as_found()).collect(),
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { hosts, carried, other_split }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { hosts, carried, other_split } = finding.details()?;
        let more =
            if other_split { "; another split of these links among the connections would reach the limit" } else { "" };
        Some(format!(
            "Nothing held it back: {} of {} carried {} of what {} can{more}.",
            what(&finding.hops, &hosts),
            units::hosts(&hosts),
            ratio(carried),
            if hosts.len() == 1 && links_of(&finding.hops, &hosts[0]) == 1 { "it" } else { "they" },
        ))
    }
}

/// Whether several paths to a disk carried, one more and one less of what it can, as good as all.
fn paths_are_full(limit: &Limit<'_, '_>) -> bool {
    let by_paths = limit.filled_by.chosen_by() == Some(Choice::Paths);
    by_paths && limit.is_whole() && limit.picture.run.of_limit >= NEARLY_ALL
}

/// `all four links`, `the one link each`.
fn what(full: &[LinkLoads], hosts: &[String]) -> String {
    let each = if hosts.len() > 1 { " each" } else { "" };
    let mut numbers = hosts.iter().map(|host| links_of(full, host));
    let links = numbers.next().unwrap_or_default();
    match links {
        _ if numbers.any(|other| other != links) => "all links".to_owned(),
        1 => format!("the one link{each}"),
        2 => format!("both links{each}"),
        _ => format!("all {} links{each}", number(links)),
    }
}

/// How many links of a host are among these; one that is full in both directions counts once.
fn links_of(full: &[LinkLoads], host: &str) -> usize {
    let mut devices = BTreeSet::new();
    for hop in full {
        if hop.node == host {
            devices.extend(hop.links.iter().map(|link| link.device.as_str()));
        } else if hop.peer == host {
            devices.extend(hop.links.iter().map(|link| link.far_device.as_str()));
        }
    }
    devices.len()
}
