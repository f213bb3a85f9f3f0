//! `copy`: a file from memory to a target's disk, or back, once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kind::{Kind, Said};
use super::storage::{self, Defaults, Storage};
use crate::keys::{self, Key, Need};
use crate::traffic::{DiskUse, Task};
use crate::units::show_bytes;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[Key {
        name: "overwrite",
        kind: keys::Kind::Flag,
        need: Need::Default("false"),
        doc: "`copy`: the destination file exists already. It has its full size and other content.",
    }],
    also: &storage::ALSO,
    takes_every_path: storage::takes_every_path,
    keeps_to_a_processor: false,
    stays_in_segment: false,
    resolve,
};

const NAME: &str = "copy";
/// T1's: the block of its ZFS volume.
const DEFAULT_BLOCK_BYTES: u64 = 128 << 10;
const DEFAULT_OUTSTANDING: u32 = 32;

/// A file that is copied from memory to a target's disk, or back. Its content is checked from end to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copy {
    /// The disk, and the requests.
    pub storage: Storage,
    /// The file is there already.
    pub overwrite: bool,
}

impl Task for Copy {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn disk_use(&self) -> Option<DiskUse<'_>> {
        Some(self.storage.disk_use())
    }

    fn words(&self) -> (&'static str, String) {
        let Storage { target, block_bytes, outstanding, file_bytes, .. } = &self.storage;
        let verb = if self.overwrite { "overwritten" } else { "copied" };
        let (file, block) = (show_bytes(*file_bytes), show_bytes(*block_bytes));
        let how = format!(
            "{file} {verb} in requests of {block}, {outstanding} outstanding, on target {target}, {}",
            self.storage.words()
        );
        (NAME, how)
    }

    fn each(&self, _connections: u32, _ipv6: bool) -> Value {
        json!(self)
    }

    fn congestion(&self) -> Option<&str> {
        Some(&self.storage.congestion)
    }

    fn finds_connections(&self) -> bool {
        true
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn takes_every_path(&self) -> bool {
        self.storage.every_path
    }

    fn owns_target(&self) -> Option<&str> {
        Some(&self.storage.target)
    }
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Arc<dyn Task>> {
    let both = said.record.get::<&str>("direction").is_some_and(|at| at.value == "both");
    let parts = u64::from(said.connections) * if both { 2 } else { 1 };
    let defaults = Defaults { block_bytes: DEFAULT_BLOCK_BYTES, outstanding: DEFAULT_OUTSTANDING, parts };
    let overwrite = said.record.get::<bool>("overwrite").is_some_and(|at| at.value);
    let storage = storage::resolve(said, &defaults)?;
    Some(Arc::new(Copy { storage, overwrite }))
}
