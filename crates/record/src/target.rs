//! Storage that hosts served.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Storage that a host served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its name in the file.
    pub name: String,
    /// The host that served it.
    pub host: String,
    /// `iscsi` or `nfs`.
    pub kind: String,
    /// The program that served it: `tgtd`.
    pub program: String,
    /// Its version.
    pub version: String,
    /// What it held, bytes.
    pub size_bytes: u64,
    /// Addresses and ports at which it was to be had.
    pub portals: Vec<String>,
    /// What it was told, by its own words: `MaxRecvDataSegmentLength`. What an initiator agreed on with it stands with the
    /// initiator's figures.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configured: BTreeMap<String, String>,
}
