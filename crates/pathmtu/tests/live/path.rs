//! Two hosts at one switch, or with a router between, and one MTU that is not as the others.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use nicteam_pathmtu::{Limiter, OneWay, Options, Report, Verdict, examine};
use nicteam_sys::netns;
use nicteam_testnet::{Host, Switch, cable, may_make_networks};

const JUMBO: u32 = 9000;
/// What a veth of MTU 1500 takes in: it leaves room for a tag.
const TAKEN: u32 = 1504;

/// Two hosts and a switch, by a path of both versions of IP.
struct Network {
    a: Host,
    switch: Switch,
    b: Host,
}

impl Network {
    /// With these MTUs: of host a, of its port, of the port of b, of host b.
    fn new([a_mtu, a_port, b_port, b_mtu]: [u32; 4]) -> Network {
        let (mut a, mut b, mut switch) = (Host::new(), Host::new(), Switch::new());
        // A bridge that hands packets to the host's filters puts pieces together, and cuts them anew.
        for packets in ["iptables", "ip6tables"] {
            let calls = format!("bridge/bridge-nf-call-{packets}");
            switch
                .host
                .netns
                .run(|| netns::read_sysctl(&calls).map(|_| netns::sysctl(&calls, "0").unwrap()))
                .unwrap()
                .ok();
        }
        for host in [&a, &b] {
            // Two devices at one switch, each of which answers for its own address alone.
            host.netns.run(|| netns::sysctl("ipv4/conf/all/arp_ignore", "1")).unwrap().unwrap();
        }
        switch.join(&mut a, "eth0", "a0");
        switch.join(&mut b, "eth0", "b0");
        set_mtu(&mut a, "eth0", a_mtu);
        set_mtu(&mut switch.host, "a0", a_port);
        set_mtu(&mut switch.host, "b0", b_port);
        set_mtu(&mut b, "eth0", b_mtu);
        a.address("eth0", &[("10.0.0.1", 24), ("fd00::1", 64)]);
        b.address("eth0", &[("10.0.0.2", 24), ("fd00::2", 64)]);
        Network { a, switch, b }
    }

    /// What host a finds out, once by each version; the same.
    #[track_caller]
    fn verdict(&self) -> Verdict {
        let [v4, v6] = ["10.0.0.2", "fd00::2"].map(|to| {
            let (found, took) = asked(&self.a, to, None);
            assert!(took < Duration::from_secs(10), "{took:?}");
            found.verdict.unwrap_or_else(|| panic!("{found:?}"))
        });
        // Pieces of IPv6 have a header more, and both are rounded.
        let without_piece = |verdict: Verdict| Verdict { other_mtu: None, ..verdict };
        let alike = |one: OneWay, other: OneWay| match (one, other) {
            (OneWay::Passes { bytes: one }, OneWay::Passes { bytes: other }) => one.abs_diff(other) < 8,
            _ => one == other,
        };
        let (one, other) = (without_piece(v4), without_piece(v6));
        assert!(alike(one.there, other.there) && alike(one.back, other.back), "{v4:?} {v6:?}");
        v4
    }
}

fn set_mtu(host: &mut Host, device: &str, mtu: u32) {
    let index = host.index(device);
    host.netlink.set_mtu(index, mtu).unwrap();
}

fn asked(host: &Host, to: &str, wanted: Option<u32>) -> (Report, Duration) {
    let to: IpAddr = to.parse().unwrap();
    let begun = Instant::now();
    let found = host.netns.run(|| examine(&Options { to, from: None, device: None, wanted })).unwrap().unwrap();
    (found, begun.elapsed())
}

fn passes(bytes: u32) -> OneWay {
    OneWay::Passes { bytes }
}

fn limited(bytes: u32, by: Limiter) -> OneWay {
    OneWay::Limited { bytes, by }
}

#[test]
fn a_path_without_fault_passes_all_both_ways() {
    if !may_make_networks() {
        return;
    }
    let verdict = Network::new([JUMBO; 4]).verdict();
    assert_eq!(verdict, Verdict { there: passes(JUMBO), back: passes(JUMBO), other_mtu: None });
    let verdict = Network::new([1500; 4]).verdict();
    assert_eq!((verdict.there, verdict.back, verdict.other_mtu), (passes(1500), passes(1500), Some(1500)));
}

#[test]
fn a_small_mtu_at_the_near_end_is_found_in_the_way_back() {
    if !may_make_networks() {
        return;
    }
    let network = Network::new([1500, JUMBO, JUMBO, JUMBO]);
    let verdict = network.verdict();
    assert_eq!((verdict.there, verdict.back), (passes(1500), limited(TAKEN, Limiter::ThisHost)));
    let wanted = asked(&network.a, "10.0.0.2", Some(JUMBO)).0.verdict.unwrap();
    assert_eq!(wanted.there, limited(1500, Limiter::ThisHost));
}

