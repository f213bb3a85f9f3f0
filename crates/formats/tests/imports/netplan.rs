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

/// As MAAS and cloud-init write it.
const MAAS: &str = "\
# This file is generated from information provided by the datasource. To disable cloud-init's
network:
    version: 2
    ethernets:
        lan0: {match: {macaddress: \"aa:bb:cc:dd:ee:f0\"}, mtu: 9000, set-name: lan0}
        lan1: {match: {driver: ixgbe}, mtu: 1500, set-name: lan1, wakeonlan: true}
    bonds:
        bond0:
            interfaces: [lan0, lan1]
            mtu: 9000
            dhcp4: true
            dhcp4-overrides: {use-dns: false}
            parameters: {mode: 802.3ad}
";

#[test]
fn cloud_init_and_names_that_netplan_gives() {
    let import = read_all("netplan", &[("/etc/netplan/50-cloud-init.yaml", MAAS)]).unwrap();
    let told: Vec<String> = import
        .disable
        .iter()
        .map(|of| format!("{} {}", of.place.line, of.command.as_deref().unwrap_or(&of.what)))
        .collect();
    let expected = [
        "1 echo 'network: {config: disabled}' > /etc/cloud/cloud.cfg.d/99-disable-network-config.cfg",
        "8 netplan set bonds.bond0=null",
        r"5 printf '[Match]\nMACAddress=aa:bb:cc:dd:ee:f0\n\n[Link]\nName=lan0\n' > /etc/systemd/network/10-lan0.link",
        "5 netplan set ethernets.lan0=null",
        r"6 printf '[Match]\nDriver=ixgbe\n\n[Link]\nName=lan1\nWakeOnLan=magic\n' > /etc/systemd/network/10-lan1.link",
        "6 netplan set ethernets.lan1=null",
    ];
    assert_eq!(told, expected);
    let told: Vec<String> = import.left.iter().map(|left| left.text.clone()).collect();
    // Of the mappings all, and the MTU that the team has anyway not at all.
    assert_eq!(told, ["mtu: 1500", "wakeonlan: true", "dhcp4: true", "dhcp4-overrides: {use-dns: false}"]);
    let mine = MAAS.replace("cloud-init", "us");
    let import = read_all("netplan", &[("/etc/netplan/60-mine.yaml", &mine)]).unwrap();
    assert!(!import.disable.iter().any(|of| of.command.as_deref().unwrap_or("").contains("cloud")), "{import:#?}");
}

#[test]
fn router_advertisements_are_refused_as_before() {
    let text = "network:\n  bonds:\n    bond0: {interfaces: [e0], accept-ra: false}\n";
    let import = read("netplan", text);
    assert_eq!((import.network.teams[0].accept_ra, left(&import)), (Some(0), Vec::new()));
    assert!(shown("netplan", text).contains("accept_ra = 0\n"));
    assert!(super::write("netplan", &import.network).files[0].text.contains("      accept-ra: false\n"));
}

#[test]
fn what_network_manager_builds_has_its_metric() {
    let bond = |renderer: &str| {
        format!(
            "network:\n  renderer: networkd\n  bonds:\n    renderer: {renderer}\n    bond0:\n      interfaces: [e0]\n      \
             addresses: [10.0.0.1/24, \"2001:db8::1/64\"]\n      routes: [{{to: default, via: 10.0.0.9}}, \
             {{to: 10.9.0.0/16, via: 10.0.0.9, metric: 7, mtu: 1400}}]\n"
        )
    };
    let text = bond("NetworkManager");
    let routes = "routes = [\"default via 10.0.0.9 metric 300\", \"10.9.0.0/16 via 10.0.0.9 metric 7\"]\n";
    assert!(shown("netplan", &text).contains(routes), "{}", shown("netplan", &text));
    assert!(shown("netplan", &text).contains("accept_ra = 0\n"));
    assert_eq!(left(&read("netplan", &text)), ["8 mtu: 1400 | the route is taken over without `mtu`"]);
    let other = shown("netplan", &bond("networkd"));
    assert!(other.contains("\"default via 10.0.0.9\"") && !other.contains("accept_ra"), "{other}");
}

#[test]
fn a_later_file_overrides() {
    let files = [
        ("00-installer-config.yaml", "network:\n  ethernets: {e0: {dhcp4: true}, e1: {dhcp4: true}}\n"),
        (
            "10-bond.yaml",
            "network:\n  ethernets: {e0: {dhcp4: false}, e1: {dhcp4: no, match: {macaddress: \"02:00:00:00:00:09\"}}}\n  \
             bonds: {b: {interfaces: [e0], dhcp4: true, accept-ra: true}}\n",
        ),
        (
            "20-more.yaml",
            "network:\n  ethernets: {e1: {set-name: lan1}}\n  bonds: {b: {interfaces: [e1], dhcp4: false, accept-ra: no}}\n",
        ),
    ];
    let import = read_all("netplan", &files).unwrap_or_else(|error| panic!("{error}"));
    let team = &import.network.teams[0];
    assert_eq!((team.members.join(","), team.accept_ra, left(&import)), ("e0,lan1".to_owned(), Some(0), Vec::new()));
    let told: Vec<&str> = import.disable.iter().filter_map(|of| of.command.as_deref()).collect();
    let expected = [
        "netplan set bonds.b=null",
        "netplan set ethernets.e0=null",
        "netplan set ethernets.e1=null",
        r"printf '[Match]\nMACAddress=02:00:00:00:00:09\n\n[Link]\nName=lan1\n' > /etc/systemd/network/10-lan1.link",
    ];
    assert_eq!(told, expected);
    // Without the name the error says where the match stands.
    let error =
        read_all("netplan", &[files[0], files[1], ("20-more.yaml", "network: {bonds: {b: {interfaces: [e1]}}}\n")]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("by `macaddress: 02:00:00:00:00:09` at 10-bond.yaml:2:"), "{error}");
}
