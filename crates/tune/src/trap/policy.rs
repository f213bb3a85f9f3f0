//! Round robin that changes the path every 1000 requests: with fewer than that under way, one path at a time carries
//! all.

use super::kind::Trap;
use crate::finding::{Cure, Edit, Finding};
use crate::seen::Seen;

/// `iops` of round robin, or a policy of one path.
#[derive(Debug)]
pub(super) struct PathPolicy;

impl Trap for PathPolicy {
    fn name(&self) -> &'static str {
        "path-policy"
    }

    fn title(&self) -> &'static str {
        "Path policy"
    }

    fn looked(&self, seen: &Seen<'_>) -> String {
        let Some(disk) = seen.measured.and_then(|run| run.disks.first()) else {
            return "no disk was used yet".to_owned();
        };
        let policy = if disk.esxi.is_empty() { &disk.policy } else { &disk.esxi };
        let all: u64 = disk.paths.iter().map(|path| path.ios).sum();
        let share = |ios: u64| format!("{:.0} %", ios as f64 * 100.0 / all.max(1) as f64);
        let shares: Vec<String> = disk.paths.iter().map(|path| share(path.ios)).collect();
        format!("{policy}; requests by path: {}; {} changes of the path", shares.join(", "), disk.switches)
    }

    fn check(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let Some(disk) = seen.measured.and_then(|run| run.disks.first()).filter(|disk| disk.paths.len() > 1) else {
            return Vec::new();
        };
        let under_way = seen.workload_number("outstanding").unwrap_or(64);
        let wrong = match (disk.policy.as_str(), disk.turn_ios) {
            ("round-robin", Some(ios)) if ios > 1 => format!(
                "Round robin changes the path every {ios} requests. Of {under_way} under way nearly all are then on one path, and \
                 {} of {} links carry next to nothing at any moment.",
                disk.paths.len() - 1,
                disk.paths.len()
            ),
            ("fixed", _) => format!("One of {} paths carries everything (fixed).", disk.paths.len()),
            _ => return Vec::new(),
        };
        let is_fixed = disk.policy == "fixed";
        let mut edits = vec![Edit::Workload { key: "iops", value: Some(1.into()) }];
        edits.extend(is_fixed.then(|| Edit::Workload { key: "policy", value: Some("round-robin".into()) }));
        vec![Finding {
            trap: self.name(),
            place: format!("initiator {}", disk.host),
            wrong,
            cures: vec![
                Cure::new(
                    "ESXi",
                    "esxcli storage nmp device set --device naa.ID --psp VMW_PSP_RR; esxcli storage nmp psp roundrobin \
                     deviceconfig set --device naa.ID --type iops --iops 1",
                ),
                Cure::new("ESXi 4.1", "esxcli nmp roundrobin setconfig --device naa.ID --type iops --iops 1"),
                Cure::new(
                    "dm-multipath",
                    "path_selector \"round-robin 0\", path_grouping_policy multibus, rr_min_io_rq 1",
                ),
            ],
            edits,
            must: true,
        }]
    }
}
