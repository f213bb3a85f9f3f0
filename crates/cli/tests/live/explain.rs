//! `nicteam explain` as a user calls it. What it finds is tested in crate `observe`.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use nicteam_sys::process;
use nicteam_testnet::{Flows, Host, OpenVSwitch, cables, eventually, may_make_networks};
use serde_json::Value;

use crate::common::lab::Folder;
use crate::common::teams::{Killed, TeamHost};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn explain(host: &TeamHost, arguments: &[&str]) -> Output {
    host.nicteam(&[&["explain", "--for", "300ms"], arguments].concat()).output().unwrap()
}

#[test]
fn what_is_found_decides_the_exit_code() {
    if !may_make_networks() {
        return;
    }
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, 2);
    let host = TeamHost::new(near);
    let output = explain(&host, &[]);
    assert!(output.status.success() && text(&output.stdout).starts_with("no bundle"), "{output:?}");
    host.run(&["add", "team0", "--members", "eth0,eth1", "--mode", "active-backup", "-o", "miimon=20"]);
    let output = explain(&host, &["team0"]);
    assert!(output.status.success(), "{output:?}");
    let said = text(&output.stdout);
    assert!(said.starts_with("team0: nicteam, mode active-backup\n") && said.contains("nothing is wrong"), "{said}");
    // Wrong names.
    for (name, hint) in [("eth1", "it is a member of team0"), ("team1", "did you mean `team0`?")] {
        let output = explain(&host, &[name]);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(hint), "{said}");
    }
    // A cut cable, for people and for programs.
    far.set_up("eth1", false);
    eventually("the cut", || host.status("team0")["members"][1]["carrier"] == false);
    let output = explain(&host, &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stdout).contains("1. Member eth1 has no carrier"), "{output:?}");
    let output = explain(&host, &["--json", "--passive"]);
    let explained: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = &explained["bundles"][0]["explanation"]["findings"][0];
    assert_eq!((&found["cause"], &found["member"], &found["side"]), (&"down".into(), &"eth1".into(), &"link".into()));
    assert!(explained["schema"] == 1 && output.stderr.is_empty(), "{explained:#}");
}

#[test]
fn a_bond_of_open_vswitch_is_found_by_its_folder() {
    let Some(mut switch) = OpenVSwitch::start_or_skip() else { return };
    let mut far = Host::quiet();
    cables(&mut far, &mut switch.host, 2);
    switch.vsctl("add-br br0 -- set bridge br0 datapath_type=netdev");
    switch.vsctl("add-bond br0 bond0 eth0 eth1 bond_mode=balance-slb");
    eventually("the bond", || switch.enabled() == 2);
    // A process of its namespace stands for the daemon.
    let mut command = Command::new("sleep");
    process::in_netns(command.arg("60"), &switch.host.netns);
    let daemon = Killed(command.spawn().unwrap());
    let (folder, pid) = (Folder::new("explain-ovs"), daemon.0.id());
    fs::write(folder.path("ovs-vswitchd.pid"), format!("{pid}\n")).unwrap();
    symlink(switch.control_socket(), folder.path(&format!("ovs-vswitchd.{pid}.ctl"))).unwrap();
    let explain = |host: &Host| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
        command.args(["explain", "--for", "300ms"]).env("OVS_RUNDIR", &folder.0);
        process::in_netns(&mut command, &host.netns);
        text(&command.output().unwrap().stdout)
    };
    let said = explain(&switch.host);
    assert!(said.starts_with("bond0: Open vSwitch, mode balance-slb\n") && said.contains("eth1"), "{said}");
    assert!(explain(&far).starts_with("no bundle"), "the files are seen in every namespace");
}

#[test]
fn what_a_host_sends_is_ranked_while_it_is_sent() {
    if !may_make_networks() {
        return;
    }
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, 2);
    far.address("eth0", &[("10.0.0.2", 24)]);
    let mut host = TeamHost::new(near);
    let advise = |host: &TeamHost, arguments: &[&str]| {
        host.nicteam(&[&["advise", "--live", "300ms", "--json"], arguments].concat()).output().unwrap()
    };
    let ranked = |output: &Output| -> Value {
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let told = advise(&host, &[]);
    assert!(told.status.code() == Some(2) && text(&told.stderr).contains("--interface DEVICE"), "{told:?}");
    host.run(&["add", "team0", "--members", "eth0,eth1", "--mode", "active-backup", "-o", "miimon=20"]);
    host.host.address("team0", &[("10.0.0.1", 24)]);
    let flows = Flows::between(&host.host, &far, "10.0.0.2", 12);
    // The team, with as many links as it has.
    let sent = ranked(&advise(&host, &[]));
    assert_eq!((&sent["flows"], &sent["members"]), (&12.into(), &2.into()), "{sent:#}");
    let share = |of: &Value, name: &str| -> f64 {
        let all = of["ranked"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {of:#}"))["share"]
            .as_f64()
            .unwrap()
    };
    // Between two hosts one MAC address is one link; twelve ports are on both but in one of two thousand cases.
    assert!((share(&sent, "802.3ad layer2") - 0.5).abs() < 1e-9 && share(&sent, "802.3ad layer3+4") > 0.5, "{sent:#}");
    // What arrives, at one device, for a switch with more links.
    let received = ranked(&advise(&host, &["--interface", "eth0", "--members", "4", "--received"]));
    assert!(received["flows"].as_u64() > Some(1) && share(&received, "switch src-dst-mac") < 0.26, "{received:#}");
    let told = advise(&host, &["--interface", "eth0"]);
    assert!(told.status.code() == Some(2) && text(&told.stderr).contains("--members N"), "{told:?}");
    let told = advise(&host, &["--interface", "moon"]);
    assert!(told.status.code() == Some(2) && text(&told.stderr).contains("no team, bond or device `moon`"), "{told:?}");
    drop(flows);
}
