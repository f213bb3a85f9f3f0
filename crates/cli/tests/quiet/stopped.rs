//! A cable is pulled while the process of a team is stopped: on the eBPF dataplane the programs leave the
//! member without carrier, in both directions.

use std::time::Duration;

use crate::common::teams::{Probes, TeamHost, may_test_bpf};
use nicteam_testnet::{Host, Switch, cables, eventually};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Of the frames that were under way.
const FEW: usize = 3;
/// How long frames pass after each change.
const WHILE: Duration = Duration::from_millis(400);

/// A host with a team of two cables to a switch, and a host without a team there.
struct Net {
    near: TeamHost,
    switch: Switch,
    far: Host,
}

impl Net {
    fn new(options: &[&str]) -> Net {
        let (mut near, mut switch, mut far) = (Host::quiet(), Switch::new(), Host::quiet());
        switch.join_all(&mut near, "eth", "p", 2);
        switch.join(&mut far, "eth0", "p2");
        let near = TeamHost::new(near);
        near.run(&[&["add", "team0", "--members", "eth0,eth1", "--dataplane", "bpf"], options].concat());
        let mut net = Net { near, switch, far };
        net.near.host.address("team0", &[("10.3.0.1", 24)]);
        net.far.address("eth0", &[("10.3.0.2", 24)]);
        eventually("both members are up", || {
            let status = net.near.status("team0");
            assert_eq!(status["failover_in_kernel"], true, "{status}");
            status["members"].as_array().unwrap().iter().all(|member| member["state"] == "up")
        });
        net
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.near.status("team0")["pid"].as_i64().unwrap() as i32)
    }

    /// Frames lost in one direction while each cable is pulled and put back once, the process stopped.
    fn lost(&mut self, towards_team: bool) -> (usize, u32) {
        let pid = self.pid();
        let (near, far) = (([10, 3, 0, 1], &self.near.host), ([10, 3, 0, 2], &self.far));
        let (from, to) = if towards_team { (far, near) } else { (near, far) };
        let probes = Probes::new(from.1, from.0, to.1, to.0);
        kill(pid, Signal::SIGSTOP).unwrap();
        let switch = &mut self.switch;
        let (lost, sent) = probes.lost_during(|| {
            for port in ["p0", "p1"] {
                switch.set_up(port, false);
                std::thread::sleep(WHILE);
                switch.set_up(port, true);
                std::thread::sleep(WHILE);
            }
        });
        kill(pid, Signal::SIGCONT).unwrap();
        eventually("the process has seen it", || {
            let status = self.near.status("team0");
            status["members"].as_array().unwrap().iter().all(|member| member["state"] == "up")
        });
        (lost.len(), sent)
    }
}

/// Frames cross in this mode although the process is stopped, in both directions.
fn survives(mode: &str, options: &[&str]) {
    if !may_test_bpf() {
        return;
    }
    let mut net = Net::new(&[&["--mode", mode], options].concat());
    for towards_team in [false, true] {
        let (lost, sent) = net.lost(towards_team);
        assert!(lost <= FEW, "{mode}: {lost} of {sent} lost, towards the team: {towards_team}");
    }
}

#[test]
fn active_backup() {
    survives("active-backup", &[]);
}

#[test]
fn balance_rr() {
    survives("balance-rr", &[]);
}

#[test]
fn balance_xor() {
    survives("balance-xor", &["-o", "xmit_hash_policy=layer3+4"]);
}

#[test]
fn broadcast() {
    survives("broadcast", &[]);
}

#[test]
fn balance_tlb() {
    survives("balance-tlb", &[]);
}

#[test]
fn balance_alb() {
    survives("balance-alb", &[]);
}

#[test]
fn without_the_option_everything_is_lost() {
    if !may_test_bpf() {
        return;
    }
    let mut net = Net::new(&["--mode", "active-backup", "-o", "carrier_failover=off"]);
    // Of two pulls the first concerns the active member: all frames of one of five phases.
    for towards_team in [false, true] {
        let (lost, sent) = net.lost(towards_team);
        assert!(lost * 10 > sent as usize, "{lost} of {sent} lost, towards the team: {towards_team}");
    }
}

#[test]
fn members_of_802_3ad() {
    if !may_test_bpf() {
        return;
    }
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, 2);
    let (mut near, mut far) = (TeamHost::new(near), TeamHost::new(far));
    let options = ["-o", "lacp_rate=fast", "-o", "aggregate_wait=0", "-o", "xmit_hash_policy=layer3+4"];
    for (host, address) in [(&mut near, "10.3.0.1"), (&mut far, "10.3.0.2")] {
        let add = ["add", "team0", "--mode", "802.3ad", "--members", "eth0,eth1", "--dataplane", "bpf"];
        host.run(&[&add[..], &options].concat());
        host.host.address("team0", &[(address, 24)]);
    }
    let aggregates = |host: &TeamHost| {
        host.status("team0")["members"].as_array().unwrap().iter().all(|member| member["active"] == true)
    };
    eventually("both aggregate", || aggregates(&near) && aggregates(&far));
    let pid = Pid::from_raw(near.status("team0")["pid"].as_i64().unwrap() as i32);
    let probes = Probes::new(&near.host, [10, 3, 0, 1], &far.host, [10, 3, 0, 2]);
    kill(pid, Signal::SIGSTOP).unwrap();
    let (lost, sent) = probes.lost_during(|| {
        far.host.set_up("eth0", false);
        std::thread::sleep(Duration::from_secs(2));
    });
    kill(pid, Signal::SIGCONT).unwrap();
    assert!(lost.len() <= FEW, "{} of {sent} lost", lost.len());
}
