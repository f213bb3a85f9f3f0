//! What runs on a host is read as it is.

use std::net::SocketAddr;

use nicteam_observe::bundles::{Bundle, Kind, Rates};
use nicteam_observe::{Host as Observed, Sampler};
use nicteam_testnet::{Host, OpenVSwitch, cables, eventually, may_make_networks};

use crate::common::{observed, start, team};

#[test]
fn a_team_is_read_with_its_partner_and_what_it_carries() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = (Host::new(), Host::new());
    cables(&mut a, &mut b, 2);
    assert_eq!(observed(&a), Observed::default(), "devices alone are no bundle");
    let options = [("mode", "802.3ad"), ("lacp_rate", "fast"), ("miimon", "10"), ("xmit_hash_policy", "layer3+4")];
    let teams = [start(&a, &options), start(&b, &options)];
    eventually("an aggregate of both", || team(&a).members.iter().all(|member| member.active));
    let bundle = team(&a);
    assert_eq!(
        (bundle.kind, bundle.mode.as_str(), bundle.hash_policy.as_deref()),
        (Kind::Nicteam, "802.3ad", Some("layer3+4"))
    );
    let lacp = bundle.lacp.clone().unwrap();
    assert_eq!((lacp.ports, lacp.negotiated, lacp.partner), (Some(2), Some(true), team(&b).lacp.unwrap().system));
    let [first, second] = [0, 1].map(|at| bundle.members[at].lacp.clone().unwrap());
    assert!(first.attached && second.attached && first.aggregator == second.aggregator, "{bundle:?}");
    assert_eq!(bundle.mtu, Some(1500));
    assert!(bundle.members.iter().all(|member| member.mtu == Some(1500) && member.speed_mbps == Some(10_000)));

    a.address("team0", &[("10.2.0.1", 24)]);
    b.address("team0", &[("10.2.0.2", 24)]);
    let mut sampler = a.netns.run(Sampler::open).unwrap().unwrap();
    let before = sampler.sample().unwrap();
    let from = a.udp(([10, 2, 0, 1], 7001).into());
    for _ in 0..100 {
        from.send_to(b"x", SocketAddr::from(([10, 2, 0, 2], 7002))).unwrap();
    }
    let rates = Rates::between(&before, &sampler.sample().unwrap()).unwrap();
    let carried: u64 = bundle.members.iter().map(|member| rates.of(&member.name).counted.tx_packets).sum();
    assert!(carried >= 100, "{rates:?}");
    teams.into_iter().for_each(|team| team.end().unwrap());
    assert_eq!(observed(&a), Observed::default());
}

#[test]
fn a_member_that_lost_its_link_is_read_so() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = (Host::new(), Host::new());
    cables(&mut a, &mut b, 2);
    let service = start(&a, &[("mode", "active-backup"), ("miimon", "10")]);
    assert_eq!(team(&a).active.as_deref(), Some("eth0"));
    b.set_up("eth0", false);
    eventually("the failover", || team(&a).active.as_deref() == Some("eth1"));
    let bundle = team(&a);
    let [cut, other] = &bundle.members[..] else { panic!("{bundle:?}") };
    assert_eq!((cut.up, cut.carrier, cut.active, cut.link_failures), (false, false, false, Some(1)));
    assert_eq!((other.up, other.active, other.link_failures), (true, true, Some(0)));
    assert!(bundle.problems.iter().any(|problem| problem.text.contains("eth0")), "{bundle:?}");
    service.end().unwrap();
}

#[test]
fn bonds_of_a_real_open_vswitch_are_read() {
    let Some(mut switch) = OpenVSwitch::start_or_skip() else { return };
    let mut host = Host::new();
    cables(&mut host, &mut switch.host, 2);
    switch.vsctl("add-br br0 -- set bridge br0 datapath_type=netdev");
    switch.vsctl("add-bond br0 bond0 eth0 eth1 bond_mode=balance-slb lacp=active");
    let read = || nicteam_observe::openvswitch_at(&switch.control_socket()).unwrap();
    // It waits for a partner first.
    let has_given_up = |bond: &Bundle| bond.lacp.as_ref().is_some_and(|lacp| lacp.negotiated == Some(false));
    eventually("the bond", || read().first().is_some_and(|bond| bond.members.len() == 2 && has_given_up(bond)));
    let [bond] = &read()[..] else { panic!("{:?}", read()) };
    assert_eq!((bond.kind, bond.name.as_str(), bond.mode.as_str()), (Kind::OpenVSwitch, "bond0", "balance-slb"));
    let lacp = bond.lacp.as_ref().unwrap();
    assert_eq!(lacp.partner, None, "nobody answers");
    assert!(bond.members.iter().all(|member| member.lacp.as_ref().is_some_and(|port| port.actor.is_some())));
}
