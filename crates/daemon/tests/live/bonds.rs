//! Open vSwitch's modes on devices: one test a mode, and a restart.

use std::process::{Command, Stdio};

use crate::common::{on_each_dataplane, spec, start};
use nicteam_daemon::{BondState, PersistedTeam, RunningTeam, Service, StateStore};
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, OpenVSwitch, Switch, cable, eventually};

const ADDRESS: &str = "10.2.0.9";

/// A team of two members at plain ports of a switch that learns addresses, and a host with one cable.
struct Bench {
    a: Host,
    _b: Host,
    switch: Switch,
    team: RunningTeam,
}

impl Bench {
    fn new(options: &[(&str, &str)], kind: Kind) -> Bench {
        let (mut a, mut b, mut switch) = (Host::quiet(), Host::quiet(), Switch::new());
        switch.join_all(&mut a, "eth", "a", 2);
        switch.join_all(&mut b, "eth", "b", 1);
        b.address("eth0", &[(ADDRESS, 24)]);
        let team = start(&a, spec(options, kind)).unwrap();
        a.address("team0", &[("10.2.0.1", 24)]);
        Bench { a, _b: b, switch, team }
    }
}

fn bond(team: &RunningTeam) -> BondState {
    team.handle().status().unwrap().openvswitch.unwrap()
}

fn problems(team: &RunningTeam) -> String {
    team.handle().status().unwrap().problems.into_iter().map(|problem| problem.text + "\n").collect()
}

#[track_caller]
fn reaches(host: &Host, what: &str) {
    let ping = || {
        let mut command = Command::new("ping");
        command.args(["-c1", "-W1", ADDRESS]).stdout(Stdio::null()).status()
    };
    eventually(&format!("a ping: {what}"), || host.netns.run(ping).unwrap().unwrap().success());
}

#[test]
fn active_backup_fails_over_and_takes_its_primary_back() {
    on_each_dataplane(|kind| {
        let mut bench = Bench::new(&[("mode", "ovs-active-backup"), ("bond-primary", "eth1")], kind);
        reaches(&bench.a, "at first");
        assert_eq!(bond(&bench.team).active.as_deref(), Some("eth1"));
        bench.switch.host.set_up("a1", false);
        eventually("the other member", || bond(&bench.team).active.as_deref() == Some("eth0"));
        reaches(&bench.a, "by the other member");
        bench.switch.host.set_up("a1", true);
        eventually("the primary", || bond(&bench.team).active.as_deref() == Some("eth1"));
        reaches(&bench.a, "by the primary");
        assert_eq!(problems(&bench.team), "");
    });
}

#[test]
fn balance_slb_counts_its_buckets_migrates_them_and_leaves_a_lost_member() {
    on_each_dataplane(|kind| {
        let mut bench = Bench::new(&[("mode", "ovs-balance-slb"), ("bond-rebalance-interval", "0")], kind);
        bench.team.handle().set(vec![("bond-rebalance-interval".into(), "60000".into())]).unwrap();
        reaches(&bench.a, "at first");
        let loaded = |bond: &BondState| {
            let members = bond.members.iter().filter(|member| !member.buckets.is_empty());
            members.map(|member| (member.name.clone(), member.buckets.clone())).collect::<Vec<_>>()
        };
        let before = loaded(&bond(&bench.team));
        let [(member, buckets)] = &before[..] else { panic!("one source address has one bucket: {before:?}") };
        let [bucket] = buckets[..] else { panic!("{buckets:?}") };
        let other = if member == "eth0" { "eth1" } else { "eth0" };
        bench.team.handle().migrate(bucket.bucket, other).unwrap();
        reaches(&bench.a, "by the other member");
        assert_eq!(loaded(&bond(&bench.team))[0].0, other);
        let port = if other == "eth0" { "a0" } else { "a1" };
        bench.switch.host.set_up(port, false);
        eventually("one member", || bond(&bench.team).members.iter().filter(|member| member.enabled).count() == 1);
        reaches(&bench.a, "by what is left");
        let refused = bench.team.handle().migrate(bucket.bucket, other).unwrap_err().to_string();
        assert!(refused.contains("down"), "{refused}");
    });
}

#[test]
fn balance_tcp_works_with_a_partner_and_says_why_not_without() {
    on_each_dataplane(|kind| {
        let Some(mut ovs) = OpenVSwitch::start_or_skip() else { return };
        let (mut a, mut b) = (Host::quiet(), Host::quiet());
        connect(&mut ovs, &mut a, &mut b);
        let options = [("mode", "balance-tcp"), ("lacp", "active"), ("lacp-time", "fast")];
        let team = start(&a, spec(&options, kind)).unwrap();
        a.address("team0", &[("10.2.0.1", 24)]);
        eventually("an agreement", || bond(&team).members.iter().all(|member| member.enabled) && ovs.enabled() == 2);
        assert_eq!((bond(&team).lacp_status.as_str(), problems(&team).as_str()), ("negotiated", ""));
        reaches(&a, "by LACP");
        team.handle().set(vec![("lacp".into(), "off".into())]).unwrap();
        assert!(problems(&team).starts_with("balance-tcp works with LACP alone"), "{}", problems(&team));
        assert!(!team.report().unwrap().carrier);
        team.handle().set(vec![("lacp".into(), "active".into()), ("lacp-fallback-ab".into(), "true".into())]).unwrap();
        eventually("another agreement", || bond(&team).members.iter().all(|member| member.enabled));
        reaches(&a, "by LACP again");
    });
}

/// The switch's bond, and the other host at a plain port.
fn connect(ovs: &mut OpenVSwitch, a: &mut Host, b: &mut Host) {
    cable(a, "eth0", &mut ovs.host, "p0");
    cable(a, "eth1", &mut ovs.host, "p1");
    cable(b, "eth0", &mut ovs.host, "p2");
    ovs.vsctl("add-br br0 -- set bridge br0 datapath_type=netdev");
    ovs.vsctl(
        "add-bond br0 bond0 p0 p1 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast -- add-port br0 p2",
    );
    b.address("eth0", &[(ADDRESS, 24)]);
}

#[test]
fn the_next_process_begins_with_the_active_member_of_the_last() {
    on_each_dataplane(|kind| {
        let (mut a, mut switch) = (Host::quiet(), Switch::new());
        switch.join_all(&mut a, "eth", "a", 2);
        let persisted = PersistedTeam::of(&spec(&[("mode", "ovs-active-backup")], kind), None);
        let active = |service: &Service| service.handle().status().unwrap().active;
        let begin =
            |persisted: &PersistedTeam| a.netns.run(|| Service::start(persisted, Box::new(|_| ()))).unwrap().unwrap();
        let service = begin(&persisted);
        assert_eq!(active(&service).as_deref(), Some("eth0"));
        service.handle().activate("eth1").unwrap();
        drop(service);
        let recalled = a.netns.run(|| StateStore::here().unwrap().load("team0")).unwrap().unwrap().unwrap();
        let service = begin(&recalled);
        assert_eq!(active(&service).as_deref(), Some("eth1"));
        service.end().unwrap();
    });
}
