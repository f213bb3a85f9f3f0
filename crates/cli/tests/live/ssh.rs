//! An experiment on machines that are reached by real ssh servers: it runs, and leaves nothing, also when it is killed.

use std::fs;
use std::process::{Command, Stdio};

use nicteam_netlink::shape::{Granularity, shape};
use nicteam_record::Record;
use nicteam_sys::process;
use nicteam_testnet::{Host, SshServers, Switch, assert_becomes, eventually, may_make_networks};

use crate::common::lab::Folder;

const RATE_BPS: u64 = 100_000_000;

const EXPERIMENT: &str = r#"
title = "Two machines"
testbed = { kind = "ssh" }
links = [{ between = [["a", "b"], "sw"], count = 2, rate = "100mbit" }]
defaults = { duration = "1s", warmup = "500ms" }

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
"#;

/// Two machines with two links each into a switch, and a machine of the lab.
struct World {
    machines: [Host; 2],
    lab: Host,
    _switches: [Switch; 2],
    servers: SshServers,
    folder: Folder,
}

impl World {
    fn new_or_skip() -> Option<World> {
        let (mut machines, mut lab) = ([Host::quiet(), Host::quiet()], Host::quiet());
        let (mut manage, mut data) = (Switch::new(), Switch::new());
        for (number, host) in machines.iter_mut().enumerate() {
            host.set_up("lo", true);
            manage.join(host, "manage", &format!("m{number}"));
            host.address("manage", &[(&format!("10.9.0.{}", number + 1), 24)]);
            data.join_all(host, "link", &format!("p{number}-"), 2);
            for port in 0..2 {
                let index = data.host.index(&format!("p{number}-{port}"));
                shape(&mut data.host.netlink, index, RATE_BPS, Granularity::of(1)).unwrap();
            }
        }
        manage.join(&mut lab, "manage", "lab");
        lab.address("manage", &[("10.9.0.9", 24)]);
        let servers = SshServers::start_or_skip(&[(&machines[0], "10.9.0.1"), (&machines[1], "10.9.0.2")], &lab)?;
        let folder = Folder::new("ssh");
        fs::write(folder.path("two.toml"), EXPERIMENT).unwrap();
        Some(World { machines, lab, _switches: [manage, data], servers, folder })
    }

    /// `nicteam lab run` on the machine of the lab.
    fn lab_run(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
        command.args(["lab", "run", &self.folder.path("two.toml")]).args(words);
        command.env("NICTEAM_SSH", self.servers.client());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        process::in_netns(&mut command, &self.lab.netns);
        command
    }

    /// The networks of both machines, and what is left of copies.
    fn snapshot(&self) -> Vec<String> {
        let of = |host: &Host| host.snapshot(&["manage"]);
        let mut told: Vec<String> = self.machines.iter().flat_map(of).collect();
        let left = fs::read_dir(self.servers.temporary()).unwrap();
        told.extend(left.map(|entry| format!("left: {:?}", entry.unwrap())));
        told
    }
}

#[test]
fn machines_are_measured_and_left_as_they_were() {
    if !may_make_networks() {
        return;
    }
    let Some(world) = World::new_or_skip() else { return };
    let before = world.snapshot();

    let unasked = world.lab_run(&[]).output().unwrap();
    let said = String::from_utf8_lossy(&unasked.stderr).into_owned();
    assert_eq!(unasked.status.code(), Some(2), "{said}");
    let plan = "lends link0 (100mbit) and link1 (100mbit) for each run";
    assert!(said.contains("a: root@10.9.0.1 (Linux ") && said.contains(plan), "{said}");
    assert!(said.contains("hint: say --yes"), "{said}");
    assert_becomes(|| world.snapshot(), &before, "without consent");

    let output = world.folder.path("results");
    let done = world.lab_run(&["--yes", "--json", "--output", &output]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let record: Record = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(record.environment.testbed, "ssh");
    let run = &record.runs[0];
    let machines: Vec<_> = run.machines.iter().map(|it| (it.host.as_str(), it.ssh.as_str())).collect();
    assert_eq!(machines, [("a", "root@10.9.0.1"), ("b", "root@10.9.0.2")]);
    assert!(run.machines.iter().all(|it| it.clock_error_us > 0.0 && it.clock_error_us < 1e5), "{:?}", run.machines);
    // More than one link, and both ends were sampled by their real names.
    assert!(run.delivered_bps > 1.2 * RATE_BPS as f64, "{}", run.delivered_bps);
    let sent = |host: &str, member: &str| run.members.iter().any(|it| it.host == host && it.member == member);
    assert!(sent("a", "link0") && sent("b", "link1"), "{:?}", run.members);
    assert_becomes(|| world.snapshot(), &before, "after a run");

    let output = world.folder.path("killed");
    let mut lab = world.lab_run(&["--yes", "--duration", "60s", "--output", &output]);
    let mut lab = lab.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let has_link = |host: &Host| host.snapshot(&["manage"]).iter().any(|line| line.starts_with("link1@"));
    eventually("both machines lend their links", || !world.machines.iter().any(has_link));
    lab.kill().unwrap();
    lab.wait().unwrap();
    assert_becomes(|| world.snapshot(), &before, "after the lab was killed");
}
