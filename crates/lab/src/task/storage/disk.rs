//! A disk by iSCSI: how it is opened, and what is recorded of it.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use nicteam_experiment::{Disks, Storage};
use nicteam_multipath::{Config, NoPath, PathState, Policy};
use nicteam_record::{self as record, EventKind, StoragePath};
use nicteam_storage::{self as storage, Disk, DiskModel, DiskSpec, Library, Path, Volume, WriteBack};

use super::ends::ends;
use super::medium::Medium;
use crate::clock;
use crate::error::Failure;
use crate::protocol::{ConnectionSpec, Notice, PathSpec};

/// Policy whose state names how many requests a turn has.
const ROUND_ROBIN: &str = "round-robin";

/// A disk that is open.
pub(super) struct IscsiDisk {
    disk: Disk,
    /// Its paths as the lab has them.
    paths: Vec<PathSpec>,
    opened_ns: u64,
}

impl IscsiDisk {
    /// Logs in by every path.
    pub(super) fn open(
        storage: &Storage,
        spec: &ConnectionSpec,
        (port, target, lun): (u16, &str, u32),
    ) -> Result<IscsiDisk, Failure> {
        let library = Library::open()?;
        let paths = paths(spec);
        let leads = |path: &PathSpec| Path {
            portal: SocketAddr::new(path.server, port),
            bind_device: Some(path.device.clone()).filter(|device| !device.is_empty()),
        };
        let disks =
            spec.each.get("disks").and_then(|disks| serde_json::from_value::<Option<Disks>>(disks.clone()).ok());
        let disk_spec = DiskSpec {
            // Sessions of other tasks have other initiators, so that none reinstates another's.
            initiator: format!("iqn.2026-11.test.nicteam:initiator-{}", spec.index),
            multipath: config(storage)?,
            longest_command: u32::try_from(storage.block_bytes)?.max(1 << 20),
            cache: storage.cache_bytes.map(|bytes| WriteBack { bytes }),
            model: disks.flatten().map(|disks| model(disks, storage.seed.wrapping_add(u64::from(spec.index)))),
            ..DiskSpec::new(paths.iter().map(leads).collect(), target, lun)
        };
        let opened_ns = clock::monotonic_ns();
        Ok(IscsiDisk { disk: Disk::open(&library, &disk_spec)?, paths, opened_ns })
    }
}

/// The paths of a task; with one, that of the hosts' addresses.
fn paths(spec: &ConnectionSpec) -> Vec<PathSpec> {
    if !spec.paths.is_empty() {
        return spec.paths.clone();
    }
    // A route leads there; who carries the address may be a team or a bridge.
    vec![PathSpec { device: String::new(), client: spec.client.ip(), server: spec.server.ip() }]
}

/// How paths are chosen, watched and given up.
fn config(storage: &Storage) -> Result<Config, Failure> {
    let policy = match storage.policy.parse::<Policy>()? {
        // ESXi shows its default otherwise than the same number that was set.
        Policy::RoundRobin { .. } if storage.iops == nicteam_multipath::policy::DEFAULT_IOPS => {
            Policy::RoundRobin { ios: None }
        }
        Policy::RoundRobin { .. } => Policy::RoundRobin { ios: Some(storage.iops) },
        other => other,
    };
    let queue = |ms| NoPath::Queue(Duration::from_millis(ms));
    Ok(Config { policy, no_path: storage.no_path_ms.map_or(NoPath::Fail, queue), ..Config::default() })
}

fn model(disks: Disks, seed: u64) -> DiskModel {
    DiskModel {
        hit: disks.hit.as_f64(),
        latency: Duration::from_micros(disks.latency_us),
        iops: disks.iops.map(|iops| iops as f64),
        seed,
    }
}

impl Medium for IscsiDisk {
    fn volume(&mut self) -> &mut dyn Volume {
        &mut self.disk
    }

    fn sockets(&self) -> Vec<(SocketAddr, SocketAddr)> {
        self.disk.sockets().filter_map(|(_, socket)| ends(socket)).collect()
    }

    fn counters(&self) -> Counters {
        let status = self.disk.status();
        Counters { model: status.model.unwrap_or_default(), status: Some(status), paths: self.paths.clone() }
    }

    fn notices(&mut self) -> Vec<Notice> {
        let mut notices = Vec::new();
        while let Some((at, notice)) = self.disk.next_notice() {
            let at_ns = self.opened_ns + at.as_nanos() as u64;
            let (member, text) = words(&notice, &self.paths);
            notices.push(Notice { at_ns, kind: EventKind::Path, team: None, member, text });
        }
        notices
    }

    fn close(self: Box<Self>) -> Result<(), Failure> {
        Ok(self.disk.close()?)
    }
}

