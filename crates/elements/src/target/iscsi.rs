//! `iscsi`: a LUN of Linux's SCSI target, tgt.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::access::{Access, Medium};
use super::kind::{Kind, Said, Service};
use crate::keys::{self, Key, Need};
use crate::units::show_bytes;
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[
        Key {
            name: "medium",
            kind: keys::Kind::Choice(&["memory", "disk"]),
            need: Need::Default("memory"),
            doc: "`iscsi`: where its blocks are. `memory`: as in a RAM disk. `disk`: in a file without a name in \
                `/var/tmp`, or in the folder in `TMPDIR`.",
        },
        Key {
            name: "max_recv_data",
            kind: keys::Kind::Bytes(SEGMENT_BYTES),
            need: Need::Default("8kib"),
            doc: "`iscsi`: MaxRecvDataSegmentLength of the target. It is the most data in one PDU to the target. The \
                default is tgt's, and is small.",
        },
        Key {
            name: "first_burst",
            kind: keys::Kind::Bytes(SEGMENT_BYTES),
            need: Need::Default("64kib"),
            doc: "`iscsi`: FirstBurstLength. It is the most unsolicited data of a write, at most `max_burst`.",
        },
        Key {
            name: "max_burst",
            kind: keys::Kind::Bytes(SEGMENT_BYTES),
            need: Need::Default("256kib"),
            doc: "`iscsi`: MaxBurstLength. It is the most data that one R2T asks for, or that one sequence of a read \
                contains.",
        },
        Key {
            name: "immediate_data",
            kind: keys::Kind::Flag,
            need: Need::Default("true"),
            doc: "`iscsi`: ImmediateData: whether the PDU of a write command may contain data.",
        },
        Key {
            name: "initial_r2t",
            kind: keys::Kind::Flag,
            need: Need::Default("true"),
            doc: "`iscsi`: InitialR2T: whether the target has to ask (R2T) for all data that is not immediate.",
        },
    ],
    resolve,
};

const NAME: &str = "iscsi";
/// Bytes of a data segment and of bursts (RFC 7143, sections 13.12 to 13.14).
const SEGMENT_BYTES: std::ops::RangeInclusive<u64> = 512..=(1 << 24) - 1;
/// Registered for iSCSI; each target of a host has a server, and so a port, of its own from here up.
const PORT: u16 = 3260;
/// LUN 0 is tgt's controller.
const LUN: u32 = 1;

/// Settings of an iSCSI target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iscsi {
    /// TCP port.
    pub port: u16,
    /// Its iSCSI name.
    pub target: String,
    /// Number of the one logical unit.
    pub lun: u32,
    /// MaxRecvDataSegmentLength, bytes.
    pub max_recv_data_bytes: u64,
    /// FirstBurstLength, bytes.
    pub first_burst_bytes: u64,
    /// MaxBurstLength, bytes.
    pub max_burst_bytes: u64,
    /// ImmediateData.
    pub immediate_data: bool,
    /// InitialR2T.
    pub initial_r2t: bool,
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Service> {
    let bytes = |key: &str, default: u64| said.record.get::<u64>(key).map_or(default, |at| at.value);
    let flag = |key: &str| said.record.get::<bool>(key).is_none_or(|at| at.value);
    let on_disk = said.record.get::<&str>("medium").is_some_and(|at| at.value == "disk");
    let settings = Iscsi {
        port: PORT + said.beside.iter().filter(|target| target.kind == NAME).count() as u16,
        target: format!("iqn.2026-11.test.nicteam:{}", said.name.value),
        lun: LUN,
        max_recv_data_bytes: bytes("max_recv_data", 8 << 10),
        first_burst_bytes: bytes("first_burst", 64 << 10),
        max_burst_bytes: bytes("max_burst", 256 << 10),
        immediate_data: flag("immediate_data"),
        initial_r2t: flag("initial_r2t"),
    };
    if settings.first_burst_bytes > settings.max_burst_bytes {
        let key = if said.record.has("first_burst") { "first_burst" } else { "max_burst" };
        let span = said.record.get::<u64>(key).map_or_else(|| said.name.span.clone(), |at| at.span);
        let (first, most) = (show_bytes(settings.first_burst_bytes), show_bytes(settings.max_burst_bytes));
        let message =
            format!("target `{}` has a `first_burst` of {first}, and a `max_burst` of {most}", said.name.value);
        said.problems.push(Problem::at(&span, message).hint("the first burst is at most as long as any (RFC 7143)"));
        return None;
    }
    let Iscsi { port, target, lun, .. } = settings.clone();
    let medium = if on_disk { Medium::Disk } else { Medium::Memory };
    Some(Service {
        access: Access::Iscsi { port, target, lun },
        medium,
        words: words(&settings),
        settings: json!(settings),
    })
}

fn words(settings: &Iscsi) -> String {
    let on = |on: bool| if on { "Yes" } else { "No" };
    format!(
        "MaxRecvDataSegmentLength {}, FirstBurstLength {}, MaxBurstLength {}, ImmediateData {}, InitialR2T {}",
        show_bytes(settings.max_recv_data_bytes),
        show_bytes(settings.first_burst_bytes),
        show_bytes(settings.max_burst_bytes),
        on(settings.immediate_data),
        on(settings.initial_r2t),
    )
}
