//! Machines that are reached by real ssh servers: experiments run there, and leave nothing, also when they are killed; teams that
//! are there are measured as they are; commands look at them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use nicteam_netlink::Netlink;
use nicteam_netlink::shape::{Granularity, shape};
use nicteam_record::{EventKind, Record};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::process;
use nicteam_testnet::{Host, OpenVSwitch, SshServers, Switch, assert_becomes, eventually, may_make_networks};
use serde_json::Value;

use crate::common::lab::Folder;
use crate::common::teams::Killed;

const RATE_BPS: u64 = 100_000_000;

const EXPERIMENT: &str = r#"
title = "Two machines"
testbed = { kind = "ssh" }
links = [{ between = [["a", "b"], "sw"], count = 2, rate = "100mbit" }]
defaults = { duration = "1s", warmup = "300ms" }

[teams]
both = { mode = "stripe" }

[hosts]
a = { team = "both", ssh = "root@10.9.0.1", links = ["link0", "link1"] }
b = { team = "both", ssh = "root@10.9.0.2", links = ["link0", "link1"] }

[switches]
sw = {}

[workloads.w]
kind = "tcp"
from = "a"
to = "b"

[[runs]]
name = "one"
workloads = "w"
events = [
    { at = "700ms", kind = "silence", link = ["b", "sw"], from = "b", for = "100ms" },
    { at = "850ms", kind = "cable", link = ["a", "sw"], number = 1, end = "a", for = "100ms" },
]
"#;

/// Two machines with two links each into a switch, and a machine of the lab. Open vSwitch runs on the second.
struct World {
    a: Host,
    b: OpenVSwitch,
    lab: Host,
    _switches: [Switch; 2],
    servers: SshServers,
    folder: Folder,
}

impl World {
    fn new_or_skip() -> Option<World> {
        let (mut a, mut b, mut lab) = (Host::quiet(), OpenVSwitch::start_or_skip()?, Host::quiet());
        let (mut manage, mut data) = (Switch::new(), Switch::new());
        for (number, host) in [&mut a, &mut b.host].into_iter().enumerate() {
            host.set_up("lo", true);
            manage.join(host, "manage", &format!("m{number}"));
            host.address("manage", &[(&format!("10.9.0.{}", number + 1), 24)]);
            data.join_all(host, "link", &format!("p{number}-"), 2);
            for port in 0..2 {
                let name = format!("p{number}-{port}");
                let index = data.host.index(&name);
                shape(&mut data.host.netlink, index, RATE_BPS, Granularity::of(1)).unwrap();
                // Open vSwitch reads frames as bytes.
                data.host.netns.run(|| Ethtool::open().unwrap().finish_frames(&name)).unwrap().unwrap();
            }
        }
        lab.set_up("lo", true);
        manage.join(&mut lab, "manage", "lab");
        lab.address("manage", &[("10.9.0.9", 24)]);
        let servers = SshServers::start_or_skip(&[(&a, "10.9.0.1"), (&b.host, "10.9.0.2")], &lab)?;
        let folder = Folder::new("ssh");
        fs::write(folder.path("two.toml"), EXPERIMENT).unwrap();
        // What is copied to the machines: without what a debugger needs it is a fraction.
        let program = env!("CARGO_BIN_EXE_nicteam");
        let stripped = Command::new("strip").args(["-o", &folder.path("nicteam"), program]).status();
        if !stripped.is_ok_and(|status| status.success()) {
            fs::copy(program, folder.path("nicteam")).unwrap();
        }
        Some(World { a, b, lab, _switches: [manage, data], servers, folder })
    }

    /// `nicteam` on a host, with the folders of those who log in there.
    fn nicteam(&self, host: &Host, words: &[&str]) -> Command {
        let mut command = Command::new(self.folder.path("nicteam"));
        command.args(words).env("NICTEAM_STATE_DIR", self.servers.run());
        command.env("NICTEAM_SSH", self.servers.client());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        process::in_netns(&mut command, &host.netns);
        command
    }

    /// `nicteam lab run` on the machine of the lab.
    fn lab_run(&self, file: &str, words: &[&str]) -> Command {
        self.nicteam(&self.lab, &[&["lab", "run", &self.folder.path(file)], words].concat())
    }

    /// The networks of both machines, and what is left of copies.
    fn snapshot(&self) -> Vec<String> {
        let of = |host: &Host| host.snapshot(&["manage"]);
        let mut told: Vec<String> = [&self.a, &self.b.host].into_iter().flat_map(of).collect();
        let left = fs::read_dir(self.servers.temporary()).unwrap();
        told.extend(left.map(|entry| format!("left: {:?}", entry.unwrap())));
        told
    }

