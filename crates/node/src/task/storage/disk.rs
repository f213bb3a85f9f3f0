//! A disk by iSCSI: how it is opened, and what is recorded of it.

use std::net::SocketAddr;
use std::time::Duration;

use nicteam_experiment::{Disks, Storage};
use nicteam_multipath::{Config, NoPath, PathState, Policy};
use nicteam_record::EventKind;
use nicteam_storage::{Cached, Disk, DiskModel, DiskSpec, Library, Path, Volume, WriteBack};

use super::counters::{Counters, state};
use super::ends::ends;
use super::medium::Medium;
use crate::clock;
use crate::error::Failure;
use crate::protocol::{ConnectionSpec, Notice, PathSpec};

/// A disk that is open.
pub(super) struct IscsiDisk {
    disk: Cached<Disk>,
    /// Its paths as the lab has them.
    paths: Vec<PathSpec>,
    opened_ns: u64,
    /// What was told of each path last.
    told: Vec<Option<PathState>>,
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
            model: disks.flatten().map(|disks| model(disks, storage.seed.wrapping_add(u64::from(spec.index)))),
            ..DiskSpec::new(paths.iter().map(leads).collect(), target, lun)
        };
        let opened_ns = clock::monotonic_ns();
        let told = vec![None; paths.len()];
        let disk = Disk::open(&library, &disk_spec)?;
        let cache = storage.cache_bytes.map(|bytes| WriteBack { bytes });
        Ok(IscsiDisk { disk: Cached::new(disk, cache), paths, opened_ns, told })
    }
}

impl IscsiDisk {
    /// Whether something is worth telling: attempts to log in are not, nor is that a path is still dead.
    fn is_news(&mut self, notice: &nicteam_multipath::Notice) -> bool {
        let nicteam_multipath::Notice::Path { path, to, .. } = notice else { return true };
        if matches!(to, PathState::LoggingIn | PathState::Fencing) {
            return false;
        }
        self.told.get_mut(path.0).is_none_or(|told| told.replace(*to) != Some(*to))
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
        self.disk.volume().sockets().filter_map(|(_, socket)| ends(socket)).collect()
    }

    fn counters(&self) -> Counters {
        let status = self.disk.volume().status();
        Counters { model: status.model.unwrap_or_default(), status: Some(status), paths: self.paths.clone() }
    }

    fn notices(&mut self) -> Vec<Notice> {
        let mut notices = Vec::new();
        while let Some((at, notice)) = self.disk.volume_mut().next_notice() {
            if !self.is_news(&notice) {
                continue;
            }
            let at_ns = self.opened_ns + at.as_nanos() as u64;
            let (member, text) = words(&notice, &self.paths);
            notices.push(Notice { at_ns, kind: EventKind::Path, team: None, member, text });
        }
        notices
    }

    fn close(mut self: Box<Self>) -> Result<(), Failure> {
        let written = self.disk.empty();
        self.disk.into_volume().close()?;
        Ok(written?)
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
