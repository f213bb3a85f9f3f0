//! `fixed`: one path carries all, and the next one that is up while it does not.

use std::time::Duration;

use super::entry::{Choose, Entry, Load, Policy, usable};
use crate::PathId;
use crate::path::Path;

pub(super) const ENTRY: Entry = Entry {
    name: "fixed",
    plugin: "VMW_PSP_FIXED",
    summary: "the first path; another one while it is down, and back when it returns",
    policy: Policy::Fixed,
    is: |policy| policy == Policy::Fixed,
    build: |_| Box::new(Fixed { current: PathId(0) }),
};

#[derive(Clone, Debug)]
struct Fixed {
    current: PathId,
}

impl Choose for Fixed {
    fn choose(&mut self, _: Load, paths: &[Path], _: Duration) -> Option<PathId> {
        self.current = usable(paths).next()?.0;
        Some(self.current)
    }

    fn copy(&self) -> Box<dyn Choose> {
        Box::new(self.clone())
    }

    fn device_config(&self, _: &[Path]) -> String {
        format!("preferred={};current={}", PathId(0).runtime_name(), self.current.runtime_name())
    }
}
