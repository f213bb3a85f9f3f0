//! Storage over the network: targets, and the disks that hosts used of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What served storage in a run: an iSCSI target, or an NFS server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its section of the experiment file.
    pub name: String,
    /// Host that it ran on.
    pub host: String,
    /// `iscsi` or `nfs`.
    pub kind: String,
    /// Program that served: `tgtd`, `ganesha.nfsd`.
    pub program: String,
    /// Its version, as it says it.
    pub version: String,
    /// Where it listened: `10.0.1.2:3260`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub portals: Vec<String>,
    /// Size of what it served, bytes.
    pub size_bytes: u64,
    /// `memory` (a file in a file system in memory) or `disk`.
    pub medium: String,
    /// Its other settings, in the words of RFC 7143 (`MaxRecvDataSegmentLength`) or of nfs-ganesha.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configured: BTreeMap<String, String>,
}

/// A target's disk as a host used it: a logical unit by one session or several, or a file over NFS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    /// Workload that used it.
    pub workload: String,
    /// Number of the task in the run, from 0.
    pub index: u32,
    /// Host that used it: the initiator, the NFS client.
    pub host: String,
    /// Name of the [`Target`].
    pub target: String,
    /// What chose the path of a request, in the words of the experiment file: `round-robin`; empty: there was one path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub policy: String,
    /// Requests by one path before the next one's turn (`iops`), if the policy takes turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ios: Option<u32>,
    /// The policy and its state as ESXi words it: `policy=rr,iops=1000,bytes=10485760,useANO=0; ...`; empty: there
    /// was one path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub esxi: String,
    /// How often a request was sent by another path than the one before, in the measured window.
    #[serde(default)]
    pub switches: u64,
    /// Its paths, in their order.
    pub paths: Vec<StoragePath>,
}

/// A path to a disk: one session over one connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoragePath {
    /// Its place among the disk's paths, from 0.
    pub path: u32,
    /// The host's device with the address of the path; that of a team if there is one.
    pub device: String,
    /// The host's address.
    pub address: String,
    /// The target's address and port.
    pub portal: String,
    /// At the end of the run: `active`, `dead` and so on, in the words of `docs/storage.md`.
    pub state: String,
    /// Requests answered in the measured window.
    pub ios: u64,
    /// Bytes of these that were read.
    pub read_bytes: u64,
    /// Bytes of these that were written.
    pub written_bytes: u64,
    /// Mean time from request to answer in the measured window, microseconds; none: there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<f64>,
    /// How often it was found dead in the run.
    #[serde(default)]
    pub failures: u64,
    /// How often a session was set up in the run, the first time included.
    #[serde(default)]
    pub logins: u64,
    /// Numbers ([`crate::Connection::index`]) of the connections that it was, one a direction of payload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<u32>,
    /// What its session negotiated; none: it never logged in, or negotiates nothing (NFS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negotiated: Option<Negotiated>,
}

/// What initiator and target agreed on when a session was set up (RFC 7143, section 13).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Negotiated {
    /// `FirstBurstLength`: the most that is sent of a write without being asked, bytes.
    pub first_burst_bytes: u32,
    /// `MaxBurstLength`: the most that one `R2T` asks for, bytes.
    pub max_burst_bytes: u32,
    /// The target's `MaxRecvDataSegmentLength`: the most in a PDU towards it, bytes.
    pub max_recv_data_bytes: u32,
    /// The initiator's `MaxRecvDataSegmentLength`: the most in a PDU towards it, bytes.
    pub own_max_recv_data_bytes: u32,
    /// `ImmediateData`: data of a write may come in the same PDU as the command.
    pub immediate_data: bool,
    /// `InitialR2T`: the target must ask (`R2T`) before data of a write is sent in PDUs of their own.
    pub initial_r2t: bool,
    /// `HeaderDigest`: `None` or `CRC32C`.
    pub header_digest: String,
    /// `DataDigest`: `None` or `CRC32C`.
    pub data_digest: String,
}

/// The longest time in which no request was answered though some were outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// When it began, milliseconds since the measured window began.
    pub from_ms: f64,
    /// How long it took, milliseconds.
    pub took_ms: f64,
}
