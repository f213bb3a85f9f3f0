//! `access-spec`: requests to a target's disk as IOmeter makes them, in a closed loop.

use std::sync::Arc;
use std::time::Duration;

use nicteam_impair::Probability;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kind::{Kind, Said};
use super::storage::{self, Defaults, Storage};
use crate::keys::{self, Key, Need};
use crate::traffic::{DiskUse, Task};
use crate::units::{show_bytes, show_duration, show_percent};
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: KEYS,
    also: &storage::ALSO,
    takes_every_path: storage::takes_every_path,
    keeps_to_a_processor: false,
    stays_in_segment: false,
    resolve,
};

const NAME: &str = "access-spec";
const DEFAULT_BLOCK_BYTES: u64 = 32 << 10;
/// IOmeter's in the published test.
const DEFAULT_OUTSTANDING: u32 = 64;

const KEYS: &[Key] = &[
    Key {
        name: "spec",
        kind: keys::Kind::Choice(&SPEC_NAMES),
        need: Need::Otherwise("none: the other keys"),
        doc: "`access-spec`: name of an IOmeter access specification. Other keys beside it change it. \
                `max-throughput-100-read`: 32 KiB, all read, sequential. `real-life-60-random-65-read`: 8 KiB, 65 % \
                read, 60 % random. `max-throughput-50-read`: 32 KiB, 50 % read, sequential. `random-8k-70-read`: 8 \
                KiB, 70 % read, all random.",
    },
    Key {
        name: "read",
        kind: keys::Kind::Percent,
        need: Need::Otherwise("of `spec`, else 100%"),
        doc: "`access-spec`: part of the requests that read. The others write.",
    },
    Key {
        name: "random",
        kind: keys::Kind::Percent,
        need: Need::Otherwise("of `spec`, else 0%"),
        doc: "`access-spec`: part of the requests with a random position. Each of the others follows the previous \
                one.",
    },
    Key {
        name: "align",
        kind: keys::Kind::Bytes(512..=16 << 20),
        need: Need::Otherwise("`block`"),
        doc: "`access-spec`: random positions are multiples of this. It is a multiple of 512 bytes.",
    },
    Key {
        name: "hit",
        kind: keys::Kind::Percent,
        need: Need::Otherwise("no model: the target's file answers at once"),
        doc: "`access-spec`: part of the requests that a modelled cache answers at once. The model stands in front \
                of the target's file and has disks behind the cache. The disks answer the other requests after \
                `disk_latency`, at most `disk_iops` in a second.",
    },
    Key {
        name: "disk_latency",
        kind: keys::Kind::Time(Duration::ZERO..=Duration::from_secs(10)),
        need: Need::Default("0s"),
        doc: "`access-spec`: time that the model's disks take for a request. It needs `hit`.",
    },
    Key {
        name: "disk_iops",
        kind: keys::Kind::Integer(1..=10_000_000),
        need: Need::Otherwise("no limit"),
        doc: "`access-spec`: requests that the model's disks do in a second. It needs `hit`.",
    },
];

/// An access specification of IOmeter.
struct Spec {
    name: &'static str,
    block_bytes: u64,
    read: Probability,
    random: Probability,
}

/// Those of the published test (the forum thread that it cites).
const SPECS: [Spec; 4] = [
    Spec { name: "max-throughput-100-read", block_bytes: 32 << 10, read: percent(100), random: percent(0) },
    Spec { name: "real-life-60-random-65-read", block_bytes: 8 << 10, read: percent(65), random: percent(60) },
    Spec { name: "max-throughput-50-read", block_bytes: 32 << 10, read: percent(50), random: percent(0) },
    Spec { name: "random-8k-70-read", block_bytes: 8 << 10, read: percent(70), random: percent(100) },
];

const SPEC_NAMES: [&str; SPECS.len()] = [SPECS[0].name, SPECS[1].name, SPECS[2].name, SPECS[3].name];

const fn percent(percent: u32) -> Probability {
    match Probability::percent(percent) {
        Some(probability) => probability,
        None => Probability::ALWAYS,
    }
}

/// Requests to a target's disk in a closed loop: each that is answered is followed by the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessSpec {
    /// The disk, and the requests.
    pub storage: Storage,
    /// IOmeter's specification that it is; empty: a free one.
    pub spec: String,
    /// Part of the requests that read.
    pub read: Probability,
    /// Part of the requests that go to a random place.
    pub random: Probability,
    /// Of what random places are multiples, bytes.
    pub align_bytes: u64,
    /// A cache and disks in front of the target's file; none: it answers at once.
    pub disks: Option<Disks>,
}

/// A model of a cache and disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disks {
    /// Part of the requests that the cache answers at once.
    pub hit: Probability,
    /// What the disks take for any other, microseconds.
    pub latency_us: u64,
    /// Requests that the disks do a second; none: as many as come.
    pub iops: Option<u64>,
}

impl AccessSpec {
    /// What the requests are, in IOmeter's terms: `32 KiB, 100% read, sequential, 64 outstanding`.
    pub fn specification(&self) -> String {
        let Storage { block_bytes, outstanding, .. } = &self.storage;
        let random = match self.random {
            Probability::NEVER => "sequential".to_owned(),
            random => format!("{} random", show_percent(random)),
        };
        format!("{}, {} read, {random}, {outstanding} outstanding", show_bytes(*block_bytes), show_percent(self.read))
    }

