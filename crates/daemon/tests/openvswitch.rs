//! 802.3ad with Open vSwitch as the partner.

mod common;

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use common::{on_each_dataplane, spec, start};
use nicteam_daemon::RunningTeam;
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, cable, eventually, may_make_networks};

const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// A switch of its own: a namespace, a database, a daemon with the userspace datapath.
struct OpenVSwitch {
    host: Host,
    dir: PathBuf,
    daemons: Vec<Child>,
}

impl OpenVSwitch {
    /// Nothing, said aloud, where it is not installed.
    fn start() -> Option<OpenVSwitch> {
        if !may_make_networks() {
            return None;
        }
        if !Path::new(SCHEMA).exists() {
            eprintln!("SKIPPED: needs openvswitch-switch");
            return None;
        }
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("nicteam-ovs-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut ovs = OpenVSwitch { host: Host::new(), dir, daemons: Vec::new() };
        ovs.call("ovsdb-tool", &["create", &ovs.path("conf.db"), SCHEMA]);
        ovs.spawn(
            "ovsdb-server",
            &[
                &ovs.path("conf.db"),
                &format!("--remote=punix:{}", ovs.path("db.sock")),
                &format!("--unixctl={}", ovs.path("db.ctl")),
            ],
        );
        eventually("the database", || UnixStream::connect(ovs.path("db.sock")).is_ok());
        ovs.vsctl("--no-wait init");
        ovs.spawn(
            "ovs-vswitchd",
            &[
                &format!("unix:{}", ovs.path("db.sock")),
                &format!("--unixctl={}", ovs.path("ovs.ctl")),
                "--disable-system",
            ],
        );
        eventually("the switch", || UnixStream::connect(ovs.path("ovs.ctl")).is_ok());
        Some(ovs)
    }

    fn path(&self, name: &str) -> String {
        self.dir.join(name).to_str().unwrap().to_owned()
    }

    /// A program in its namespace, with its files.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
        for folder in ["OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR"] {
            command.env(folder, &self.dir);
        }
        command
    }

    fn spawn(&mut self, program: &str, arguments: &[&str]) {
        let mut command = self.command(program, arguments);
        let child = self.host.netns.run(|| command.stdout(Stdio::null()).spawn()).unwrap().unwrap();
        self.daemons.push(child);
    }

    #[track_caller]
    fn call(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program, arguments).stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn vsctl(&self, words: &str) -> String {
        let database = format!("--db=unix:{}", self.path("db.sock"));
        let arguments: Vec<&str> = [database.as_str(), "--timeout=20"].into_iter().chain(words.split(' ')).collect();
        self.call("ovs-vsctl", &arguments)
    }

    /// What `ovs-appctl lacp/show` prints.
    fn lacp(&self) -> String {
        self.call("ovs-appctl", &["-t", &self.path("ovs.ctl"), "lacp/show"])
    }

    /// True if it forwards by so many members.
    fn uses(&self, members: usize) -> bool {
        self.call("ovs-appctl", &["-t", &self.path("ovs.ctl"), "bond/show"]).matches(": enabled").count() == members
    }

    fn signal(&self, signal: &str) {
        let pid = self.daemons[1].id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }
}

impl Drop for OpenVSwitch {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// `a` with a team of two members at a bond of the switch; `c` at a plain port.
struct Bench {
    ovs: OpenVSwitch,
    a: Host,
    _c: Host,
    team: RunningTeam,
}

impl Bench {
    /// The team has these options, the bond this `lacp` and `lacp-time`.
    fn new(options: &[(&str, &str)], lacp: &str, time: &str, kind: Kind) -> Option<Bench> {
        let mut ovs = OpenVSwitch::start()?;
        let (mut a, mut c) = (Host::quiet(), Host::quiet());
        cable(&mut a, "eth0", &mut ovs.host, "p0", 1000);
        cable(&mut a, "eth1", &mut ovs.host, "p1", 1002);
        cable(&mut c, "eth0", &mut ovs.host, "p2", 1004);
        ovs.vsctl("add-br br0 -- set bridge br0 datapath_type=netdev");
        ovs.vsctl(&format!(
            "add-bond br0 bond0 p0 p1 bond_mode=balance-slb lacp={lacp} other_config:lacp-time={time} -- add-port br0 p2"
        ));
        c.address("eth0", &[("10.2.0.9", 24)]);
        let common = &[("mode", "802.3ad"), ("miimon", "20")][..];
        let team = start(&a, spec(&[common, options].concat(), kind)).unwrap();
        a.address("team0", &[("10.2.0.1", 24)]);
        Some(Bench { ovs, a, _c: c, team })
    }

