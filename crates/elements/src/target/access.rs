//! A target, resolved.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Storage that a host serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name in the file.
    pub name: String,
    /// The host that serves it.
    pub host: String,
    /// The `kind` of the file, by which agents know it, too.
    pub kind: &'static str,
    /// What it holds, bytes.
    pub size_bytes: u64,
    /// Where that is.
    pub medium: Medium,
    /// Its other settings, in words: `MaxRecvDataSegmentLength 8kib`.
    pub words: String,
    /// How initiators and clients get to it.
    pub access: Access,
    /// The data for the code that serves it.
    pub settings: Value,
}

/// Where what a target holds is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// In memory.
    Memory,
    /// In a file on a disk.
    Disk,
}

impl Medium {
    /// In the words of the file.
    pub const fn name(self) -> &'static str {
        match self {
            Medium::Memory => "memory",
            Medium::Disk => "disk",
        }
    }
}

/// How initiators and clients get to a target; the address is any of its host's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Access {
    /// A LUN of an iSCSI target.
    Iscsi {
        /// TCP port of its portals.
        port: u16,
        /// The target's iSCSI name.
        target: String,
        /// The LUN.
        lun: u32,
    },
    /// A file of an export, by NFS 3 over TCP.
    Nfs {
        /// Port of the MOUNT service.
        mount_port: u16,
        /// Port of NFS.
        port: u16,
        /// What is mounted.
        export: String,
        /// The file in it, which is there and has the target's size.
        file: String,
    },
}

impl Access {
    /// TCP port of the service that carries the data.
    pub fn port(&self) -> u16 {
        match self {
            Access::Iscsi { port, .. } | Access::Nfs { port, .. } => *port,
        }
    }
}
