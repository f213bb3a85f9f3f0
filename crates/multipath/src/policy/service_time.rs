//! `service-time`: the path with the fewest bytes outstanding for its throughput.
//!
//! As dm-multipath's (drivers/md/dm-ps-service-time.c); there the throughputs are given by hand, here they are
//! measured, of each direction.

use std::time::Duration;

use super::entry::{Choose, Entry, Load, Policy, least, pending};
use crate::PathId;
use crate::measure::assumed_rate;
use crate::path::Path;

pub(super) const ENTRY: Entry = Entry {
    name: "service-time",
    plugin: "service-time",
    summary: "the path with the fewest bytes outstanding for its measured throughput",
    policy: Policy::ServiceTime,
    is: |policy| policy == Policy::ServiceTime,
    build: |_| Box::new(ServiceTime { last: PathId(0) }),
};

#[derive(Clone, Debug)]
struct ServiceTime {
    last: PathId,
}

impl Choose for ServiceTime {
    fn choose(&mut self, load: Load, paths: &[Path], _: Duration) -> Option<PathId> {
        let assumed = assumed_rate(paths.iter().map(Path::measure), load.kind);
        let time = |path: &Path| path.measure().service_time(load.kind, load.bytes, assumed);
        self.last = least(paths, self.last, time)?;
        Some(self.last)
    }

    fn copy(&self) -> Box<dyn Choose> {
        Box::new(self.clone())
    }

    fn device_config(&self, paths: &[Path]) -> String {
        format!("policy=service-time; lastPathIndex={}: {}", self.last.0, pending(paths))
    }
}
