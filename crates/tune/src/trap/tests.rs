//! Each trap, with data as agents and records would report it.

use std::net::IpAddr;

use nicteam_experiment::{Experiment, parse};
use nicteam_lab::protocol::{Device, PathSeen, PathSpec};
use nicteam_record as record;

use super::TRAPS;
use crate::file::tests::TEXT;
use crate::file::{File, NETWORK};
use crate::finding::{Edit, Finding};
use crate::seen::Seen;

/// What is known of a small network; devices are as the file has them.
struct World {
    file: File,
    experiment: Experiment,
    devices: Vec<(String, Vec<Device>)>,
    paths: Vec<PathSeen>,
    measured: Option<record::Run>,
}

impl World {
    fn new(text: &str) -> World {
        let file = File::read(text).unwrap();
        let mut experiment =
            parse("t", "t", &file.text(), &Default::default()).unwrap_or_else(|errors| panic!("{errors}"));
        experiment.runs.retain(|run| run.name == NETWORK);
        let mut devices: Vec<(String, Vec<Device>)> = Vec::new();
        for cable in &experiment.runs[0].topology.cables {
            for (end, mtu) in [(&cable.a, cable.mtus[0]), (&cable.b, cable.mtus[1])] {
                let device = Device { name: end.device.clone(), mtu, up: true, carrier: true, max_packets: 1 };
                match devices.iter_mut().find(|(node, _)| *node == end.node) {
                    Some((_, all)) => all.push(device),
                    None => devices.push((end.node.clone(), vec![device])),
                }
            }
        }
        let path = |number: u8| PathSeen {
            path: PathSpec {
                device: format!("eth{number}"),
                client: IpAddr::from([10, 0, number, 1]),
                server: IpAddr::from([10, 0, number, 2]),
            },
            own_mtu: 1500,
            there_bytes: Some(1500),
            back_bytes: Some(1500),
            is_good: number == 0,
            findings: vec!["Larger ones are lost.".to_owned()],
            round_trip_us: Some(100),
        };
        World { file, experiment, devices, paths: vec![path(0), path(1)], measured: None }
    }

    /// With a measured run. Its disk has this policy and these latencies by path.
    fn measured(mut self, (policy, turn_ios): (&str, Option<u32>), latencies_us: &[f64], of_limit: f64) -> World {
        let negotiated = record::Negotiated { max_recv_data_bytes: 8192, ..record::Negotiated::default() };
        let path = |latency_us: &f64| record::StoragePath {
            ios: 10,
            latency_us: Some(*latency_us),
            negotiated: Some(negotiated.clone()),
            ..record::StoragePath::default()
        };
        let disk = record::Disk {
            host: "esx".to_owned(),
            policy: policy.to_owned(),
            turn_ios,
            paths: latencies_us.iter().map(path).collect(),
            ..record::Disk::default()
        };
        let run = crate::machine::tests::run(NETWORK, of_limit);
        self.measured = Some(record::Run { disks: vec![disk], ..run });
        self
    }

    fn check(&self, trap: &str) -> Vec<Finding> {
        let seen = Seen {
            file: &self.file,
            run: &self.experiment.runs[0],
            devices: &self.devices,
            paths: &self.paths,
            measured: self.measured.as_ref(),
        };
        let trap = TRAPS.iter().find(|known| known.name() == trap).unwrap();
        assert!(!trap.looked(&seen).is_empty() && !trap.title().is_empty());
        trap.check(&seen)
    }

    #[track_caller]
    fn one(&self, trap: &str) -> Finding {
        let mut findings = self.check(trap);
        assert_eq!(findings.len(), 1, "{findings:?}");
        findings.remove(0)
    }
}

#[test]
fn a_wrong_mtu_is_named_by_cable_and_end() {
    let found = World::new(TEXT).one("mtu");
    assert!(found.must);
    assert_eq!(found.place, "cable 2 of 2 between filer and sw, end sw: device filer-1");
    assert!(found.wrong.starts_with("The MTU is 1400; most devices on the way have 1500"), "{}", found.wrong);
    assert!(found.wrong.ends_with("From 10.0.1.1: Larger ones are lost."), "{}", found.wrong);
    assert_eq!(found.edits, [Edit::LinkMtu { section: 2, mtu: 1500 }]);
    // Where all have the same, there is advice at most.
    let alike = World::new(&TEXT.replace("mtu = [1500, 1400]\n", ""));
    let advice = alike.one("mtu");
    assert!(!advice.must && advice.edits.is_empty() && advice.wrong.contains("jumbo"));
    let jumbo = TEXT.replace("mtu = [1500, 1400]\n", "").replace("[defaults]\n", "[defaults]\nmtu = 9000\n");
    assert!(World::new(&jumbo).check("mtu").is_empty());
    let larger = World::new(&TEXT.replace("[1500, 1400]", "[9000, 1500]")).one("mtu");
    assert!(larger.wrong.contains("it sends packets of up to 9000 bytes, which the others drop"), "{}", larger.wrong);
    assert!(larger.place.contains("end filer"), "{}", larger.place);
}

