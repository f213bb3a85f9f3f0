//! Addresses and routes that a router advertises go on at the team.

use std::net::{IpAddr, Ipv6Addr};

use nicteam_netlink::object::{Address, Lifetimes};
use nicteam_sys::netns;
use nicteam_testnet::{Router, assert_becomes, eventually};

use super::{Network, TEAM};
use crate::common::teams::may_test_bpf;

const PREFIX: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0x77, 0, 0, 0, 0, 0);

/// The address of the prefix that a device has, and how long it lasts; `None`: it has none, or cannot use it yet.
pub(super) fn lifetimes(
    network: &mut Network,
    device: &str,
    of: impl Fn(IpAddr) -> bool,
) -> Option<(IpAddr, Lifetimes)> {
    let index = network.near.host.index(device);
    let addresses = network.near.host.netlink.address_objects().unwrap();
    let own = |address: &&Address| address.index() == index && !address.is_tentative();
    addresses.iter().filter(own).find_map(|address| {
        let own = address.address().filter(|own| of(*own))?;
        Some((own, address.lifetimes()?))
    })
}

fn is_advertised(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.segments()[..4] == PREFIX.segments()[..4])
}

/// The device of the default route that the kernel has from an advertisement, and the seconds until it ends.
fn default_route(network: &Network, metric: &str) -> Option<(String, u32)> {
    let words = ["-6", "route", "show", "default", "proto", "ra", "metric", metric];
    let output = network.near.host.netns.run(|| std::process::Command::new("ip").args(words).output());
    let text = String::from_utf8(output.unwrap().unwrap().stdout).unwrap();
    let after = |word: &str| text.split_once(word)?.1.split_whitespace().next();
    Some((after(" dev ")?.to_owned(), after(" expires ")?.trim_end_matches("sec").parse().unwrap()))
}

/// The metric of the kernel's own, and of a copy that lasts until it ends.
const OWN: &str = "1024";
const COPY: &str = "1025";

/// What can be compared, without the copy.
fn snapshot(network: &Network) -> Vec<String> {
    let mut snapshot = network.snapshot();
    snapshot.retain(|line| !line.contains("proto ra metric 1025"));
    snapshot
}

#[test]
fn what_a_router_advertised_moves_is_renewed_and_comes_back() {
    if !may_test_bpf() {
        return;
    }
    // With a default route that somebody has set, of the same metric.
    let mut network = Network::new();
    // One member listens.
    network.near.host.netns.run(|| netns::sysctl("ipv6/conf/eth1/accept_ra", "0")).unwrap().unwrap();
    let router = Router::on(&mut network.far, "eth0");
    router.advertise(1800, PREFIX, 4000, 3000);
    let at = |network: &mut Network, device: &str| lifetimes(network, device, is_advertised);
    eventually("the address", || at(&mut network, "eth0").is_some() && default_route(&network, OWN).is_some());
    let before = network.snapshot();
    let (address, _) = at(&mut network, "eth0").unwrap();

    let file = network.file("teams.toml", TEAM);
    let said = network.done(&["check", &file]);
    assert!(said.contains(&format!("{address}/64 of eth0 comes from router advertisements or DHCPv6")), "{said}");
    assert!(said.contains("over eth0 was advertised by a router: it moves to team0 until it ends"), "{said}");
    network.done(&["up", &file]);
    let (same, moved) = at(&mut network, "team0").unwrap();
    assert_eq!(same, address);
    assert!(moved.valid_s <= 4000 && moved.preferred_s <= 3000, "{moved:?}");
    let (device, expires_s) = default_route(&network, COPY).unwrap();
    assert!(device == "team0" && expires_s <= 1800, "{device}: {expires_s} s");
    assert!(network.done(&["up", &file]).contains("nothing to do"));

    router.advertise(5400, PREFIX, 9000, 8000);
    eventually("the renewed address", || at(&mut network, "team0").is_some_and(|(_, now)| now.valid_s > 4000));
    eventually("the renewed route", || default_route(&network, OWN).is_some_and(|(_, expires_s)| expires_s > 1800));
    let at_team = network.snapshot();
    let made = at_team.iter().filter(|line| line.starts_with("team0") && line.contains("2001:db8:77:")).count();
    assert_eq!(made, 1, "the address is renewed, and no other one made: {at_team:#?}");
    assert!(!at_team.iter().any(|line| line.starts_with("eth") && line.contains("2001:db8:77:")), "{at_team:#?}");
    assert!(network.done(&["up", &file]).contains("nothing to do"));

    // A file may say that the team takes none.
    network.file("teams.toml", &format!("{TEAM}accept_ra = 0\n"));
    network.done(&["up", &file]);
    router.advertise(9000, PREFIX, 20_000, 20_000);
    std::thread::sleep(std::time::Duration::from_millis(200));
    let (_, kept) = at(&mut network, "team0").unwrap();
    assert!(kept.valid_s <= 9000, "{kept:?}");

    network.done(&["down", "team0"]);
    let (same, back) = at(&mut network, "eth0").unwrap();
    assert!(same == address && (4001..=9000).contains(&back.valid_s), "as it was at the team: {back:?}");
    let (device, expires_s) = default_route(&network, COPY).unwrap();
    assert!(device == "eth0" && (1801..=5400).contains(&expires_s), "{device}: {expires_s} s");
    router.advertise(9000, PREFIX, 20_000, 20_000);
    eventually("the renewed address", || at(&mut network, "eth0").is_some_and(|(_, now)| now.valid_s > 9000));
    assert_becomes(|| snapshot(&network), &before, "down");
}
