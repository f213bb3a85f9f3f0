//! A testbed, a kind of traffic and an engine that are none of nicteam's, through public traits alone.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use nicteam_experiment::{Experiment, Overrides, Task, Topology, parse};
use nicteam_lab::agent::{Registry, serve_with};
use nicteam_lab::protocol::{AddTeam, AgentSample, ConnectionSpec, Done, Message, Notice, PROTOCOL, Request, Role};
use nicteam_lab::task::{Ends, Kind};
use nicteam_lab::testbed::{Action, Deployment, Report, Setting, TeamRuns, Testbed};
use nicteam_lab::{Counted, Engine, Error, Failure, Options, Output, Progress, Running, run};
use nicteam_netlink::Netlink;
use nicteam_record::{Connection, ConnectionSample, EventKind, Member, MemberSample, Port, Run};
use serde_json::{Value, json};

const FILE: &str = r#"
title = "Toys"
[defaults]
duration = "100ms"
warmup = "0s"
interval = "10ms"
[hosts]
a = {}
b = {}
[[links]]
between = ["a", "b"]
[workloads.w]
kind = "tcp"
from = "a"
to = "b"
[[runs]]
name = "r"
workloads = "w"
"#;

/// What each connection carries, bytes a millisecond.
const RATE: u64 = 5000;

/// Traffic that says what it carries.
#[derive(Debug)]
struct Toy;

impl Task for Toy {
    fn kind(&self) -> &'static str {
        "toy"
    }

    fn words(&self) -> (&'static str, String) {
        ("toy", "made up".to_owned())
    }

    fn each(&self, _connections: u32, _ipv6: bool) -> Value {
        json!({ "rate": RATE })
    }
}

impl Kind for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn at_agent(&self) -> Box<dyn Ends> {
        Box::new(ToyEnds)
    }

    fn figures(&self, spec: &ConnectionSpec, counted: &Counted<'_>, connection: &mut Connection) {
        connection.congestion = format!("{} of {}", counted.sent(|sample| sample.segments), spec.each["rate"]);
    }
}

#[derive(Debug)]
struct ToyEnds;

impl Ends for ToyEnds {
    fn prepare(&self, _role: Role, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        assert!(connections.iter().all(|spec| spec.kind == "toy"));
        Ok(())
    }

    fn start(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn stop(&self) {}

    fn sample(&self) -> Vec<ConnectionSample> {
        vec![ConnectionSample { received_bytes: RATE, segments: 1, ..ConnectionSample::default() }]
    }
}

/// Builds nothing; its clock is the lab's, and its nodes count as they were told.
struct Nowhere;

struct Built {
    reports: mpsc::Sender<Report>,
    ends: Box<dyn Ends>,
    cut: bool,
}

impl Testbed for Nowhere {
    fn name(&self) -> &'static str {
        "nowhere"
    }

    fn build(
        &self,
        topology: &Topology,
        _setting: &Setting,
        reports: &mpsc::Sender<Report>,
    ) -> Result<Box<dyn Deployment>, Error> {
        assert_eq!(topology.hosts.len(), 2);
        Ok(Box::new(Built { reports: reports.clone(), ends: Toy.at_agent(), cut: false }))
    }
}

impl Built {
    /// The samples of the next second, and something that happens in it.
    fn report(&self) {
        let now_ns = now_ns();
        for ms in (0..1000).step_by(10) {
            for host in ["a", "b"] {
                let count = |sample: ConnectionSample| ConnectionSample {
                    received_bytes: sample.received_bytes * ms,
                    segments: sample.segments * ms,
                    ..sample
                };
                let connections = self.ends.sample().into_iter().map(count).collect();
                let at_ns = now_ns + ms * 1_000_000;
                let sample = AgentSample {
                    at_ns,
                    cpu_ms: 0.0,
                    members: Vec::new(),
                    connections,
                    relayed: Vec::new(),
                    flows: Vec::new(),
                    tasks: Vec::new(),
                    mac_moves: None,
                };
                self.reports.send(Report::Sample(host.to_owned(), sample)).unwrap();
            }
        }
        let text = "a toy broke".to_owned();
        let notice = Notice { at_ns: now_ns + 20_000_000, kind: EventKind::Trouble, team: None, member: None, text };
        self.reports.send(Report::Notice("b".to_owned(), notice)).unwrap();
    }
}

impl Deployment for Built {
    fn nodes(&self) -> Vec<(String, Option<u32>)> {
        ["a", "b"].map(|node| (node.to_owned(), None)).to_vec()
    }

    fn teams(&self) -> &[TeamRuns] {
        &[]
    }

    fn call(&mut self, _node: &str, request: &Request) -> Result<Done, Error> {
        if let Request::Prepare { role, connections } = request {
            self.ends.prepare(*role, connections.clone()).unwrap();
        }
        Ok(Done::default())
    }

    fn call_all(&mut self, request: &Request) -> Result<Vec<(String, Done)>, Error> {
        if *request == Request::Start {
            self.ends.start().unwrap();
            self.report();
        }
        let nodes = self.nodes().into_iter();
        nodes.map(|(node, _)| Ok((node.clone(), self.call(&node, request)?))).collect()
    }

    fn act(&mut self, action: &Action) -> Result<(), Error> {
        let Action::Cable { plugged, .. } = action else { panic!("{action:?}") };
        self.cut = !plugged;
        Ok(())
    }
}

struct Heard(Vec<String>);