#[test]
fn a_small_mtu_at_the_far_end_is_found_in_the_way_there() {
    if !may_make_networks() {
        return;
    }
    let verdict = Network::new([JUMBO, JUMBO, JUMBO, 1500]).verdict();
    assert_eq!((verdict.there, verdict.back), (limited(TAKEN, Limiter::OtherHost), passes(1500)));
    assert_eq!(verdict.other_mtu, Some(1500));
}

#[test]
fn a_small_mtu_at_a_port_of_the_switch_is_found_in_both_ways() {
    if !may_make_networks() {
        return;
    }
    let both = limited(TAKEN, Limiter::BlackHole);
    for mtus in [[JUMBO, 1500, JUMBO, JUMBO], [JUMBO, JUMBO, 1500, JUMBO]] {
        let verdict = Network::new(mtus).verdict();
        assert_eq!((verdict.there, verdict.back, verdict.other_mtu), (both, both, None), "{mtus:?}");
    }
}

#[test]
fn it_is_found_within_three_seconds() {
    if !may_make_networks() {
        return;
    }
    // The bound of the product is tested where nothing else runs; here it guards against a search that asks one by one.
    for mtus in [[JUMBO, 1500, JUMBO, JUMBO], [JUMBO, JUMBO, JUMBO, 2345], [3456, JUMBO, JUMBO, JUMBO]] {
        let network = Network::new(mtus);
        let (found, took) = asked(&network.a, "10.0.0.2", None);
        assert!(took < Duration::from_secs(6), "{took:?}: {found:?}");
        eprintln!("{mtus:?}: {took:?}");
    }
}

#[test]
fn each_of_two_paths_is_itself() {
    if !may_make_networks() {
        return;
    }
    let mut network = Network::new([JUMBO; 4]);
    network.switch.join(&mut network.a, "eth1", "a1");
    network.switch.join(&mut network.b, "eth1", "b1");
    for (host, device) in [(&mut network.a, "eth1"), (&mut network.switch.host, "a1"), (&mut network.b, "eth1")] {
        set_mtu(host, device, JUMBO);
    }
    network.a.address("eth1", &[("10.0.1.1", 24)]);
    network.b.address("eth1", &[("10.0.1.2", 24)]);
    let second = asked(&network.a, "10.0.1.2", None).0;
    assert_eq!(second.from, IpAddr::from([10, 0, 1, 1]));
    assert!(network.verdict().there == passes(JUMBO) && second.verdict.unwrap().there.is_limited());
}

/// Host a, a router, host b; the router's device towards b has an MTU of 1400.
fn routed() -> [Host; 3] {
    let (mut a, mut router, mut b) = (Host::new(), Host::new(), Host::new());
    cable(&mut a, "eth0", &mut router, "a0");
    cable(&mut router, "b0", &mut b, "eth0");
    router.netns.run(|| netns::sysctl("ipv4/ip_forward", "1")).unwrap().unwrap();
    set_mtu(&mut router, "b0", 1400);
    a.address("eth0", &[("10.0.0.1", 24)]);
    router.address("a0", &[("10.0.0.9", 24)]);
    router.address("b0", &[("10.0.1.9", 24)]);
    b.address("eth0", &[("10.0.1.2", 24)]);
    for (host, gateway) in [(&a, "10.0.0.9"), (&b, "10.0.1.9")] {
        let added = host.netns.run(|| {
            std::process::Command::new("ip").args(["route", "add", "default", "via", gateway]).status().unwrap()
        });
        assert!(added.unwrap().success());
    }
    [a, router, b]
}

#[test]
fn a_router_that_refuses_is_named() {
    if !may_make_networks() {
        return;
    }
    let [a, _router, _b] = routed();
    let verdict = asked(&a, "10.0.1.2", None).0.verdict.unwrap();
    let router = Limiter::Router { address: [10, 0, 0, 9].into(), mtu: 1400 };
    // The other host sends 1500, which the router's device of 1400 takes no more in than it sends.
    assert_eq!((verdict.there, verdict.back), (limited(1400, router), limited(1404, Limiter::BlackHole)));
}

#[test]
fn a_host_that_does_not_answer_has_no_verdict() {
    if !may_make_networks() {
        return;
    }
    let mut network = Network::new([1500; 4]);
    network.b.set_up("eth0", false);
    let found = asked(&network.a, "10.0.0.2", None).0;
    assert_eq!((found.verdict, found.round_trip, found.own_mtu), (None, None, 1500));
}
