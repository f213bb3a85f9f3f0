//! Paths to a disk that were dead.

use nicteam_record::{Finding, StoragePath};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::is_idle;
use crate::limits::Limit;
use crate::units::{list, plural};
use crate::{storage, words};

/// Several paths of which some carried nothing, because they were dead, while the others were at work.
pub(super) struct DeadPath;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Device and portal of each dead path.
    dead: Vec<(String, String)>,
    paths: usize,
}

impl Rule for DeadPath {
    fn cause(&self) -> &'static str {
        "dead-path"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let disk = limit.disk().filter(|disk| disk.paths.len() > 1)?;
        let hop = limit.hop_of(disk)?;
        let idle = |path: &&StoragePath| {
            let at = hop.links.iter().find(|link| [link.device, link.far_device].contains(&path.device.as_str()));
            at.is_none_or(|link| is_idle(link.load()))
        };
        let dead: Vec<&StoragePath> = disk.paths.iter().filter(|path| !storage::is_alive(path)).filter(idle).collect();
        if dead.is_empty() || dead.len() == disk.paths.len() {
            return None;
        }
        let details = Details {
            dead: dead.iter().map(|path| (path.device.clone(), path.portal.clone())).collect(),
            paths: disk.paths.len(),
        };
        let finding = limit.finding_by_paths(self.cause(), disk, hop);
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { dead, paths } = finding.details()?;
        let names: Vec<String> = dead.iter().map(|(device, portal)| format!("{device} to {portal}")).collect();
        Some(format!(
            "{}: {} of {}'s {} to the disk {} dead ({}), and the others carried what they could.",
            words::side(finding),
            dead.len(),
            words::node(finding),
            plural(paths, "path"),
            if dead.len() == 1 { "was" } else { "were" },
            list(&names),
        ))
    }
}
