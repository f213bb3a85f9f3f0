//! Storage that an agent's node serves.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Storage to serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeTarget {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// What it holds, bytes.
    pub size_bytes: u64,
    /// True: on a disk; else in memory.
    pub on_disk: bool,
    /// The host's addresses.
    pub addresses: Vec<IpAddr>,
    /// What that kind has to know of it.
    pub settings: Value,
}

/// What can be done with storage that is served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TargetAct {
    /// Kill what serves it, as a crash would. What was written stays.
    Kill,
    /// Serve it again after that; answered once it can be used.
    Restart,
    /// Tell the SHA-256 of a range of what it holds.
    Digest {
        /// Where the range begins, bytes.
        offset: u64,
        /// How long it is, bytes.
        bytes: u64,
    },
    /// Give a range of what it holds the content of a seed (`nicteam_storage::Pattern`).
    Fill {
        /// Where the range begins, bytes.
        offset: u64,
        /// How long it is, bytes.
        bytes: u64,
        /// The seed.
        seed: u64,
        /// The generation.
        generation: u64,
    },
}

/// What serves storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serves {
    /// The program.
    pub program: String,
    /// Its version.
    pub version: String,
    /// Addresses and ports at which it is to be had.
    pub portals: Vec<SocketAddr>,
    /// What it was told, by its own words.
    pub configured: BTreeMap<String, String>,
}
