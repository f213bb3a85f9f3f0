//! nmstate, cloud-init, VyOS and FreeBSD.

use super::{left, read_all, shown};

/// The files as our own.
fn own(name: &str, path: &str, text: &str) -> (String, Vec<String>) {
    let import = read_all(name, &[(path, text)]).unwrap_or_else(|error| panic!("{error}"));
    let recognised =
        nicteam_formats::FORMATS.iter().find(|of| of.recognises(&nicteam_formats::Source::new(path, text)));
    assert_eq!(recognised.map(|of| of.name()), Some(name), "it is recognised");
    (shown(name, text), left(&import))
}

const NMSTATE: &str = "\
interfaces:
- name: bond0
  type: bond
  state: up
  mtu: 9000
  mac-address: 02:00:00:00:00:01
  ipv4:
    enabled: true
    dhcp: false
    address:
    - ip: 192.0.2.1
      prefix-length: 24
  ipv6:
    enabled: true
    autoconf: false
    address:
    - {ip: '2001:db8::1', prefix-length: 64}
  link-aggregation:
    mode: active-backup
    options:
      miimon: '140'
      primary: eth2
      arp_all_targets: any
    port: [eth1, eth2]
    ports-config:
    - {name: eth2, priority: 10}
- name: bond0.5
  type: vlan
  vlan: {base-iface: bond0, id: 5}
- name: eth1
  type: ethernet
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.254, next-hop-interface: bond0, metric: 150, table-id: 254}
  - {destination: 198.51.100.0/24, next-hop-address: 203.0.113.1, next-hop-interface: eth9}
dns-resolver: {config: {server: [192.0.2.53]}}
";

#[test]
fn of_nmstate() {
    let (team, left) = own("nmstate", "bond.yaml", NMSTATE);
    let expected = "[teams.bond0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"active-backup\"\nmiimon = 140\nprimary = \"eth2\"\n\
                    arp_all_targets = \"any\"\nprio = \"eth2:10\"\nmac = \"02:00:00:00:00:01\"\nmtu = 9000\naccept_ra = 0\n\
                    addresses = [\"192.0.2.1/24\", \"2001:db8::1/64\"]\nroutes = [\"default via 192.0.2.254 metric 150\"]\n";
    assert_eq!(team, expected);
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(
        left[0].starts_with("27 bond0.5 | it stands on the team") && left[1].starts_with("36 dns-resolver"),
        "{left:?}"
    );
    // A policy of Kubernetes has the state inside.
    let indented: String = NMSTATE.lines().map(|line| format!("    {line}\n")).collect();
    let policy =
        format!("apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nspec:\n  desiredState:\n{indented}");
    assert_eq!(own("nmstate", "policy.yaml", &policy).0, expected);
    let gone = "interfaces:\n- {name: b, type: bond, state: absent, link-aggregation: {mode: 802.3ad}}\n";
    assert_eq!(shown("nmstate", gone), "");
    let wrong = NMSTATE.replace("miimon", "miimom");
    let error = read_all("nmstate", &[("a", &wrong)]).unwrap_err().to_string();
    assert!(error.contains("a:21:7") && error.contains("did you mean `miimon`?"), "{error}");
}

const CLOUD_INIT: &str = "\
network:
  version: 1
  config:
    - type: physical
      name: eth1
      mac_address: '02:00:00:00:00:01'
    - type: bond
      name: bond0
      mac_address: '02:00:00:00:00:09'
      mtu: 9000
      bond_interfaces: [eth1, eth2]
      params:
        bond-mode: active-backup
        bond_miimon: 100
        bond-arp-ip-target: 192.0.2.8 192.0.2.9
      subnets:
        - type: static
          address: 192.0.2.1
          netmask: 255.255.255.0
          gateway: 192.0.2.254
          routes:
            - {network: 198.51.100.0, netmask: 255.255.255.0, gateway: 192.0.2.7}
        - type: dhcp6
    - type: vlan
      name: bond0.5
      vlan_link: bond0
      vlan_id: 5
";

#[test]
fn of_cloud_init() {
    let (team, left) = own("cloud-init", "50-curtin-networking.cfg", CLOUD_INIT);
    assert_eq!(
        team,
        "[teams.bond0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"active-backup\"\nmiimon = 100\n\
         arp_ip_target = \"192.0.2.8,192.0.2.9\"\nmac = \"02:00:00:00:00:09\"\nmtu = 9000\naddresses = [\"192.0.2.1/24\"]\n\
         routes = [\"default via 192.0.2.254\", \"198.51.100.0/24 via 192.0.2.7\"]\n"
    );
    assert!(left.iter().any(|left| left.starts_with("23 ") && left.contains("does not ask for addresses")), "{left:?}");
    assert!(left.iter().any(|left| left.starts_with("25 bond0.5 | it stands on the team")), "{left:?}");
    let wrong = CLOUD_INIT.replace("bond-mode", "bond-mod");
    let error = read_all("cloud-init", &[("a", &wrong)]).unwrap_err().to_string();
    assert!(error.contains("a:13:9") && error.contains("did you mean `bond-mode`?"), "{error}");
}

