//! Storage that hosts serve.

use nicteam_experiment::{Access, Iscsi, Medium, Overrides, parse, show};

const TARGETS: &str = r#"
title = "Targets"
hosts = { a = {}, b = {} }
links = [{ between = ["a", "b"] }]
[targets.disk]
kind = "iscsi"
on = "b"
size = "512mib"
[targets.slow]
kind = "iscsi"
on = "b"
medium = "disk"
first_burst = 65536
[targets.files]
kind = "nfs"
on = "b"
[workloads.w]
kind = "tcp"
from = "a"
to = "b"
[[runs]]
name = "as-it-is"
workloads = "w"
[[runs]]
name = "tuned"
workloads = "w"
targets.disk = { max_recv_data = "256kib", initial_r2t = false }
"#;

#[test]
fn targets_have_ports_of_their_own_and_runs_may_change_them() {
    let experiment = parse("targets", "targets.toml", TARGETS, &Overrides::default()).unwrap();
    let targets = |run: usize| &experiment.runs[run].topology.targets;
    let told: Vec<_> =
        targets(0).iter().map(|of| (of.name.as_str(), of.kind, of.size_bytes, of.access.port())).collect();
    assert_eq!(
        told,
        [("disk", "iscsi", 1 << 29, 3260), ("slow", "iscsi", 1 << 30, 3261), ("files", "nfs", 1 << 30, 2049)]
    );
    let Access::Iscsi { target, lun, .. } = &targets(0)[0].access else { panic!("{:?}", targets(0)[0]) };
    assert_eq!((target.as_str(), *lun), ("iqn.2026-11.test.nicteam:disk", 1));
    let settings =
        |run: usize, place: usize| -> Iscsi { serde_json::from_value(targets(run)[place].settings.clone()).unwrap() };
    assert_eq!((settings(0, 0).max_recv_data_bytes, settings(0, 0).initial_r2t), (8192, true));
    assert_eq!((settings(1, 0).max_recv_data_bytes, settings(1, 0).initial_r2t), (262_144, false));
    assert_eq!((targets(1)[0].medium, targets(1)[1].medium), (Medium::Memory, Medium::Disk));
    assert_eq!(targets(0)[1], targets(1)[1]);
    let shown = show(&experiment);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("targets disk: iscsi on b, 512mib in memory, MaxRecvDataSegmentLength 8kib"), "{shown}");
    assert!(shown.contains("files: nfs on b, 1gib in memory, NFS 3"), "{shown}");
    assert!(shown.contains("changed disk: iscsi on b, 512mib in memory, MaxRecvDataSegmentLength 256kib"), "{shown}");
}
