//! Paths that are not alike, in turn: the slowest one sets the pace of all.

use super::kind::Trap;
use crate::finding::{Cure, Edit, Finding};
use crate::seen::{ENOUGH, Seen};

/// Round robin over paths that are not alike.
#[derive(Debug)]
pub(super) struct UnequalPaths;

/// Paths with latencies that differ by this factor are unequal.
const APART: f64 = 1.5;

impl Trap for UnequalPaths {
    fn name(&self) -> &'static str {
        "unequal-paths"
    }

    fn title(&self) -> &'static str {
        "Paths that are alike"
    }

    fn looked(&self, seen: &Seen<'_>) -> String {
        let latencies: Vec<String> = latencies(seen).iter().map(|us| format!("{:.1} ms", us / 1e3)).collect();
        if latencies.is_empty() {
            "nothing was measured yet".to_owned()
        } else {
            format!("latency by path: {}", latencies.join(", "))
        }
    }

    fn check(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let Some((run, disk)) = seen.measured.and_then(|run| Some((run, run.disks.first()?))) else {
            return Vec::new();
        };
        let all = latencies(seen);
        let (Some(least), Some(most)) = (all.iter().copied().reduce(f64::min), all.iter().copied().reduce(f64::max))
        else {
            return Vec::new();
        };
        let in_turn = disk.policy == "round-robin" && disk.turn_ios == Some(1);
        if !in_turn || run.of_limit >= ENOUGH || most < least * APART {
            return Vec::new();
        }
        vec![Finding {
            trap: self.name(),
            place: format!("initiator {}", disk.host),
            wrong: format!(
                "A request takes {:.1} ms by one path and {:.1} ms by another: in turn, all wait for the slowest.",
                least / 1e3,
                most / 1e3
            ),
            cures: vec![
                Cure::new("ESXi", "esxcli storage nmp psp roundrobin deviceconfig set --device naa.ID --type latency"),
                Cure::new("dm-multipath", "path_selector \"service-time 0\""),
            ],
            edits: vec![
                Edit::Workload { key: "policy", value: Some("best".into()) },
                Edit::Workload { key: "iops", value: None },
            ],
            must: true,
        }]
    }
}

/// Mean latency of each path that answered, microseconds.
fn latencies(seen: &Seen<'_>) -> Vec<f64> {
    let paths = seen.measured.and_then(|run| run.disks.first()).map_or(&[][..], |disk| &disk.paths);
    paths.iter().filter_map(|path| path.latency_us).collect()
}
