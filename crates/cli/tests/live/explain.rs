//! `nicteam explain` on hosts with planted faults.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use nicteam_sys::process;
use nicteam_testnet::{Host, OpenVSwitch, cable, cables, eventually, may_make_networks};
use serde_json::Value;

use crate::common::flows::Flows;
use crate::common::lab::Folder;
use crate::common::teams::TeamHost;

/// Connections that no hash of ports puts on one of two links, but in one of two thousand cases.
const MANY: usize = 12;
const NEAR: &str = "10.0.0.1";
const FAR: &str = "10.0.0.2";

/// What the command says of the first bundle, and its exit code.
fn explain(host: &TeamHost, arguments: &[&str]) -> (Value, i32) {
    let output = host.nicteam(&[&["explain", "--json", "--for", "900ms"], arguments].concat()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code().unwrap();
    assert!(code <= 1, "{said}");
    (serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}")), code)
}

/// The causes that are no notices, with their sides.
fn faults(explained: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = explained["bundles"][0]["explanation"]["findings"].as_array().unwrap();
    let wrong = findings.iter().filter(|of| of["weight"] != "notice");
    wrong.map(|of| (text(&of["cause"]), text(&of["side"]))).collect()
}

#[track_caller]
fn assert_finds(host: &TeamHost, arguments: &[&str], cause: &str, side: &str) -> Value {
    let (explained, code) = explain(host, arguments);
    assert_eq!(faults(&explained), [(cause.to_owned(), side.to_owned())], "{explained:#}");
    assert_eq!(code, 1);
    explained["bundles"][0]["explanation"]["findings"][0].clone()
}

#[track_caller]
fn assert_good(host: &TeamHost) -> Value {
    let (explained, code) = explain(host, &[]);
    assert_eq!((faults(&explained), code), (Vec::new(), 0), "{explained:#}");
    explained["bundles"][0].clone()
}

fn add(host: &TeamHost, options: &[&str]) {
    let common = ["add", "team0", "--members", "eth0,eth1", "-o", "miimon=20", "-o", "aggregate_wait=0"];
    let options: Vec<&str> = options.iter().flat_map(|option| ["-o", option]).collect();
    host.run(&[&common[..], &options].concat());
}

fn aggregates(host: &TeamHost) -> bool {
    let status = host.status("team0");
    status["members"].as_array().unwrap().iter().all(|member| member["active"] == true)
}

/// Two hosts with two cables, and a team of both with LACP on each, by these policies.
fn pair(policies: [&str; 2]) -> [TeamHost; 2] {
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, 2);
    let mut hosts = [TeamHost::new(near), TeamHost::new(far)];
    for (host, policy) in hosts.iter().zip(policies) {
        add(host, &["mode=802.3ad", "lacp_rate=fast", &format!("xmit_hash_policy={policy}")]);
    }
    eventually("the aggregate", || hosts.iter().all(aggregates));
    for (host, address) in hosts.iter_mut().zip([NEAR, FAR]) {
        host.host.address("team0", &[(address, 24)]);
    }
    hosts
}

#[test]
fn the_end_that_hashes_by_mac_is_named_from_both_ends() {
    if !may_make_networks() {
        return;
    }
    let hosts = pair(["layer3+4", "layer2"]);
    let idle = assert_good(&hosts[0]);
    assert!(idle["explanation"]["verdict"].as_str().unwrap().contains("without traffic"), "{idle:#}");
    let _flows = Flows::between(&hosts[0].host, &hosts[1].host, FAR, MANY);
    let found = assert_finds(&hosts[0], &[], "hash", "switch");
    assert!(found["sentence"].as_str().unwrap().starts_with("The host at the other end chooses"), "{found:#}");
    // The same from there: its own hash.
    let found = assert_finds(&hosts[1], &["team0"], "hash", "host");
    assert_eq!(found["changes"][0]["commands"][0], "nicteam team set team0 xmit_hash_policy=layer3+4");
    // What it proposes cures it, at both ends.
    hosts[1].run(&["set", "team0", "xmit_hash_policy=layer3+4"]);
    assert_good(&hosts[1]);
    let good = assert_good(&hosts[0]);
    assert!(good["flows"].as_array().unwrap().len() >= MANY, "{good:#}");
}

