//! A cache that answers before the network has carried anything, or disks where the network is to be measured.

use super::kind::Trap;
use crate::finding::{Cure, Edit, Finding};
use crate::seen::Seen;

/// A write-back cache of the initiator, or a target that is no memory.
#[derive(Debug)]
pub(super) struct WriteCache;

impl Trap for WriteCache {
    fn name(&self) -> &'static str {
        "write-cache"
    }

    fn title(&self) -> &'static str {
        "Caches and disks"
    }

    fn looked(&self, seen: &Seen<'_>) -> String {
        let cache = seen.workload_text("cache").unwrap_or("none");
        let medium = seen.file.target("medium").and_then(|medium| medium.as_str()).unwrap_or("memory");
        format!(
            "the initiator's cache: {cache}; the target's file is in {medium}, and no disks are modelled in this step"
        )
    }

    fn check(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        if seen.workload_text("cache") == Some("write-back") {
            findings.push(Finding {
                trap: self.name(),
                place: format!("initiator {}", seen.workload_text("from").unwrap_or_default()),
                wrong: "A write-back cache says that a write is done when it is in its memory: what is measured is that memory, not \
                        the network."
                    .to_owned(),
                cures: vec![
                    Cure::new("Linux", "fio --direct=1, or mount -o sync, while the network is measured"),
                    Cure::new("Windows", "Device Manager, the disk, Policies: no write caching while the network is measured"),
                ],
                edits: vec![
                    Edit::Workload { key: "cache", value: None },
                    Edit::Workload { key: "cache_size", value: None },
                ],
                must: true,
            });
        }
        if seen.file.target("medium").and_then(|medium| medium.as_str()) == Some("disk") {
            findings.push(Finding {
                trap: self.name(),
                place: format!("target {}", seen.workload_text("target").unwrap_or_default()),
                wrong: "The target's file is on a disk: where that is slower than the links, the network cannot be measured by it."
                    .to_owned(),
                cures: vec![
                    Cure::new("tgt", "<target ...>: backing-store /dev/shm/lun0, write-cache on, for this step"),
                    Cure::new("IOmeter", "a test file smaller than the target's memory, read once before it is measured"),
                ],
                edits: vec![Edit::Target { key: "medium", value: "memory".into() }],
                must: true,
            });
        }
        findings
    }
}