    /// The most requests a second that the modelled disks answer, and why.
    fn bound(&self) -> Option<(f64, String)> {
        let disks = self.disks?;
        let misses = 1.0 - disks.hit.as_f64();
        if misses <= 0.0 {
            return None;
        }
        let by_iops = disks.iops.map(|iops| (iops as f64 / misses, format!("the modelled disks' {iops} IO/s")));
        let latency_s = disks.latency_us as f64 / 1e6;
        let outstanding = self.storage.outstanding;
        let by_latency = (latency_s > 0.0).then(|| {
            let time = show_duration(Duration::from_micros(disks.latency_us));
            let reason = format!("{outstanding} outstanding requests at the modelled disks' {time} each");
            (f64::from(outstanding) / (misses * latency_s), reason)
        });
        by_iops.into_iter().chain(by_latency).min_by(|(one, _), (other, _)| one.total_cmp(other))
    }
}

impl Task for AccessSpec {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn disk_use(&self) -> Option<DiskUse<'_>> {
        Some(self.storage.disk_use())
    }

    fn words(&self) -> (&'static str, String) {
        let spec = if self.spec.is_empty() { String::new() } else { format!("{}: ", self.spec) };
        let disks = self.disks.map_or_else(String::new, |disks| {
            let latency = show_duration(Duration::from_micros(disks.latency_us));
            let iops = disks.iops.map_or_else(String::new, |iops| format!(" and do {iops} a second"));
            format!("; a modelled cache has {}, disks take {latency}{iops}", show_percent(disks.hit))
        });
        let Storage { target, file_bytes, .. } = &self.storage;
        let file = show_bytes(*file_bytes);
        let how =
            format!("{spec}{}, in {file} of target {target}, {}{disks}", self.specification(), self.storage.words());
        (NAME, how)
    }

    fn each(&self, _connections: u32, _ipv6: bool) -> Value {
        json!(self)
    }

    fn asked_bps(&self, _ipv6: bool) -> Option<f64> {
        self.bound().map(|(ios_per_s, _)| ios_per_s * self.storage.block_bytes as f64 * 8.0)
    }

    fn asked_reason(&self) -> String {
        self.bound().map_or_else(String::new, |(_, reason)| reason)
    }

    fn congestion(&self) -> Option<&str> {
        Some(&self.storage.congestion)
    }

    fn finds_connections(&self) -> bool {
        true
    }

    /// What is written goes to the target, what is read comes back.
    fn shares(&self) -> Option<[f64; 2]> {
        let read = self.read.as_f64();
        Some([1.0 - read, read])
    }

    fn target(&self) -> Option<&str> {
        Some(&self.storage.target)
    }

    fn takes_every_path(&self) -> bool {
        self.storage.every_path
    }
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Arc<dyn Task>> {
    if let Some(direction) = said.record.get::<&str>("direction") {
        let message = format!("workload `{}` has `direction`, which kind `access-spec` does not have", said.name.value);
        let hint = "remove it: `read` sets the part of the requests that read";
        said.problems.push(Problem::at(&direction.span, message).hint(hint));
    }
    let name = said.record.get::<&str>("spec").map(|at| at.value.to_owned());
    let spec = name.as_ref().and_then(|name| SPECS.iter().find(|spec| spec.name == name));
    let block_bytes = spec.map_or(DEFAULT_BLOCK_BYTES, |spec| spec.block_bytes);
    let part = |key, otherwise| said.record.get::<Probability>(key).map_or(otherwise, |at| at.value);
    let read = part("read", spec.map_or(Probability::ALWAYS, |spec| spec.read));
    let random = part("random", spec.map_or(Probability::NEVER, |spec| spec.random));
    let disks = disks(said);
    let align = said.record.get::<u64>("align");
    storage::check_sectors(said, "align", align.as_ref());
    let storage = storage::resolve(said, &Defaults { block_bytes, outstanding: DEFAULT_OUTSTANDING, parts: 1 })?;
    let align_bytes = align.map_or(storage.block_bytes, |at| at.value);
    Some(Arc::new(AccessSpec { storage, spec: name.unwrap_or_default(), read, random, align_bytes, disks }))
}

/// The model, if there is one; what belongs to none goes to the problems.
fn disks(said: &mut Said<'_, '_>) -> Option<Disks> {
    let latency = said.record.get::<Duration>("disk_latency");
    let iops = said.record.get::<u64>("disk_iops");
    let Some(hit) = said.record.get::<Probability>("hit") else {
        let spans = [latency.map(|at| at.span), iops.map(|at| at.span)];
        if let Some(span) = spans.into_iter().flatten().next().filter(|_| !said.record.has("hit")) {
            let message = format!("workload `{}` has modelled disks, and no `hit`", said.name.value);
            said.problems.push(Problem::at(&span, message).hint("add `hit = \"0%\"`: the disks answer every request"));
        }
        return None;
    };
    let latency_us = latency.map_or(0, |at| at.value.as_micros() as u64);
    Some(Disks { hit: hit.value, latency_us, iops: iops.map(|at| at.value) })
}
