//! A DHCP lease of a member, given and asked for by systemd-networkd.

use std::net::IpAddr;
use std::path::Path;

use nicteam_netlink::object::Lifetimes;
use nicteam_testnet::{Host, Switch, eventually};

use super::advertised::lifetimes;
use super::{Network, TEAM};
use crate::common::lab::has;
use crate::common::networkd::networkd;
use crate::common::teams::{Killed, TeamHost, may_test_bpf};

const SERVER: &str = "[Match]\nName=eth0\n[Network]\nLinkLocalAddressing=no\nIPv6AcceptRA=no\nAddress=10.3.0.2/24\n\
                      DHCPServer=yes\n[DHCPServer]\nPoolOffset=77\nPoolSize=1\nDefaultLeaseTimeSec=3600\n\
                      MaxLeaseTimeSec=3600\nEmitDNS=no\nPersistLeases=no\n";
const CLIENT: &str = "[Match]\nName=DEVICE\n[Network]\nLinkLocalAddressing=no\nIPv6AcceptRA=no\nDHCP=ipv4\n";
const LEASED: &str = "10.3.0.77";

/// A network without addresses: networkd does not get over finding its own there.
fn bare() -> Network {
    let (mut near, mut far, mut switch) = (Host::quiet(), Host::quiet(), Switch::new());
    switch.join_all(&mut near, "eth", "a", 2);
    switch.join(&mut far, "eth0", "b0");
    Network { near: TeamHost::new(near), far, switch: TeamHost::new(switch.host) }
}

fn run(network: &Network, host: &Host, name: &str, text: &str) -> Killed {
    let file = network.file(&format!("{name}/network/10-{name}.network"), text);
    networkd(host, Path::new(&file).parent().unwrap())
}

fn lease(network: &mut Network, device: &str) -> Option<Lifetimes> {
    let leased: IpAddr = LEASED.parse().unwrap();
    lifetimes(network, device, |address| address == leased).map(|(_, lifetimes)| lifetimes)
}

#[test]
fn a_lease_moves_with_its_end_and_comes_back() {
    if !may_test_bpf() || !has(&["networkctl", "ip"]) {
        return;
    }
    let mut network = bare();
    let _server = run(&network, &network.far, "server", SERVER);
    let _client = run(&network, &network.near.host, "client", &CLIENT.replace("DEVICE", "eth0"));
    eventually("the lease", || lease(&mut network, "eth0").is_some());
    let file = network.file("teams.toml", TEAM);
    for command in ["check", "up"] {
        let said = network.done(&[command, &file]);
        let words = format!("{LEASED}/24 of eth0 is a lease: it moves to team0, and ends in ");
        let left_s: u32 = said.split_once(&words).unwrap().1.split(' ').next().unwrap().parse().unwrap();
        assert!((3000..=3600).contains(&left_s), "{said}");
    }
    let moved = lease(&mut network, "team0").unwrap();
    assert!((3000..=3600).contains(&moved.valid_s), "{moved:?}");
    assert_eq!(lease(&mut network, "eth0"), None);

    // Some time later, or renewed by a client at the team.
    network.ip(&format!("address change {LEASED}/24 dev team0 valid_lft 1000 preferred_lft 1000"));
    network.done(&["down", "team0"]);
    let back = lease(&mut network, "eth0").unwrap();
    assert!((900..=1000).contains(&back.valid_s), "{back:?}");
}