impl Progress for Heard {
    fn run_begins(&mut self, _run: &nicteam_experiment::Run, _number: usize, _count: usize) {}

    fn traffic(&mut self, _run: &nicteam_experiment::Run, _t: Duration, _warming_up: bool, _members: &[Member]) {}

    fn run_ends(&mut self, _run: &Run) {}

    fn notice(&mut self, node: &str, text: &str) {
        self.0.push(format!("{node}: {text}"));
    }
}

fn experiment() -> Experiment {
    let mut experiment = parse("toys", "toys.toml", FILE, &Overrides::default()).unwrap();
    experiment.runs[0].workloads[0].task = Arc::new(Toy);
    experiment
}

#[test]
fn a_run_names_its_testbed_its_kind_of_traffic_and_what_happened() {
    static KINDS: [&dyn Kind; 1] = [&Toy];
    let output = std::env::temp_dir().join(format!("nicteam-toys-{}", std::process::id()));
    let options = Options {
        binary: PathBuf::new(),
        output: output.clone(),
        dataplane: Some(nicteam_dataplane::Kind::Packet),
        privileges: "root",
        explain: |_| {},
        testbed: Some(&Nowhere),
        kinds: Some(&KINDS),
    };
    let (begun, mut heard) = (Instant::now(), Heard(Vec::new()));
    let outcome = run(&experiment(), &options, &mut heard, |_| Ok(())).unwrap();
    std::fs::remove_dir_all(output).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(100));
    let record = &outcome.bundle.record;
    assert_eq!(record.environment.testbed, "nowhere");
    let run = &record.runs[0];
    let [connection] = &run.connections[..] else { panic!("{:?}", run.connections) };
    assert_eq!((connection.transport.as_str(), connection.from.as_str()), ("toy", "a"));
    let bps = RATE as f64 * 8e3;
    assert!((connection.delivered_bps / bps - 1.0).abs() < 0.01, "{}", connection.delivered_bps);
    assert!(connection.congestion.ends_with(" of 5000"), "{}", connection.congestion);
    assert_eq!(heard.0, ["b: a toy broke"]);
    let [event] = &run.events[..] else { panic!("{:?}", run.events) };
    assert_eq!((event.kind, event.node.as_str(), event.text.as_str()), (EventKind::Trouble, "b", "a toy broke"));
    assert!((0.0..=40.0).contains(&event.t_ms), "{}", event.t_ms);
}

/// Runs teams that carry nothing.
struct ToyEngine;

impl Engine for ToyEngine {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn add(&self, team: &AddTeam, output: &Output) -> Result<Box<dyn Running>, Failure> {
        if team.members.is_empty() {
            return Err("a toy needs members".into());
        }
        output.notice(EventKind::Team, Some(&team.device), None, format!("{} plays", team.device));
        Ok(Box::new(ToyTeam(team.clone())))
    }
}

struct ToyTeam(AddTeam);

impl Running for ToyTeam {
    fn device(&self) -> &str {
        &self.0.device
    }

    fn dataplane(&self) -> String {
        "fantasy".to_owned()
    }

    fn sample(&self, _netlink: &mut Netlink) -> Result<Vec<MemberSample>, Failure> {
        let sample = |member: &String| MemberSample {
            team: self.0.device.clone(),
            member: member.clone(),
            tx_frames: 7,
            ..MemberSample::default()
        };
        Ok(self.0.members.iter().map(sample).collect())
    }

    fn ports(&self) -> Result<Vec<Port>, Failure> {
        Ok(Vec::new())
    }

    fn settle(&self, _output: &Output) -> Result<(), Failure> {
        Ok(())
    }
}

/// What was written, for all who have it.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_agent_runs_the_teams_of_an_engine_that_it_is_given() {
    let team = |engine: &str| {
        Request::AddTeam(AddTeam {
            engine: engine.to_owned(),
            device: "team0".to_owned(),
            options: BTreeMap::new(),
            members: vec!["eth0".to_owned()],
            bridge: None,
            mac: None,
            mtu: 1500,
            dataplane: None,
            own_process: false,
        })
    };
    let requests = [team("toy"), team("none"), Request::Sample { interval_ms: 1000 }, Request::Stop];
    let lines: String = requests.iter().map(|request| serde_json::to_string(request).unwrap() + "\n").collect();
    let heard = Shared::default();
    let registry = Registry { kinds: &[], engines: &[&ToyEngine], targets: &[] };
    serve_with(&registry, lines.as_bytes(), &Output::new(heard.clone())).unwrap();
    let heard = String::from_utf8(heard.0.lock().unwrap().clone()).unwrap();
    let messages: Vec<Message> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [Message::Hello(hello), Message::Notice(notice), Message::Done(done), Message::Failed { error }, ..] =
        &messages[..]
    else {
        panic!("{messages:?}");
    };
    assert_eq!((hello.protocol, notice.text.as_str()), (PROTOCOL, "team0 plays"));
    assert_eq!(done.runs.as_ref().map(|runs| &*runs.dataplane), Some("fantasy"));
    assert_eq!(error, "no engine `none` for team0");
    let sampled = messages.iter().filter_map(|message| match message {
        Message::Sample(sample) => Some(sample.members[0].tx_frames),
        _ => None,
    });
    assert!(sampled.eq([7, 7]), "one at once, and one at the end: {messages:?}");
}

/// The lab's clock.
fn now_ns() -> u64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap();
    now.as_nanos() as u64
}
