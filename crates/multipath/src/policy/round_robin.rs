//! `round-robin`: the next path after so many I/Os.
//!
//! What a path can carry is not asked. With few paths' worth of requests outstanding and the default of 1000 I/Os one
//! path carries all for a while, then another one; and when the paths are unequal, every request ends up waiting for
//! the slowest.

use std::time::Duration;

use super::entry::{Choose, Entry, Load, Policy, pending, usable};
use crate::PathId;
use crate::path::Path;

/// I/Os before the next path's turn where nothing is set, as in ESXi.
pub const DEFAULT_IOPS: u32 = 1000;

pub(super) const ENTRY: Entry = Entry {
    name: "round-robin",
    plugin: "VMW_PSP_RR",
    summary: "the paths in turn, the next one after `iops` I/Os (1000)",
    policy: Policy::RoundRobin { ios: None },
    is: |policy| matches!(policy, Policy::RoundRobin { .. }),
    build,
};

fn build(policy: Policy) -> Box<dyn Choose> {
    let set = match policy {
        Policy::RoundRobin { ios } => ios,
        _ => None,
    };
    Box::new(RoundRobin { set, current: PathId(0), done: 0 })
}

#[derive(Clone, Debug)]
struct RoundRobin {
    set: Option<u32>,
    current: PathId,
    /// I/Os of the current turn.
    done: u32,
}

impl RoundRobin {
    fn iops(&self) -> u32 {
        self.set.unwrap_or(DEFAULT_IOPS).max(1)
    }
}

impl Choose for RoundRobin {
    fn choose(&mut self, _: Load, paths: &[Path], _: Duration) -> Option<PathId> {
        let over = self.done >= self.iops();
        let current = self.current;
        let stays = !over && paths.get(current.0).is_some_and(Path::is_up);
        if !stays {
            let later = usable(paths).find(|(id, _)| *id > current);
            self.current = later.or_else(|| usable(paths).next())?.0;
            self.done = 0;
        }
        self.done += 1;
        Some(self.current)
    }

    fn copy(&self) -> Box<dyn Choose> {
        Box::new(self.clone())
    }

    fn device_config(&self, paths: &[Path]) -> String {
        // ESXi says `rr` until one of the limits was set.
        let policy = if self.set.is_some() { "iops" } else { "rr" };
        let (iops, last, pending) = (self.iops(), self.current.0, pending(paths));
        format!("policy={policy},iops={iops},bytes=10485760,useANO=0; lastPathIndex={last}: {pending}")
    }
}
