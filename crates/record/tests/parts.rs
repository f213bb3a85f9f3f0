//! The parts of a run that not every record has: they are read, written, and may be absent.

use nicteam_record::{
    Disk, Event, EventKind, Finding, Histogram, LinkLoad, LinkLoads, Memory, ModelledDisks, Negotiated, Operations,
    Probes, Record, Run, Side, Stall, StoragePath, Target, Transfer,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A record and its samples, made by a lab before these parts were.
const RECORDED: &str = include_str!("../../../fuzz/corpus/record/two-teams");

fn first_run() -> Run {
    let (record, _) = RECORDED.split_once("\n\n").unwrap();
    serde_json::from_str::<Record>(record).unwrap().runs.swap_remove(0)
}

fn finding() -> Finding {
    Finding {
        cause: "hash".into(),
        side: Side::Receiving,
        node: Some("sw".into()),
        policy: Some("src-dst-mac".into()),
        connections: vec![0],
        lost: 0.75,
        hops: vec![LinkLoads {
            node: "sw".into(),
            peer: "a".into(),
            links: vec![LinkLoad {
                device: "a-0".into(),
                far_device: "eth0".into(),
                place: 0,
                load: 0.0,
                silent: true,
            }],
        }],
        as_narrow: Vec::new(),
        cures: Vec::new(),
        details: serde_json::Map::new(),
    }
}

#[test]
fn older_records_have_none() {
    let run = first_run();
    assert_eq!((run.events.len(), run.findings.len(), run.operations.len()), (0, 0, 0));
    let written = serde_json::to_value(&run).unwrap();
    for name in ["events", "findings", "operations", "transfers", "probes", "targets", "disks", "memory"] {
        assert_eq!(written.get(name), None, "what is not there is not written");
    }
}

#[test]
fn what_is_written_is_read() {
    let mut run = first_run();
    run.findings = vec![Finding { as_narrow: vec![finding()], ..finding() }];
    run.events = vec![Event {
        t_ms: -12.5,
        node: "a".into(),
        kind: EventKind::Team,
        team: Some("team0".into()),
        member: None,
        text: "team0: eth0 went down".into(),
    }];
    let (workload, from, to) = ("w".to_owned(), "a".to_owned(), "b".to_owned());
    let mut latency = Histogram::default();
    latency.add(250);
    run.operations = vec![Operations {
        workload: workload.clone(),
        index: 0,
        from: from.clone(),
        to: to.clone(),
        completed: 1,
        rate_per_s: 0.25,
        errors: 0,
        latency: latency.clone(),
        ..Operations::default()
    }];
    run.probes = vec![Probes {
        workload,
        index: 1,
        from,
        to,
        sent: 2,
        lost: 1,
        longest_silence_ms: 20.0,
        silent_from_ms: Some(5.0),
        round_trip: latency,
        ..Probes::default()
    }];
    let text = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
}

#[test]
fn storage_is_read_as_it_was_written() {
    let mut run = first_run();
    let stall = Some(Stall { from_ms: 1500.0, took_ms: 80.5 });
    run.operations = vec![Operations {
        specification: "32 KiB, 100 % read, sequential, 64 outstanding".into(),
        read_bytes: 32_768,
        steady_from_ms: Some(1000.0),
        disks: Some(ModelledDisks { hit: 0.9, latency_us: 8000, ios_per_s: Some(500.0), misses: 3 }),
        stall,
        ..Operations::default()
    }];
    run.transfers = vec![Transfer { cache: "write-back".into(), program_ms: Some(10.0), stall, ..Transfer::default() }];
    run.targets = vec![Target {
        name: "disk".into(),
        portals: vec!["10.0.1.2:3260".into()],
        configured: [("max_recv_data".to_owned(), "8kib".to_owned())].into(),
        ..Target::default()
    }];
    run.disks = vec![Disk {
        policy: "round-robin".into(),
        turn_ios: Some(1000),
        paths: vec![StoragePath { negotiated: Some(Negotiated::default()), ..StoragePath::default() }],
        ..Disk::default()
    }];
    run.cpu.cores = vec![0.5, 1.0];
    run.memory = Some(Memory { used_bytes: 1 << 30, swapped_bytes: 0 });
    let text = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
}

#[test]
fn operations_and_transfers_of_older_records_are_read() {
    let latency = json!({ "count": 0, "sum_us": 0, "max_us": 0, "buckets": [] });
    let operations = json!({ "workload": "w", "index": 0, "from": "a", "to": "b", "completed": 1, "rate_per_s": 0.5,
        "errors": 0, "latency": latency });
    let operations: Operations = serde_json::from_value(operations).unwrap();
    assert_eq!((operations.completed, operations.read_bytes, operations.stall), (1, 0, None));
    let transfer = json!({ "workload": "w", "index": 0, "from": "a", "to": "b", "bytes": 10 });
    let transfer: Transfer = serde_json::from_value(transfer).unwrap();
    assert_eq!((transfer.bytes, transfer.is_intact(), transfer.wire_bps()), (10, None, None));
}

#[test]
fn kinds_and_sides_of_later_versions_are_read() {
    let event = json!({ "t_ms": 1.0, "node": "a", "kind": "eclipse", "text": "dark" });
    assert_eq!(serde_json::from_value::<Event>(event).unwrap().kind, EventKind::Other);
    let finding = json!({ "cause": "moon", "side": "above", "connections": [], "lost": 0.0, "further": [1] });
    let finding: Finding = serde_json::from_value(finding).unwrap();
    assert_eq!((finding.cause.as_str(), finding.side), ("moon", Side::Unknown));
}

#[test]
fn details_are_their_rules_own() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Moon {
        phase: f64,
    }
    let finding = finding().with_details(&Moon { phase: 0.5 });
    assert_eq!(serde_json::to_value(&finding).unwrap()["details"], json!({ "phase": 0.5 }));
    assert_eq!(finding.details::<Moon>(), Some(Moon { phase: 0.5 }));
    let foreign = Finding { details: [("phase".to_owned(), Value::Null)].into_iter().collect(), ..finding };
    assert_eq!(foreign.details::<Moon>(), None);
}