#[test]
fn faults_of_links_are_named() {
    if !may_make_networks() {
        return;
    }
    let mut hosts = pair(["layer3+4", "layer3+4"]);
    // Smaller packets only, by one member.
    let index = hosts[0].host.index("eth1");
    hosts[0].host.netlink.set_mtu(index, 1400).unwrap();
    let (explained, _) = explain(&hosts[0], &[]);
    // The team's process may have put it back.
    let mtus = &explained["bundles"][0]["bundle"]["members"];
    let is_small = mtus.as_array().unwrap().iter().any(|member| member["mtu"] == 1400);
    assert_eq!(faults(&explained).iter().any(|(cause, _)| cause == "mtu"), is_small, "{explained:#}");
    hosts[0].host.netlink.set_mtu(index, 1500).unwrap();
    // Another host with the same address, behind the same links.
    hosts[1].host.address("team0", &[(NEAR, 24)]);
    let found = assert_finds(&hosts[0], &[], "duplicate-address", "other_host");
    assert!(found["sentence"].as_str().unwrap().contains(NEAR), "{found:#}");
    // A cut cable; the address is still taken.
    hosts[1].host.set_up("eth1", false);
    eventually("the cut", || !aggregates(&hosts[0]));
    let (explained, _) = explain(&hosts[0], &["--passive"]);
    assert_eq!(faults(&explained)[0], ("down".to_owned(), "link".to_owned()), "{explained:#}");
    // A port that speaks no LACP any more.
    hosts[1].run(&["del", "team0"]);
    for device in ["eth0", "eth1"] {
        hosts[1].host.set_up(device, true);
    }
    let negotiated = || hosts[0].status("team0")["lacp"]["active"]["partner_system"] != "00:00:00:00:00:00";
    eventually("the silence", || !negotiated());
    assert_finds(&hosts[0], &[], "lacp-missing", "switch");
}

#[test]
fn a_switch_and_a_bond_of_open_vswitch_are_explained() {
    let Some(mut switch) = OpenVSwitch::start_or_skip() else { return };
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut switch.host, 2);
    cable(&mut far, "up", &mut switch.host, "p9");
    far.address("up", &[(FAR, 24)]);
    // What goes to the host it chooses by the source address: a switch that hashes by MAC.
    switch.vsctl("add-br br0 -- set bridge br0 datapath_type=netdev -- add-port br0 p9");
    switch.vsctl("add-bond br0 bond0 eth0 eth1 bond_mode=balance-slb lacp=active other_config:lacp-time=fast");
    let mut near = TeamHost::new(near);
    add(&near, &["mode=802.3ad", "lacp_rate=fast", "xmit_hash_policy=layer3+4"]);
    eventually("the aggregate", || aggregates(&near) && switch.enabled() == 2);
    near.host.address("team0", &[(NEAR, 24)]);
    let flows = Flows::between(&near.host, &far, FAR, MANY);
    let found = assert_finds(&near, &[], "hash", "switch");
    assert!(found["sentence"].as_str().unwrap().starts_with("The switch chooses"), "{found:#}");
    let commands = found["changes"][0]["commands"].as_array().unwrap();
    assert!(commands.iter().any(|line| line.as_str().unwrap().starts_with("port-channel load-balance")), "{found:#}");
    // The bond itself, as its own host sees it.
    let folder = Folder::new("explain-ovs");
    fs::write(folder.path("ovs-vswitchd.pid"), "7\n").unwrap();
    symlink(switch.control_socket(), folder.path("ovs-vswitchd.7.ctl")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    command.args(["explain", "bond0", "--json", "--for", "900ms"]).env("OVS_RUNDIR", &folder.0);
    process::in_netns(&mut command, &switch.host.netns);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let explained: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(explained["bundles"][0]["bundle"]["kind"], "openvswitch");
    assert_eq!(faults(&explained), [("hash".to_owned(), "host".to_owned())], "{explained:#}");
    drop(flows);
}

#[test]
fn a_host_without_bundles_and_wrong_names_are_told() {
    if !may_make_networks() {
        return;
    }
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, 2);
    let host = TeamHost::new(near);
    let output = host.nicteam(&["explain"]).output().unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).starts_with("no bundle"), "{output:?}");
    add(&host, &["mode=active-backup"]);
    for (name, hint) in [("eth1", "it is a member of team0"), ("team1", "did you mean `team0`?")] {
        let output = host.nicteam(&["explain", name]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(hint), "{said}");
    }
}
