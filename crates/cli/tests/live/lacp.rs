//! 802.3ad between teams in processes of their own: one that is stopped, as by
//! a debugger or a hypervisor, is a partner that falls silent. (With packet
//! sockets; eBPF may answer in the place of its process.)

use crate::common::teams::TeamHost;
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, cables, eventually, may_make_networks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Two hosts with four cables.
fn cabled() -> (TeamHost, TeamHost) {
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, 4);
    (TeamHost::new(near), TeamHost::new(far))
}

fn add(host: &TeamHost, team: &str, members: &str, rate: &str, dataplane: Kind) {
    let (rate, dataplane) = (format!("lacp_rate={rate}"), dataplane.to_string());
    let common = ["--mode", "802.3ad", "-o", "aggregate_wait=0", "-o", "lacp_strict=on", "-o", "miimon=20"];
    let own = ["-o", &rate, "--members", members, "--dataplane", &dataplane];
    host.run(&[&["add", team][..], &common, &own].concat());
}

/// How many members of the team frames are sent by.
fn aggregating(host: &TeamHost, team: &str) -> usize {
    let status = host.status(team);
    status["members"].as_array().unwrap().iter().filter(|member| member["active"] == Value::Bool(true)).count()
}

fn signal(host: &TeamHost, team: &str, signal: Signal) {
    let pid = host.status(team)["pid"].as_i64().unwrap();
    kill(Pid::from_raw(pid as i32), signal).unwrap();
}

/// The dataplanes of the team that watches.
fn dataplanes() -> Vec<Kind> {
    match nicteam_dataplane::probe() {
        (Kind::Bpf, _) => vec![Kind::Bpf, Kind::Packet],
        (Kind::Packet, reason) => {
            eprintln!("SKIPPED: no eBPF dataplane: {}", reason.unwrap_or_default());
            vec![Kind::Packet]
        }
    }
}

#[test]
fn a_frozen_partner_is_left_by_lacp_rate_and_taken_back() {
    if !may_make_networks() {
        return;
    }
    for kind in dataplanes() {
        let (near, far) = cabled();
        // The near end asks the one partner to speak each second, the other each half minute.
        for (team, members, rate) in [("fast", "eth0,eth1", "fast"), ("slow", "eth2,eth3", "slow")] {
            add(&near, team, members, rate, kind);
            add(&far, team, members, rate, Kind::Packet);
            eventually(team, || aggregating(&near, team) == 2 && aggregating(&far, team) == 2);
        }
        let pids = ["fast", "slow"].map(|team| far.status(team)["pid"].as_i64().unwrap() as i32);
        ["fast", "slow"].into_iter().for_each(|team| signal(&far, team, Signal::SIGSTOP));
        let silent = |name: &str| format!("member {name} does not aggregate: partner silent: no LACPDU comes");
        let shown = || near.run(&["show", "fast"]);
        eventually("the silence", || shown().contains(&silent("eth0")) && shown().contains(&silent("eth1")));
        assert_eq!(aggregating(&near, "fast"), 0, "{kind}");
        assert!(shown().starts_with("fast: 802.3ad, NO CARRIER"), "{kind}: {}", shown());
        assert_eq!(aggregating(&near, "slow"), 2, "{kind}: by the slow rate it has 90 s");
        let events = near.run(&["events", "fast"]);
        assert!(events.contains("distributing -> attached (partner silent: no LACPDU comes)"), "{kind}: {events}");
        pids.into_iter().for_each(|pid| kill(Pid::from_raw(pid), Signal::SIGCONT).unwrap());
        eventually("the partner's return", || aggregating(&near, "fast") == 2 && aggregating(&far, "fast") == 2);
        assert!(!shown().contains("problem"), "{kind}: {}", shown());
    }
}

#[test]
fn a_partner_whose_process_is_killed_and_restarted_is_taken_back() {
    if !may_make_networks() {
        return;
    }
    for kind in dataplanes() {
        let (near, far) = cabled();
        add(&near, "team0", "eth0,eth1", "fast", kind);
        add(&far, "team0", "eth0,eth1", "fast", Kind::Packet);
        let settled = || aggregating(&near, "team0") == 2 && aggregating(&far, "team0") == 2;
        eventually("both members", settled);
        far.crash("team0");
        far.run(&["restart", "team0"]);
        eventually("both members again", settled);
        let shown = near.run(&["show", "team0"]);
        assert!(shown.contains("2 aggregate with ") && !shown.contains("problem"), "{kind}: {shown}");
    }
}
