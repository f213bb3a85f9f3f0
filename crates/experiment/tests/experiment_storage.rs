//! Tasks over storage: copies and access specifications.

use nicteam_experiment::{AccessSpec, Copy, Experiment, Overrides, Storage, Workload, limit, parse, show};

const FILE: &str = r#"
title = "Storage"
[defaults]
seed = 7
[teams.stripe]
mode = "stripe"
[hosts]
client = { address = "10.1.0.1/24" }
server = {}
[switches]
sw = {}
[[links]]
between = [["client", "server"], "sw"]
count = 4
[targets.disk]
kind = "iscsi"
on = "server"
size = "256mib"
[workloads.read]
kind = "access-spec"
from = "client"
to = "server"
target = "disk"
paths = "all"
iops = 1
spec = "max-throughput-100-read"
[workloads.mixed]
kind = "access-spec"
from = "client"
to = "server"
target = "disk"
spec = "random-8k-70-read"
align = "4kib"
file_size = "64mib"
no_path = "fail"
[workloads.disks]
kind = "access-spec"
from = "client"
to = "server"
target = "disk"
spec = "random-8k-70-read"
hit = "50%"
disk_latency = "8ms"
disk_iops = 120
[workloads.there]
kind = "copy"
from = "client"
to = "server"
target = "disk"
direction = "both"
overwrite = true
cache = "write-back"
[[runs]]
name = "read"
workloads = "read"
[[runs]]
name = "mixed"
workloads = "mixed"
hosts.client = { team = "stripe" }
hosts.server = { team = "stripe" }
[[runs]]
name = "disks"
workloads = "disks"
hosts.client = { team = "stripe" }
hosts.server = { team = "stripe" }
[[runs]]
name = "copy"
workloads = "there"
hosts.client = { team = "stripe" }
hosts.server = { team = "stripe" }
"#;

fn file() -> Experiment {
    parse("storage", "storage.toml", FILE, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn workload<'e>(experiment: &'e Experiment, run: &str) -> &'e Workload {
    &experiment.runs.iter().find(|it| it.name == run).unwrap().workloads[0]
}

fn access(workload: &Workload) -> AccessSpec {
    serde_json::from_value(workload.task.each(1, false)).unwrap()
}

#[test]
fn iometers_specifications_are_known_by_name() {
    let experiment = file();
    let read = access(workload(&experiment, "read"));
    assert_eq!(read.specification(), "32kib, 100% read, sequential, 64 outstanding");
    let Storage { every_path, policy, iops, no_path_ms, file_bytes, seed, .. } = read.storage;
    assert_eq!((every_path, policy.as_str(), iops, no_path_ms), (true, "round-robin", 1, Some(30_000)));
    assert_eq!((file_bytes, seed), (256 << 20, 7));
    let mixed = access(workload(&experiment, "mixed"));
    assert_eq!(mixed.specification(), "8kib, 70% read, 100% random, 64 outstanding");
    assert_eq!((mixed.align_bytes, mixed.storage.file_bytes), (4096, 64 << 20));
    assert_eq!((mixed.storage.no_path_ms, mixed.storage.every_path), (None, false));
    assert!(workload(&experiment, "read").task.takes_every_path());
    assert!(!workload(&experiment, "mixed").task.takes_every_path());
}

#[test]
fn each_copy_has_its_part_of_the_disk() {
    let experiment = file();
    let workload = workload(&experiment, "copy");
    let copy: Copy = serde_json::from_value(workload.task.each(1, false)).unwrap();
    assert_eq!((copy.storage.file_bytes, copy.storage.block_bytes), (128 << 20, 128 << 10));
    assert_eq!((copy.overwrite, copy.storage.cache_bytes), (true, Some(256 << 20)));
    assert!(workload.task.is_finite() && workload.task.finds_connections());
}

#[test]
fn a_run_gives_addresses_to_links_or_to_teams() {
    let experiment = file();
    let hosts = |run: usize| &experiment.runs[run].topology.hosts;
    let told: Vec<_> = hosts(0).iter().map(|host| (host.further.len(), host.device.as_str(), host.mptcp)).collect();
    assert_eq!(told, [(3, "eth0", false), (3, "eth0", false)]);
    assert_eq!(hosts(0)[1].further[2].address.to_string(), "10.1.3.2");
    let told: Vec<_> = hosts(1).iter().map(|host| (host.further.len(), host.device.as_str())).collect();
    assert_eq!(told, [(0, "team0"), (0, "team0")]);
}

#[test]
fn the_limit_of_a_mix_is_that_of_its_larger_part() {
    let experiment = file();
    let limits: Vec<_> = experiment.runs.iter().map(limit).collect();
    // 1448 of 1538 bytes are payload.
    let one_way = 4.0 * 100e6 * 1448.0 / 1538.0;
    assert!((limits[0].bps / one_way - 1.0).abs() < 1e-6, "{:?}", limits[0]);
    assert_eq!(limits[0].reason, "all 4 links of server");
    // An acknowledgement of 90 bytes for two segments of the 30 % that are written.
    let expected = one_way * 1538.0 / (1538.0 + 45.0 * 3.0 / 7.0) / 0.7;
    assert!((limits[1].bps / expected - 1.0).abs() < 1e-6, "{:?}", limits[1]);
    assert_eq!(limits[1].reason, "all 4 links of server in one direction, by which the 70 % goes that is read");
    // 120 a second of those that miss are 240 in all.
    assert!((limits[2].bps - 240.0 * 8192.0 * 8.0).abs() < 1.0, "{:?}", limits[2]);
    assert_eq!(limits[2].reason, "the modelled disks' 120 IO/s");
}

#[test]
fn what_they_do_is_shown() {
    let shown = show(&file());
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "traffic max-throughput-100-read: 32kib, 100% read, sequential, 64 outstanding, in 256mib of target disk, by every path in \
         turn, each for 1 I/O: client <- server",
        "traffic random-8k-70-read: 8kib, 70% read, 100% random, 64 outstanding, in 64mib of target disk, by one path, fails without \
         a path: client <-> server",
        "a modelled cache has 50%, disks take 8ms and do 120 a second: client <-> server",
        "traffic 128mib overwritten in requests of 128kib, 32 outstanding, on target disk, by one path, write-back cache of \
         256mib: client <-> server",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}
