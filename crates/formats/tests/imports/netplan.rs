//! netplan's YAML.

use super::{left, read, read_all, shown};

/// netplan's own example (examples/bonding.yaml), with static addresses.
const TEXT: &str = "\
network:
  version: 2
  renderer: networkd
  bonds:
    bond0:
      interfaces: [enp3s0, enp4s0]
      dhcp4: no
      addresses: [192.168.1.252/24, \"2001:db8::1/64\"]
      gateway4: 192.168.1.1
      routes:
        - to: 10.9.0.0/16
          via: 192.168.1.9
          metric: 100
          table: 5
        - to: default
          via: \"2001:db8::f\"
      macaddress: 02:00:00:00:00:01
      mtu: 9000
      parameters:
        mode: active-backup
        primary: enp3s0
        mii-monitor-interval: 100
        up-delay: 1s
        fail-over-mac-policy: active
        all-members-active: true
  ethernets:
    enp3s0: {}
    enp4s0: {dhcp4: false}
";

#[test]
fn a_bond() {
    assert_eq!(
        shown("netplan", TEXT),
        "[teams.bond0]\nmembers = [\"enp3s0\", \"enp4s0\"]\nmode = \"active-backup\"\nprimary = \"enp3s0\"\nmiimon = 100\n\
         updelay = 1000\nfail_over_mac = \"active\"\nall_slaves_active = 1\nmac = \"02:00:00:00:00:01\"\nmtu = 9000\n\
         addresses = [\"192.168.1.252/24\", \"2001:db8::1/64\"]\n\
         routes = [\"default via 192.168.1.1\", \"10.9.0.0/16 via 192.168.1.9 metric 100 table 5\", \"default via 2001:db8::f\"]\n"
    );
    let import = read("netplan", TEXT);
    assert_eq!(left(&import), [""; 0]);
    let disable: Vec<_> = import.disable.iter().filter_map(|of| of.command.as_deref()).collect();
    let expected =
        ["netplan set bonds.bond0=null", "netplan set ethernets.enp3s0=null", "netplan set ethernets.enp4s0=null"];
    assert_eq!(disable, expected);
}

#[test]
fn files_are_merged_by_their_names() {
    let files = [
        ("/etc/netplan/90-b.yaml", "network:\n  bonds:\n    bond0:\n      interfaces: [e1]\n      mtu: 9000\n"),
        (
            "/run/netplan/10-a.yaml",
            "network:\n  bonds:\n    bond0:\n      interfaces: [e0]\n      mtu: 1400\n      parameters: {mode: 802.3ad}\n",
        ),
    ];
    let import = read_all("netplan", &files).unwrap();
    let team = &import.network.teams[0];
    assert_eq!((team.members.join(","), team.mtu), ("e0,e1".to_owned(), Some(9000)));
}

#[test]
fn what_a_team_has_not_stays() {
    let text = "\
network:
  ethernets:
    a: {match: {name: eth0}, addresses: [10.0.0.9/24], wakeonlan: true}
    b: {match: {macaddress: \"02:00:00:00:00:09\"}, set-name: lan1}
    other: {dhcp4: true}
  bonds:
    bond0:
      interfaces: [a, b]
      dhcp4: true
      nameservers: {addresses: [9.9.9.9]}
      addresses:
        - 10.0.0.1/24: {label: \"x:1\"}
      parameters: {mode: balance-rr, lacp-rate: fast}
      routes:
        - {to: 10.1.0.0/16, type: blackhole}
        - {to: default, via: 10.5.0.1, on-link: true}
      openvswitch: {external-ids: {x: y}}
  vlans:
    bond0.5: {id: 5, link: bond0}
";
    let import = read("netplan", text);
    let team = &import.network.teams[0];
    assert_eq!(team.members, ["eth0", "lan1"]);
    let routes: Vec<String> = team.routes.iter().map(ToString::to_string).collect();
    assert_eq!(routes, ["10.5.0.1/32", "default via 10.5.0.1"]);
    let all = left(&import);
    let lines: Vec<&str> = all.iter().filter_map(|left| left.split(' ').next()).collect();
    assert_eq!(lines, ["3", "3", "9", "10", "12", "13", "15", "17", "19"], "{all:#?}");
}

#[test]
fn an_open_vswitch_bond() {
    let text = "network:\n  bonds:\n    bond0:\n      interfaces: [a, b]\n      openvswitch: {lacp: active}\n      parameters: {mode: balance-tcp}\n";
    assert!(shown("netplan", text).contains("mode = \"ovs-balance-tcp\"\nlacp = \"active\"\n"));
}
