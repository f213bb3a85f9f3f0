//! `queue-length`: the path with the fewest commands outstanding (dm-multipath's; least queue depth in Windows).

use std::time::Duration;

use super::entry::{Choose, Entry, Load, Policy, least, pending};
use crate::PathId;
use crate::path::Path;

pub(super) const ENTRY: Entry = Entry {
    name: "queue-length",
    plugin: "queue-length",
    summary: "the path with the fewest commands outstanding",
    policy: Policy::QueueLength,
    is: |policy| policy == Policy::QueueLength,
    build: |_| Box::new(QueueLength { last: PathId(0) }),
};

#[derive(Clone, Debug)]
struct QueueLength {
    last: PathId,
}

impl Choose for QueueLength {
    fn choose(&mut self, _: Load, paths: &[Path], _: Duration) -> Option<PathId> {
        self.last = least(paths, self.last, Path::outstanding)?;
        Some(self.last)
    }

    fn copy(&self) -> Box<dyn Choose> {
        Box::new(self.clone())
    }

    fn device_config(&self, paths: &[Path]) -> String {
        format!("policy=queue-length; lastPathIndex={}: {}", self.last.0, pending(paths))
    }
}
