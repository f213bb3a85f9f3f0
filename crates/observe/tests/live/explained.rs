//! Hosts with planted faults are explained rightly.

use std::time::Duration;

use nicteam_daemon::Service;
use nicteam_explain::{Explanation, Facts, Finding, Side, Weight, explain};
use nicteam_observe::bundles::Bundle;
use nicteam_observe::traffic::{Options, watch};
use nicteam_sys::ethtool::Ethtool;
use nicteam_testnet::{Flows, Host, OpenVSwitch, cable, cables, eventually, may_make_networks};

use crate::common::{aggregates, start, team};

/// Connections that no hash of ports puts on one of two links, but in one of two thousand cases.
const MANY: usize = 12;
const NEAR: &str = "10.0.0.1";
const FAR: &str = "10.0.0.2";
const LACP: [(&str, &str); 4] = [("mode", "802.3ad"), ("lacp_rate", "fast"), ("miimon", "10"), ("aggregate_wait", "0")];

/// What is found of a bundle that is looked at for a moment.
fn explained(host: &Host, bundle: impl Fn() -> Bundle + Send + Sync) -> Explanation {
    explained_for(Duration::from_millis(700), host, bundle)
}

pub(super) fn explained_for(time: Duration, host: &Host, bundle: impl Fn() -> Bundle + Send + Sync) -> Explanation {
    let look = || {
        let before = bundle();
        let options = Options { time, probes: true };
        let watched = watch(std::slice::from_ref(&before), options).unwrap();
        let bundle = bundle();
        let name = &bundle.name;
        let facts = Facts {
            bundle: &bundle,
            earlier: Some(&before),
            rates: &watched.rates,
            connections: &watched.connections,
            headers: watched.headers.get(name),
            addresses: &watched.addresses[name],
            path: None,
        };
        let explanation = explain(&facts);
        eprintln!("{}", explanation.text(&facts));
        explanation
    };
    host.netns.run(look).unwrap()
}

/// The team of this network namespace.
pub(super) fn team_here() -> Bundle {
    nicteam_observe::host().unwrap().bundle("team0").cloned().unwrap()
}

fn of_team(host: &Host) -> Explanation {
    explained(host, team_here)
}

/// The one finding that is no notice.
#[track_caller]
pub(super) fn the_fault(explanation: Explanation, cause: &str, side: Side) -> Finding {
    let wrong: Vec<&Finding> = explanation.findings.iter().filter(|of| of.weight != Weight::Notice).collect();
    let [one] = wrong[..] else { panic!("{explanation:#?}") };
    assert_eq!((one.cause, one.side), (cause, side), "{explanation:#?}");
    one.clone()
}

#[track_caller]
pub(super) fn assert_good(explanation: &Explanation) {
    assert!(explanation.is_good, "{explanation:#?}");
}

/// Two hosts with two cables, and a team of both with LACP on each, by these policies.
fn pair(policies: [&str; 2]) -> ([Host; 2], [Service; 2]) {
    let mut hosts = [Host::quiet(), Host::quiet()];
    let [near, far] = &mut hosts;
    cables(near, far, 2);
    let start = |at: usize| start(&hosts[at], &[&LACP[..], &[("xmit_hash_policy", policies[at])]].concat());
    let teams = [start(0), start(1)];
    eventually("the aggregate", || hosts.iter().all(aggregates));
    for (host, address) in hosts.iter_mut().zip([NEAR, FAR]) {
        host.address("team0", &[(address, 24)]);
    }
    (hosts, teams)
}

#[test]
fn the_end_that_hashes_by_mac_is_named_from_both_ends() {
    if !may_make_networks() {
        return;
    }
    let (hosts, teams) = pair(["layer3+4", "layer2"]);
    let idle = of_team(&hosts[0]);
    assert_good(&idle);
    assert!(idle.verdict.contains("without traffic"), "{idle:#?}");
    let flows = Flows::between(&hosts[0], &hosts[1], FAR, MANY);
    let found = the_fault(of_team(&hosts[0]), "hash", Side::Switch);
    assert!(found.sentence.starts_with("The host at the other end chooses"), "{found:#?}");
    // The same from there: its own hash. What it proposes cures it, at both ends.
    let found = the_fault(of_team(&hosts[1]), "hash", Side::Host);
    assert_eq!(found.changes[0].commands, ["nicteam team set team0 xmit_hash_policy=layer3+4"]);
    drop(flows);
    teams.into_iter().for_each(|team| team.end().unwrap());
}

