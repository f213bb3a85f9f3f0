//! What a policy is: its line in the registry, and how it chooses.

use std::fmt;
use std::time::Duration;

use crate::path::Path;
use crate::{Kind, PathId};

/// A path policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The first path; another one while it is down.
    Fixed,
    /// The paths in turn.
    RoundRobin {
        /// I/Os before the next path's turn; none: never set, [`super::DEFAULT_IOPS`], and shown as ESXi shows its default.
        ios: Option<u32>,
    },
    /// The path with the fewest commands outstanding.
    QueueLength,
    /// The path with the fewest bytes outstanding for its throughput.
    ServiceTime,
    /// The path by which the request is done first, by what was measured of each.
    #[default]
    Best,
}

/// A kind of policy.
pub struct Entry {
    /// Its name in an experiment file.
    pub name: &'static str,
    /// What `Path Selection Policy` says: ESXi's plug-in, or the name where ESXi has none.
    pub plugin: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The policy with its defaults.
    pub policy: Policy,
    /// Whether a policy is of this kind.
    pub(super) is: fn(Policy) -> bool,
    pub(super) build: fn(Policy) -> Box<dyn Choose>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A request that looks for a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub kind: Kind,
    pub bytes: u64,
}

/// A policy with what it remembers.
pub(crate) trait Choose: fmt::Debug + Send {
    /// The path for a request, which is sent by it then; none: it is held back. Of `paths` those that are up may be chosen.
    fn choose(&mut self, load: Load, paths: &[Path], now: Duration) -> Option<PathId>;

    /// A copy, with what it remembers.
    fn copy(&self) -> Box<dyn Choose>;

    /// What ESXi shows between the braces of `Path Selection Policy Device Config`.
    fn device_config(&self, paths: &[Path]) -> String;
}

impl Clone for Box<dyn Choose> {
    fn clone(&self) -> Box<dyn Choose> {
        self.copy()
    }
}

/// The paths that may be chosen.
pub(super) fn usable(paths: &[Path]) -> impl Iterator<Item = (PathId, &Path)> {
    paths.iter().enumerate().filter(|(_, path)| path.is_up()).map(|(index, path)| (PathId(index), path))
}

/// Of the usable paths the one with the least cost; of equal ones the first after `last`.
pub(super) fn least<C: PartialOrd>(paths: &[Path], last: PathId, cost: impl Fn(&Path) -> C) -> Option<PathId> {
    let count = paths.len();
    let turn = |PathId(path): PathId| (path + count - last.0 % count.max(1) + count - 1) % count;
    let mut found: Option<(C, usize, PathId)> = None;
    for (id, path) in usable(paths) {
        let (cost, turn) = (cost(path), turn(id));
        let better = found.as_ref().is_none_or(|(least, first, _)| cost < *least || cost <= *least && turn < *first);
        if better {
            found = Some((cost, turn, id));
        }
    }
    found.map(|(_, _, id)| id)
}

/// What ESXi shows of what is outstanding.
pub(super) fn pending(paths: &[Path]) -> String {
    let commands: usize = paths.iter().map(Path::outstanding).sum();
    let bytes: u64 = paths.iter().map(Path::outstanding_bytes).sum();
    format!("NumIOsPending={commands},numBytesPending={bytes}")
}