const VYOS: &str = "\
set interfaces bonding bond0 address '192.0.2.1/24'
set interfaces bonding bond0 description 'uplink'
set interfaces bonding bond0 hash-policy 'layer3+4'
set interfaces bonding bond0 lacp-rate 'fast'
set interfaces bonding bond0 member interface 'eth1'
set interfaces bonding bond0 member interface 'eth2'
set interfaces bonding bond0 min-links '1'
set interfaces bonding bond0 mtu '9000'
set interfaces bonding bond0 vif 10 address '198.51.100.1/24'
set interfaces ethernet eth1 hw-id '02:00:00:00:00:01'
set protocols static route 0.0.0.0/0 next-hop 192.0.2.254
";

#[test]
fn of_vyos() {
    let (team, left) = own("vyos", "a", VYOS);
    assert_eq!(
        team,
        "[teams.bond0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"802.3ad\"\nxmit_hash_policy = \"layer3+4\"\n\
         lacp_rate = \"fast\"\nmin_links = 1\nmtu = 9000\naddresses = [\"192.0.2.1/24\"]\nroutes = [\"default via 192.0.2.254\"]\n"
    );
    assert!(
        left.iter().any(|left| left.starts_with("9 ") && left.contains("name bond0.10 type vlan id 10")),
        "{left:?}"
    );
    assert!(left.iter().any(|left| left.starts_with("10 ")), "{left:?}");
    let old = "set interfaces bonding bond1 mode round-robin\nset interfaces bonding bond1 arp-monitor target 192.0.2.9\n\
               set interfaces bonding bond1 arp-monitor interval 100\nset interfaces ethernet eth3 bond-group bond1\n";
    let expected = "[teams.bond1]\nmembers = [\"eth3\"]\nmode = \"balance-rr\"\narp_interval = 100\narp_ip_target = \"192.0.2.9\"\n";
    assert_eq!(shown("vyos", old), expected);
    let error = read_all("vyos", &[("a", "set interfaces bonding b mode round-robbin\n")]).unwrap_err().to_string();
    assert!(error.contains("a:1:31") && error.contains("did you mean `round-robin`?"), "{error}");
}

const FREEBSD: &str = "\
hostname=\"a\"
ifconfig_igb0=\"up\"
ifconfig_igb1=\"up\"
cloned_interfaces=\"lagg0 lagg1\"
ifconfig_lagg0=\"laggproto lacp lagghash l3,l4 laggport igb0 laggport igb1 inet 192.0.2.1 netmask 0xffffff00 mtu 9000\"
ifconfig_lagg0_alias0=\"inet 192.0.2.2/32\"
ifconfig_lagg0_ipv6=\"inet6 2001:db8::1 prefixlen 64\"
ifconfig_lagg1=\"laggproto failover laggport em0 laggport em1 DHCP\"
vlans_lagg0=\"10 20\"
defaultrouter=\"192.0.2.254\"
";

#[test]
fn of_freebsd() {
    let (team, left) = own("freebsd", "/etc/rc.conf", FREEBSD);
    assert_eq!(
        team,
        "[teams.lagg0]\nmembers = [\"igb0\", \"igb1\"]\nmode = \"802.3ad\"\nxmit_hash_policy = \"L3,L4\"\nmtu = 9000\n\
         addresses = [\"192.0.2.1/24\", \"192.0.2.2/32\", \"2001:db8::1/64\"]\nroutes = [\"default via 192.0.2.254\"]\n\n\
         [teams.lagg1]\nmembers = [\"em0\", \"em1\"]\nmode = \"active-backup\"\nprimary = \"em0\"\n"
    );
    for words in ["8 ifconfig_lagg1", "9 vlans_lagg0", "the members have FreeBSD's names (igb0, igb1)"] {
        assert!(left.iter().any(|left| left.contains(words)), "{words}: {left:?}");
    }
    let error =
        read_all("freebsd", &[("a", "ifconfig_lagg0=\"laggproto lcap laggport a0\"\n")]).unwrap_err().to_string();
    assert!(error.contains("a:1:16") && error.contains("did you mean `lacp`?"), "{error}");
}