    fn aggregating(&self) -> Vec<bool> {
        self.team.report().unwrap().members.iter().map(|member| member.status.active).collect()
    }

    fn problems(&self) -> String {
        let problems = self.team.handle().status().unwrap().problems;
        problems.into_iter().map(|problem| problem.text + "\n").collect()
    }

    /// Both ends use both links, and frames pass.
    #[track_caller]
    fn settled(&self, what: &str) {
        eventually(what, || self.aggregating() == [true, true] && self.ovs.uses(2));
        assert!(
            self.ovs.lacp().contains("status: active negotiated")
                || self.ovs.lacp().contains("status: passive negotiated")
        );
        assert_eq!(self.problems(), "", "{what}");
        self.reaches(what);
    }

    #[track_caller]
    fn reaches(&self, what: &str) {
        let ping = || {
            let mut command = Command::new("ping");
            command.args(["-c1", "-W1", "10.2.0.9"]).stdout(Stdio::null()).status()
        };
        eventually(&format!("a ping: {what}"), || self.a.netns.run(ping).unwrap().unwrap().success());
    }
}

#[test]
fn active_and_passive_fast_and_slow_agree() {
    let cases = [
        ("on", "fast", "active", "fast", Kind::Packet),
        ("on", "slow", "passive", "fast", Kind::Packet),
        ("off", "fast", "active", "slow", Kind::Packet),
    ];
    for (active, rate, lacp, time, kind) in cases {
        let options = [("lacp_active", active), ("lacp_rate", rate)];
        let Some(bench) = Bench::new(&options, lacp, time, kind) else { return };
        bench.settled(&format!("lacp_active {active}, lacp_rate {rate} with {lacp}, {time}"));
    }
}

#[test]
fn a_cut_link_is_left_and_taken_back() {
    on_each_dataplane(|kind| {
        let options = [("lacp_rate", "fast"), ("aggregate_wait", "0")];
        let Some(mut bench) = Bench::new(&options, "active", "fast", kind) else { return };
        bench.settled("at first");
        bench.ovs.host.set_up("p1", false);
        eventually("one member", || bench.aggregating() == [true, false] && bench.ovs.uses(1));
        bench.reaches("by one member");
        assert!(bench.problems().contains("member eth1 has no carrier"), "{}", bench.problems());
        bench.ovs.host.set_up("p1", true);
        bench.settled("after the cut");
    });
}

#[test]
fn a_frozen_switch_is_silent_and_comes_back() {
    let options = [("lacp_rate", "fast"), ("aggregate_wait", "0"), ("lacp_strict", "on")];
    let Some(bench) = Bench::new(&options, "active", "fast", Kind::Packet) else { return };
    bench.settled("at first");
    bench.ovs.signal("-STOP");
    eventually("the silence", || bench.problems().contains("eth0 does not aggregate: partner silent"));
    eventually("no member", || bench.aggregating() == [false, false]);
    bench.ovs.signal("-CONT");
    bench.settled("once it runs on");
}

#[test]
fn ports_of_two_groups_differ_in_their_keys() {
    let options = [("lacp_rate", "fast"), ("aggregate_wait", "0")];
    let Some(bench) = Bench::new(&options, "active", "fast", Kind::Packet) else { return };
    bench.settled("at first");
    // A port that speaks LACP alone is a group of its own.
    bench.ovs.vsctl("del-port bond0 -- add-port br0 p0 -- set port p0 lacp=active other_config:lacp-time=fast -- add-port br0 p1 -- set port p1 lacp=active other_config:lacp-time=fast");
    eventually("the reason", || bench.problems().contains("does not aggregate: keys differ: the partner's is "));
    assert_eq!(bench.aggregating().iter().filter(|active| **active).count(), 1, "{}", bench.problems());
    bench.reaches("by the member that is left");
}
