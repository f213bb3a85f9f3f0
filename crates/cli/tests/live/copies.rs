//! Storage in the lab: access specifications and copies over one path and several, against a real target.

use nicteam_record::{Record, Run};
use nicteam_testnet::may_make_networks;

use crate::common::lab::run_with;

/// Two hosts with four links each, and a disk.
const HOSTS: &str = r#"
title = "Copies"
[defaults]
rate = "50mbit"
warmup = "200ms"
interval = "50ms"
[hosts]
a = { address = "10.1.0.1/24" }
b = {}
[switches]
sw = {}
[[links]]
between = [["a", "b"], "sw"]
count = 4
[targets.disk]
kind = "iscsi"
on = "b"
size = "32mib"
max_recv_data = "256kib"
[workloads]
one = { kind = "access-spec", from = "a", to = "b", target = "disk", spec = "max-throughput-100-read" }
all = { kind = "access-spec", from = "a", to = "b", target = "disk", paths = "all", iops = 1, spec = "max-throughput-100-read" }
write = { kind = "copy", from = "a", to = "b", target = "disk", paths = "all", iops = 1, file_size = "16mib" }
read = { kind = "copy", from = "a", to = "b", target = "disk", paths = "all", iops = 1, file_size = "16mib", direction = "receive" }
"#;

/// Whether there is a target and an initiator; says what is missing.
fn can_serve() -> bool {
    let has_target = ["/usr/sbin/tgtd", "/sbin/tgtd"].iter().any(|path| std::path::Path::new(path).exists());
    let is_there = has_target && nicteam_storage::Library::open().is_ok();
    if !is_there {
        eprintln!("SKIPPED: needs tgt and libiscsi");
    }
    is_there && may_make_networks()
}

fn record(name: &str, runs: &str, duration: &str) -> Record {
    let (output, record) = run_with(name, &format!("{HOSTS}{runs}"), &["--duration", duration]);
    record.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Compares rates: nothing computes beside it.
mod quiet {
    use super::*;

    #[test]
    fn four_paths_carry_several_times_what_one_does() {
        if !can_serve() {
            return;
        }
        let runs = "[[runs]]\nname = 'one'\nworkloads = 'one'\n[[runs]]\nname = 'all'\nworkloads = 'all'\n";
        let record = record("paths", runs, "1500ms");
        let [one, all] = &record.runs[..] else { panic!("{}", record.runs.len()) };
        let rates = |run: &Run| run.operations[0].rate_per_s;
        let ratio = rates(all) / rates(one);
        // Four on a quiet machine (`make accept` has the figure); a busy one takes some of it.
        assert!(ratio > 2.0, "{ratio}: {} and {} IO/s", rates(all), rates(one));
        // Above, physics is the bound, not the other run: a machine that stands still for 80 ms lowers that one by 5 %.
        let of_physics = |run: &Run, links: f64| rates(run) * f64::from(32 * 1024 * 8) / (all.limit_bps * links / 4.0);
        assert!(of_physics(one, 1.0) < 1.02 && of_physics(all, 4.0) < 1.02, "{} and {} IO/s", rates(one), rates(all));
        // One of four links at most, and more than two.
        assert!((0.1..0.3).contains(&one.of_limit) && all.of_limit > 0.5, "{} {}", one.of_limit, all.of_limit);
        let operations = &all.operations[0];
        assert_eq!((operations.errors, operations.written_bytes, operations.outstanding), (0, 0, Some(64)));
        assert!(operations.latency.count > 0 && operations.latency == operations.read_latency);
        let [disk] = &all.disks[..] else { panic!("{:?}", all.disks) };
        assert!(disk.esxi.starts_with("policy=iops,iops=1,"), "{}", disk.esxi);
        let ios: Vec<u64> = disk.paths.iter().map(|path| path.ios).collect();
        let (least, most) = (ios.iter().min().unwrap(), ios.iter().max().unwrap());
        assert!(ios.len() == 4 && most - least <= most / 4 + 2, "equal shares: {ios:?}");
        for path in &disk.paths {
            let [number] = path.connections[..] else { panic!("{path:?}") };
            let connection = all.connections.iter().find(|it| it.index == number).unwrap();
            assert_eq!(
                (connection.from.as_str(), connection.to.as_str()),
                ("b", "a"),
                "what is read comes from the target"
            );
            assert_eq!((&connection.src, connection.congestion.as_str()), (&path.portal, "cubic"));
            assert_eq!(path.negotiated.as_ref().map(|agreed| agreed.max_recv_data_bytes), Some(262_144));
        }
    }
}

#[test]
fn copies_end_by_themselves_and_are_verified_while_a_cable_is_pulled() {
    if !can_serve() {
        return;
    }
    let runs = "[[runs]]\nname = 'write'\nworkloads = 'write'\n[[runs.events]]\nkind = 'cable'\nlink = ['a', 'sw']\nnumber = 1\n\
                end = 'a'\nat = '300ms'\n[[runs]]\nname = 'read'\nworkloads = 'read'\n";
    let record = record("copies", runs, "60s");
    assert_eq!((record.runs.len(), &record.unfinished), (2, &None));
    for run in &record.runs {
        let [transfer] = &run.transfers[..] else { panic!("{:?}", run.transfers) };
        assert_eq!((transfer.is_intact(), transfer.bytes, &transfer.error), (Some(true), 16 << 20, &None));
        assert_eq!((transfer.verified_bytes, transfer.by.as_str()), (16 << 20, "a"));
        assert_eq!(transfer.sent_sha256, transfer.received_sha256);
        assert!(run.measured_ms < 30_000.0, "the run ended with the copy: {}", run.measured_ms);
        let took_ms = transfer.took_ms.unwrap();
        assert!((run.measured_ms - took_ms).abs() < took_ms / 5.0, "{} and {took_ms}", run.measured_ms);
    }
    let [write, read] = &record.runs[..] else { panic!() };
    assert_eq!((write.transfers[0].from.as_str(), read.transfers[0].from.as_str()), ("a", "b"));
    assert_eq!(write.disks[0].paths[1].state, "dead");
    assert!(write.events.iter().any(|event| event.text.contains("no carrier")), "{:?}", write.events);
}