    /// How many machines have their links.
    fn having_links(&self) -> usize {
        let link = || Netlink::open().unwrap().link("link1").unwrap().is_some();
        [&self.a, &self.b.host].into_iter().filter(|host| host.netns.run(link).unwrap()).count()
    }

    /// The folders of copies go last, so nothing more is waited for, which would be dear.
    #[track_caller]
    fn is_as(&self, before: &[String], when: &str) {
        let is_empty = || fs::read_dir(self.servers.temporary()).unwrap().next().is_none();
        eventually("the copies go", || is_empty() && self.having_links() == 2);
        assert_becomes(|| self.snapshot(), before, when);
    }
}

/// The record of a lab that succeeded.
#[track_caller]
fn record(done: &Output) -> Record {
    assert!(done.status.success(), "{}", text(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn machines_are_measured_and_left_as_they_were() {
    if !may_make_networks() {
        return;
    }
    let Some(mut world) = World::new_or_skip() else { return };
    let before = world.snapshot();
    nobody_is_asked(&world);
    links_are_lent(&world);
    world.is_as(&before, "after a run");
    a_lab_is_killed(&world);
    world.is_as(&before, "after the lab was killed");
    let _processes = teams_are_there(&mut world);
    let before = world.snapshot();
    teams_are_measured_as_they_are(&world);
    machines_are_looked_at(&world);
    world.is_as(&before, "what was there is as it was");
}

fn nobody_is_asked(world: &World) {
    let unasked = world.lab_run("two.toml", &[]).output().unwrap();
    let said = text(&unasked.stderr);
    assert_eq!(unasked.status.code(), Some(2), "{said}");
    let plan = "lends link0 (100mbit) and link1 (100mbit) for each run";
    assert!(said.contains("a: root@10.9.0.1 (Linux ") && said.contains(plan), "{said}");
    assert!(said.contains("hint: say --yes"), "{said}");
}

fn links_are_lent(world: &World) {
    let output = world.folder.path("results");
    let record = record(&world.lab_run("two.toml", &["--yes", "--json", "--output", &output]).output().unwrap());
    assert_eq!(record.environment.testbed, "ssh");
    let run = &record.runs[0];
    let machines: Vec<_> = run.machines.iter().map(|it| (it.host.as_str(), it.ssh.as_str())).collect();
    assert_eq!(machines, [("a", "root@10.9.0.1"), ("b", "root@10.9.0.2")]);
    assert!(run.machines.iter().all(|it| it.clock_error_us > 0.0 && it.clock_error_us < 1e5), "{:?}", run.machines);
    // More than one link, though each is gone for a while, and both ends were sampled by their real names.
    assert!(run.delivered_bps > 1.2 * RATE_BPS as f64, "{}", run.delivered_bps);
    let sent = |host: &str, member: &str| run.members.iter().any(|it| it.host == host && it.member == member);
    assert!(sent("a", "link0") && sent("b", "link1"), "{:?}", run.members);
    let faults: Vec<_> = run.faults.iter().map(|it| (&*it.kind, it.over_ms.is_some())).collect();
    assert_eq!(faults, [("silence", true), ("cable", true)]);
    let own = |it: &&nicteam_record::Event| it.node == "a" && it.kind == EventKind::Team;
    let said: Vec<&str> = run.events.iter().filter(own).map(|it| it.text.as_str()).collect();
    assert!(said.iter().any(|text| text.contains("link1")), "the team did not see its link go: {said:?}");
}

fn a_lab_is_killed(world: &World) {
    let output = world.folder.path("killed");
    let mut lab = world.lab_run("two.toml", &["--yes", "--duration", "60s", "--output", &output]);
    let mut lab = lab.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("both machines lend their links", || world.having_links() == 0);
    lab.kill().unwrap();
    lab.wait().unwrap();
}

/// A team of nicteam on one machine, and a bond of Open vSwitch on the other. The processes: the team's, and one that stands for
/// the daemon.
fn teams_are_there(world: &mut World) -> [Killed; 2] {
    let words = ["team", "run", "team0", "--members", "link0,link1", "--mode", "active-backup"];
    let mut command = world.nicteam(&world.a, &words);
    process::die_with_parent(command.stdout(Stdio::null()));
    let mut team = Killed(command.spawn().unwrap());
    let mut said = BufReader::new(team.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains(" runs on the ")), "the team did not start");
    // Somebody has to read on, or the process would stop at a full pipe.
    std::thread::spawn(move || said.for_each(drop));
    world.a.address("team0", &[("10.3.0.1", 24)]);
    world.b.vsctl("add-br br0 -- set bridge br0 datapath_type=netdev");
    world.b.vsctl("add-bond br0 bond0 link0 link1 bond_mode=balance-slb");
    let b = &mut world.b;
    eventually("the bond", || b.enabled() == 2);
    world.b.host.address("br0", &[("10.3.0.2", 24)]);
    let mut command = Command::new("sleep");
    process::in_netns(command.arg("60"), &world.b.host.netns);
    let daemon = Killed(command.spawn().unwrap());
    let (folder, pid) = (world.servers.run(), daemon.0.id());
    fs::write(folder.join("ovs-vswitchd.pid"), format!("{pid}\n")).unwrap();
    symlink(world.b.control_socket(), folder.join(format!("ovs-vswitchd.{pid}.ctl"))).unwrap();
    [team, daemon]
}

fn teams_are_measured_as_they_are(world: &World) {
    let existing = EXPERIMENT.replace("mode = \"stripe\"", "engine = \"existing\"");
    let existing = &existing[..existing.find("events = [").unwrap()];
    let links = "links = [\"link0\", \"link1\"]";
    let existing = existing.replacen(links, "bundle = \"team0\", address = \"10.3.0.1/24\"", 1);
    let existing = existing.replacen(links, "bundle = \"bond0\", address = \"10.3.0.2/24\"", 1);
    fs::write(world.folder.path("there.toml"), existing).unwrap();
    let output = world.folder.path("there");
    let done = world.lab_run("there.toml", &["--yes", "--json", "--output", &output]).output().unwrap();
    let said = text(&done.stderr);
    let plan =
        "drives traffic over team0 (nicteam, mode active-backup) with link0 (100mbit) and link1 (100mbit), as it is";
    assert!(said.contains(plan), "{said}");
    let record = record(&done);
    let run = &record.runs[0];
    let team = |it: &nicteam_record::Team| (it.node.clone(), it.device.clone(), it.mode.clone(), it.dataplane.clone());
    let teams: Vec<_> = run.topology.teams.iter().map(team).collect();
    let there = [["a", "team0", "active-backup", "nicteam"], ["b", "bond0", "ovs-balance-slb", "Open vSwitch"]];
    assert_eq!(teams, there.map(|of| of.map(str::to_owned)).map(|[a, b, c, d]| (a, b, c, d)));
    assert!(run.topology.teams.iter().all(|it| it.engine == "existing" && it.members == ["link0", "link1"]));
    assert!(run.delivered_bps > 0.5 * RATE_BPS as f64, "{}", run.delivered_bps);
    let counted = |host: &str| run.members.iter().any(|it| it.host == host && it.member == "link0");
    assert!(counted("a") && counted("b"), "{:?}", run.members);
}

fn machines_are_looked_at(world: &World) {
    let ask = |words: &[&str]| world.nicteam(&world.lab, words).output().unwrap();
    let json = |output: &Output| -> Value {
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
    };
    let top = json(&ask(&["top", "--host", "root@10.9.0.1", "--once", "--json", "--interval", "100ms"]));
    assert_eq!(top["bundles"][0]["name"], "team0", "{top:#}");
    let explained = ask(&["explain", "--host", "root@10.9.0.2", "bond0", "--passive", "--for", "100ms"]);
    assert!(text(&explained.stdout).starts_with("bond0: Open vSwitch, mode balance-slb\n"), "{explained:?}");
    let strange = ask(&["explain", "--host", "root@10.9.0.1", "bond7", "--passive", "--for", "100ms"]);
    let said = text(&strange.stderr);
    assert!(strange.status.code() == Some(2) && said.contains("no bundle `bond7`"), "{said}");
    let doctor = ask(&["doctor", "root@10.9.0.1", "root@10.9.0.9", "--json"]);
    let found = json(&doctor);
    assert_eq!(found["hosts"][0]["found"]["bundles"][0]["name"], "team0", "{found:#}");
    let error = found["hosts"][1]["error"].as_str().unwrap();
    assert!(error.contains("could not be executed on root@10.9.0.9: ") && doctor.status.code() == Some(1), "{error}");
    assert!(Path::new(&world.servers.temporary()).read_dir().unwrap().next().is_none(), "a copy stayed");
}
