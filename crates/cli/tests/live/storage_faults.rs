//! Verified copies to a target's disk, while its network and its server are torn at.

use nicteam_record::{EventKind, Run};
use nicteam_testnet::may_make_networks;

use crate::common::lab::{has, run_with};

/// Two hosts with a path by each of three switches, and a disk that one serves.
const NETWORK: &str = r#"
title = "Faults under a copy"
defaults = { rate = "100mbit", warmup = "100ms", interval = "50ms", duration = "20s" }
hosts = { a = {}, b = {} }
switches = { s0 = {}, s1 = {}, s2 = {} }
links = [{ between = [["a", "b"], "s0"] }, { between = [["a", "b"], "s1"] }, { between = [["a", "b"], "s2"] }]
targets.disk = { kind = "iscsi", on = "b", size = "64mib", max_recv_data = "256kib" }
[workloads.write]
kind = "copy"
from = "a"
to = "b"
target = "disk"
paths = "all"
policy = "best"
no_path = "10s"
file_size = "48mib"
"#;

/// One copy for each of these, in the order in which they stand.
fn copies(name: &str, faults: &[(&str, &str)]) -> Option<Vec<Run>> {
    if !may_make_networks() || !has(&["tgtd", "tgtadm"]) {
        return None;
    }
    if let Err(absent) = nicteam_storage::Library::open() {
        eprintln!("SKIPPED: {absent}");
        return None;
    }
    let runs = faults
        .iter()
        .map(|(name, events)| format!("[[runs]]\nname = \"{name}\"\nworkloads = \"write\"\nevents = [{events}]\n"));
    let file = format!("{NETWORK}{}", runs.collect::<String>());
    let (output, record) = run_with(name, &file, &[]);
    Some(record.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr))).runs)
}

/// Looks whether everything arrived as it was sent, whatever happened.
#[track_caller]
fn is_whole(run: &Run, faults: usize) {
    let [copy] = &run.transfers[..] else { panic!("{}: {:?}", run.name, run.transfers) };
    assert_eq!((&copy.error, copy.wrong_at, copy.bytes), (&None, None, 48 << 20), "{}: {copy:?}", run.name);
    assert!(copy.verified_bytes >= copy.bytes && copy.is_intact() != Some(false), "{}: {copy:?}", run.name);
    let happened = run.events.iter().filter(|event| event.kind == EventKind::Fault && event.t_ms >= 0.0).count();
    assert_eq!(happened, faults, "{}: {:?}", run.name, run.events);
}

#[test]
fn nothing_is_lost_where_a_path_is_cut_or_falls_silent() {
    // A silent far end is found 350 ms later, on a busy machine later; there the first answers come late, too. The copy takes
    // 1.3 s or more.
    let cut = "at = \"400ms\", for = \"600ms\", link =";
    let faults = [
        ("near", format!("{{ kind = \"cable\", {cut} [\"a\", \"s1\"] }}")),
        ("far", format!("{{ kind = \"cable\", {cut} [\"b\", \"s1\"] }}")),
        ("silent", format!("{{ kind = \"silence\", {cut} [\"b\", \"s1\"] }}")),
    ];
    let faults: Vec<(&str, &str)> = faults.iter().map(|(name, event)| (*name, event.as_str())).collect();
    let Some(runs) = copies("storage-path", &faults) else { return };
    for run in &runs {
        is_whole(run, 2);
        let [disk] = &run.disks[..] else { panic!("{:?}", run.disks) };
        // The other two carried on, and what was on the way by the first was sent again.
        let failures: Vec<u64> = disk.paths.iter().map(|path| path.failures).collect();
        assert!(failures[1] > 0 && failures[0] == 0 && failures[2] == 0, "{}: {failures:?}", run.name);
        let written: Vec<u64> = disk.paths.iter().map(|path| path.written_bytes).collect();
        assert!(written[0].min(written[2]) > 1 << 20, "{}: {written:?}", run.name);
        // How much of the copy is left when its cable is back, the machine decides.
        assert!(written[1] > 0, "{}: {written:?}", run.name);
    }
}

#[test]
fn nothing_is_lost_where_every_path_is_cut_or_the_server_is_killed() {
    let cut =
        |switch: &str| format!("{{ at = \"200ms\", for = \"700ms\", kind = \"cable\", link = [\"b\", \"{switch}\"] }}");
    let cut = ["s0", "s1", "s2"].map(cut).join(", ");
    let killed = "{ at = \"200ms\", for = \"700ms\", kind = \"target\", target = \"disk\" }";
    let Some(runs) = copies("storage-all", &[("cut", &cut), ("killed", killed)]) else { return };
    let [cut, killed] = &runs[..] else { panic!("{runs:?}") };
    is_whole(cut, 6);
    is_whole(killed, 2);
    for run in [cut, killed] {
        let stall = run.transfers[0].stall.as_ref().unwrap();
        assert!(stall.took_ms > 600.0, "{}: nobody noticed: {stall:?}", run.name);
    }
}