#[test]
fn switches_are_counted_on_the_way_alone() {
    assert!(World::new(TEXT).check("switches").is_empty());
    let two = TEXT.replace("sw = {}", "sw = {}\nfar = {}\nother = {}").replace(
        "[[links]]\nbetween = [\"filer\", \"sw\"]\nmtu = [1500, 1400]",
        "[[links]]\nbetween = [\"sw\", \"far\"]\n[[links]]\nbetween = [\"filer\", \"far\"]",
    );
    let found = World::new(&two.replace("other = {}\n", "")).one("switches");
    assert!(!found.must && found.place == "far, sw", "{found:?}");
}

#[test]
fn caches_and_disks_are_taken_out_of_the_network_step() {
    assert!(World::new(TEXT).check("write-cache").is_empty());
    let cached = World::new(&TEXT.replace("iops = 1000", "iops = 1000\ncache = \"write-back\"")).one("write-cache");
    assert!(cached.must && cached.edits.contains(&Edit::Workload { key: "cache", value: None }));
    let disk = World::new(&TEXT.replace("size = \"64mib\"", "size = \"64mib\"\nmedium = \"disk\"")).one("write-cache");
    assert_eq!(disk.edits, [Edit::Target { key: "medium", value: "memory".into() }]);
}

#[test]
fn a_few_requests_a_path_are_needed() {
    assert!(World::new(TEXT).check("outstanding").is_empty());
    let few = World::new(&TEXT.replace("iops = 1000", "iops = 1000\noutstanding = 4"));
    let found = few.one("outstanding");
    assert_eq!(found.edits, [Edit::Workload { key: "outstanding", value: Some(64.into()) }]);
    assert!(found.wrong.starts_with("4 requests under way do not keep 2 paths busy: at least 9 do"), "{}", found.wrong);
}

#[test]
fn short_segments_are_found_once_they_are_agreed_on() {
    assert!(World::new(TEXT).check("segments").is_empty());
    let found = World::new(TEXT).measured(("round-robin", Some(1)), &[1.0, 1.0], 0.5).one("segments");
    assert_eq!(found.edits, [Edit::Target { key: "max_recv_data", value: "256kib".into() }]);
    assert!(found.cures.iter().any(|cure| cure.line.contains("node.conn[0].iscsi.MaxRecvDataSegmentLength = 262144")));
    assert!(found.cures.iter().any(|cure| cure.line.starts_with("tgtadm")));
}

#[test]
fn turns_of_a_thousand_requests_are_found_and_paths_that_are_not_alike() {
    let by_default = World::new(TEXT).measured(("round-robin", Some(1000)), &[100.0, 100.0], 0.25);
    let found = by_default.one("path-policy");
    assert_eq!(found.edits, [Edit::Workload { key: "iops", value: Some(1.into()) }]);
    assert!(found.cures.iter().any(|cure| cure.line.contains("--type iops --iops 1")));
    assert!(by_default.check("unequal-paths").is_empty(), "the turns come first");
    let fixed = World::new(TEXT).measured(("fixed", None), &[100.0, 100.0], 0.25).one("path-policy");
    assert_eq!(fixed.edits.len(), 2);
    let unequal = World::new(TEXT).measured(("round-robin", Some(1)), &[100.0, 900.0], 0.3);
    assert!(unequal.check("path-policy").is_empty());
    assert_eq!(unequal.one("unequal-paths").edits[0], Edit::Workload { key: "policy", value: Some("best".into()) });
    let good = World::new(TEXT).measured(("round-robin", Some(1)), &[100.0, 900.0], 0.95);
    assert!(good.check("unequal-paths").is_empty());
}

#[test]
fn full_processors_are_advice() {
    let mut world = World::new(TEXT).measured(("best", None), &[1.0], 0.5);
    assert!(world.check("offloads").is_empty());
    world.measured.as_mut().unwrap().cpu.busy = 0.95;
    assert!(!world.one("offloads").must);
}