/// What happened, and the device that it happened to.
fn words(notice: &nicteam_multipath::Notice, paths: &[PathSpec]) -> (Option<String>, String) {
    use nicteam_multipath::Notice;
    let name = |path: usize| match paths.get(path) {
        Some(of) => format!("path {path} ({} to {})", of.client, of.server),
        None => format!("path {path}"),
    };
    let device = |path: usize| paths.get(path).map(|of| of.device.clone()).filter(|device| !device.is_empty());
    match notice {
        Notice::Path { path, to, reason, .. } => {
            let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            (device(path.0), format!("{} is {}{why}", name(path.0), state(*to)))
        }
        Notice::UnitAttention { path, asc, ascq } => {
            (device(path.0), format!("{}: UNIT ATTENTION {asc:02x}h/{ascq:02x}h was taken in", name(path.0)))
        }
        Notice::Fenced { path, via, writes, took } => {
            let after = took.as_secs_f64() * 1e3;
            let text =
                format!("{} is fenced by path {} after {after:.1} ms, with {writes} writes", name(path.0), via.0);
            (device(path.0), text)
        }
        Notice::Reachable(true) => (None, "the disk can be reached again".to_owned()),
        Notice::Reachable(false) => (None, "no path leads to the disk".to_owned()),
    }
}

/// A state in the words of the record.
fn state(state: PathState) -> &'static str {
    match state {
        PathState::LoggingIn => "logging in",
        PathState::Up => "active",
        PathState::Suspect => "suspect",
        PathState::Fencing => "fencing",
        PathState::Dead => "dead",
    }
}

/// What a disk counted so far.
#[derive(Clone, Debug, Default)]
pub(in crate::task) struct Counters {
    status: Option<storage::Status>,
    paths: Vec<PathSpec>,
    /// Requests that the model of disks had, and how many of them its cache answered.
    pub(in crate::task) model: (u64, u64),
}

/// How a task used its disk in a window.
pub(in crate::task) struct Use<'a> {
    pub(in crate::task) index: u32,
    pub(in crate::task) storage: &'a Storage,
    /// At the window's beginning and at its end.
    pub(in crate::task) counters: [&'a Counters; 2],
}

impl Use<'_> {
    /// What there is to record of it; none of a disk that counts nothing.
    pub(in crate::task) fn disk(&self) -> Option<record::Disk> {
        let [before, after] = self.counters.map(|counters| counters.status.as_ref());
        let after = after?;
        let several = after.paths.len() > 1;
        let takes_turns = several && self.storage.policy == ROUND_ROBIN;
        let config = after.multipath.device_config.trim_matches(['{', '}']);
        let paths = (0..after.paths.len()).map(|path| self.path(path, before, after)).collect();
        Some(record::Disk {
            index: self.index,
            target: self.storage.target.clone(),
            policy: if several { self.storage.policy.clone() } else { String::new() },
            turn_ios: takes_turns.then_some(self.storage.iops),
            esxi: if several { config.to_owned() } else { String::new() },
            switches: after.multipath.switches - before.map_or(0, |before| before.multipath.switches),
            paths,
            ..record::Disk::default()
        })
    }

    fn path(&self, path: usize, before: Option<&storage::Status>, after: &storage::Status) -> StoragePath {
        let ([then, now], session) = (
            [before, Some(after)].map(|status| status.and_then(|status| status.multipath.paths.get(path))),
            &after.paths[path],
        );
        let grown = |field: fn(&nicteam_multipath::PathStatus) -> u64| {
            now.map_or(0, field).saturating_sub(then.map_or(0, field))
        };
        let own = self.counters[1].paths.get(path);
        let ios = grown(|path| path.ios);
        let answer_us = grown(|path| path.answer_time.as_micros() as u64);
        StoragePath {
            path: path as u32,
            device: session.device.clone().or_else(|| own.map(|own| own.device.clone())).unwrap_or_default(),
            address: own.map_or_else(String::new, |own: &PathSpec| IpAddr::to_string(&own.client)),
            portal: session.portal.to_string(),
            state: now.map_or("", |path| state(path.state)).to_owned(),
            ios,
            read_bytes: grown(|path| path.read_bytes),
            written_bytes: grown(|path| path.written_bytes),
            latency_us: (ios > 0).then(|| answer_us as f64 / ios as f64),
            failures: now.map_or(0, |path| u64::from(path.deaths)),
            logins: u64::from(session.logins),
            connections: Vec::new(),
            negotiated: session.negotiated.map(negotiated),
        }
    }
}

/// What a session negotiated, in the words of the record.
fn negotiated(of: storage::Negotiated) -> record::Negotiated {
    let digest = |on: bool| if on { "CRC32C" } else { "None" }.to_owned();
    record::Negotiated {
        first_burst_bytes: of.first_burst,
        max_burst_bytes: of.max_burst,
        max_recv_data_bytes: of.max_recv_data,
        own_max_recv_data_bytes: of.own_max_recv_data,
        immediate_data: of.immediate_data,
        initial_r2t: of.initial_r2t,
        header_digest: digest(of.header_digest),
        data_digest: digest(of.data_digest),
    }
}