#[test]
fn flows_on_both_links_are_no_fault() {
    if !may_make_networks() {
        return;
    }
    let (hosts, teams) = pair(["layer3+4", "layer3+4"]);
    let flows = Flows::between(&hosts[0], &hosts[1], FAR, MANY);
    hosts.iter().for_each(|host| assert_good(&of_team(host)));
    drop(flows);
    teams.into_iter().for_each(|team| team.end().unwrap());
}

#[test]
fn faults_of_links_and_addresses_are_named() {
    if !may_make_networks() {
        return;
    }
    let (mut hosts, [near, far]) = pair(["layer3+4", "layer3+4"]);
    // Another host with the same address, behind the same links.
    hosts[1].address("team0", &[(NEAR, 24)]);
    let found = the_fault(of_team(&hosts[0]), "duplicate-address", Side::OtherHost);
    assert!(found.sentence.contains(NEAR), "{found:#?}");
    // Nobody speaks LACP any more.
    far.end().unwrap();
    ["eth0", "eth1"].into_iter().for_each(|device| hosts[1].set_up(device, true));
    eventually("the silence", || team(&hosts[0]).lacp.is_some_and(|lacp| lacp.negotiated == Some(false)));
    the_fault(of_team(&hosts[0]), "lacp-missing", Side::Switch);
    // A cut cable beside.
    hosts[1].set_up("eth1", false);
    eventually("the cut", || team(&hosts[0]).members.iter().any(|member| !member.carrier));
    let explanation = of_team(&hosts[0]);
    let down = explanation.findings.iter().find(|of| of.cause == "down");
    assert_eq!(down.and_then(|of| of.member.as_deref()), Some("eth1"), "{explanation:#?}");
    near.end().unwrap();
}

#[test]
fn a_port_without_lacp_is_told_from_a_missing_partner() {
    if !may_make_networks() {
        return;
    }
    let mut hosts = [Host::quiet(), Host::quiet()];
    let [near, far] = &mut hosts;
    cable(near, "eth0", far, "eth0");
    cable(near, "eth1", far, "plain");
    cable(near, "unused", far, "eth1");
    let teams = [start(&hosts[0], &LACP), start(&hosts[1], &LACP)];
    let left_out = || team(&hosts[0]).members.iter().filter(|member| member.active).count() == 1;
    let has_partner = || team(&hosts[0]).lacp.is_some_and(|lacp| lacp.negotiated == Some(true));
    eventually("an aggregate of one", || left_out() && has_partner());
    let found = the_fault(of_team(&hosts[0]), "not-aggregating", Side::Switch);
    assert_eq!(found.member.as_deref(), Some("eth1"));
    assert!(found.sentence.contains("does not speak LACP"), "{found:#?}");
    teams.into_iter().for_each(|team| team.end().unwrap());
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
    let service = start(&near, &[&LACP[..], &[("xmit_hash_policy", "layer3+4")]].concat());
    eventually("the aggregate", || aggregates(&near) && switch.enabled() == 2);
    near.address("team0", &[(NEAR, 24)]);
    // The switch knows nothing of checksums that nobody computed.
    for (host, devices) in [(&near, &["eth0", "eth1", "team0"][..]), (&far, &["up"])] {
        let finish = || devices.iter().for_each(|device| Ethtool::open().unwrap().finish_frames(device).unwrap());
        host.netns.run(finish).unwrap();
    }
    let flows = Flows::between(&near, &far, FAR, MANY);
    let found = the_fault(of_team(&near), "hash", Side::Switch);
    assert!(found.sentence.starts_with("The switch chooses"), "{found:#?}");
    assert_eq!(found.changes[0].hash.as_deref(), Some("layer3+4"));
    // The bond itself, as its own host sees it.
    let socket = switch.control_socket();
    let bond = || nicteam_observe::openvswitch_at(&socket).unwrap().remove(0);
    the_fault(explained(&switch.host, bond), "hash", Side::Host);
    drop(flows);
    service.end().unwrap();
}
