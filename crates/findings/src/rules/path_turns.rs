//! Round robin over the paths to a disk that stays with a path for more requests than are outstanding.

use nicteam_record::Finding;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::Limit;
use crate::storage::{self, ROUND_ROBIN};
use crate::words;

/// Several paths of which one works at a time.
pub(super) struct PathTurns;

/// More than one path at a time is at work if the links carry this much more than one path's share.
const ONE_AT_A_TIME: f64 = 1.6;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Requests by one path before the next one's turn.
    turn_ios: u32,
    /// Requests outstanding, if that is known.
    outstanding: Option<u32>,
    paths: usize,
}

impl Rule for PathTurns {
    fn cause(&self) -> &'static str {
        "path-turns"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let disk = limit.disk()?;
        let paths = disk.paths.iter().filter(|path| storage::is_alive(path)).count();
        let turn_ios = disk.turn_ios.filter(|_| disk.policy == ROUND_ROBIN)?;
        let outstanding = storage::operations_of(limit.picture.run, disk).and_then(|task| task.outstanding);
        let hop = limit.hop_of(disk)?;
        let one_at_a_time = hop.load() <= ONE_AT_A_TIME / paths as f64;
        if paths < 2 || turn_ios < outstanding.unwrap_or(2) || !one_at_a_time {
            return None;
        }
        let finding = limit.finding_by_paths(self.cause(), disk, hop);
        Some(finding.with_details(&Details { turn_ios, outstanding, paths }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { turn_ios, outstanding, paths } = finding.details()?;
        let (side, node, hop) = (words::side(finding), words::node(finding), finding.hops.first()?);
        let under_way = outstanding.map_or_else(String::new, |count| format!("{count} are outstanding, so "));
        Some(format!(
            "{side}: round robin of {node} gives a path {turn_ios} requests in a row (policy=rr,iops={turn_ios}); {under_way}one of \
             {paths} paths works at a time: their links were {} full. Cure: iops=1.",
            storage::loads(hop.links.iter().map(|link| link.load)),
        ))
    }
}
