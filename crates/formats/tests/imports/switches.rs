//! The switch's end.

use nicteam_formats::{Network, Team};

use super::write;

fn team(name: &str, options: &[(&str, &str)]) -> Team {
    Team {
        name: name.to_owned(),
        members: vec!["eth1".to_owned(), "eth2".to_owned()],
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..Team::default()
    }
}

fn text(teams: &[Team]) -> String {
    by("cisco", teams)
}

fn by(maker: &str, teams: &[Team]) -> String {
    let written = write(maker, &Network { teams: teams.to_vec() });
    assert_eq!(written.left, [""; 0]);
    written.files[0].text.clone()
}

/// The lines that a switch carries out.
fn commands(maker: &str, teams: &[Team]) -> String {
    let is_command = |line: &&str| !line.starts_with(['!', '#', ';']);
    by(maker, teams).lines().filter(is_command).map(|line| format!("{line}\n")).collect()
}

#[test]
fn each_makers_words() {
    let mut lacp = team(
        "team0",
        &[("mode", "802.3ad"), ("xmit_hash_policy", "layer3+4"), ("lacp_rate", "fast"), ("min_links", "2")],
    );
    lacp.mtu = Some(9000);
    let fixed = team("t", &[("mode", "balance-xor"), ("xmit_hash_policy", "layer2")]);
    for (maker, of_lacp, of_fixed) in [
        (
            "arista",
            "interface Ethernet1-2\n   description team0\n   channel-group 1 mode active\n   lacp timer fast\n\
             interface Port-Channel1\n   description team0\n   port-channel min-links 2\n",
            "interface Ethernet1-2\n   description t\n   channel-group 1 mode on\ninterface Port-Channel1\n   description t\n",
        ),
        (
            "juniper",
            "set chassis aggregated-devices ethernet device-count 1\ndelete interfaces ge-0/0/0 unit 0\n\
             set interfaces ge-0/0/0 ether-options 802.3ad ae0\ndelete interfaces ge-0/0/1 unit 0\n\
             set interfaces ge-0/0/1 ether-options 802.3ad ae0\nset interfaces ae0 description team0\n\
             set interfaces ae0 aggregated-ether-options lacp active\n\
             set interfaces ae0 aggregated-ether-options lacp periodic fast\n\
             set interfaces ae0 aggregated-ether-options minimum-links 2\nset interfaces ae0 mtu 9014\n\
             set interfaces ae0 unit 0 family ethernet-switching\n",
            "set chassis aggregated-devices ethernet device-count 1\ndelete interfaces ge-0/0/0 unit 0\n\
             set interfaces ge-0/0/0 ether-options 802.3ad ae0\ndelete interfaces ge-0/0/1 unit 0\n\
             set interfaces ge-0/0/1 ether-options 802.3ad ae0\nset interfaces ae0 description t\n\
             set interfaces ae0 unit 0 family ethernet-switching\n\
             set forwarding-options enhanced-hash-key hash-mode layer2-header\n",
        ),
        (
            "mikrotik",
            "/interface bridge port remove [find interface=ether1]\n/interface bridge port remove [find interface=ether2]\n\
             /interface ethernet set ether1 mtu=9000 l2mtu=9092\n/interface ethernet set ether2 mtu=9000 l2mtu=9092\n\
             /interface bonding add name=bond1 slaves=ether1,ether2 mode=802.3ad transmit-hash-policy=layer-3-and-4 \
             lacp-rate=1sec min-links=2 mtu=9000 comment=team0\n/interface bridge port add bridge=bridge1 interface=bond1\n",
            "/interface bridge port remove [find interface=ether1]\n/interface bridge port remove [find interface=ether2]\n\
             /interface bonding add name=bond1 slaves=ether1,ether2 mode=balance-xor transmit-hash-policy=layer-2 \
             comment=t\n/interface bridge port add bridge=bridge1 interface=bond1\n",
        ),
        (
            "procurve",
            "trunk 1-2 trk1 lacp\ninterface 1-2\n   name \"team0\"\n   exit\ntrunk-load-balance L4-based\n",
            "trunk 1-2 trk1 trunk\ninterface 1-2\n   name \"t\"\n   exit\ntrunk-load-balance L3-based\n",
        ),
    ] {
        assert_eq!(commands(maker, std::slice::from_ref(&lacp)), of_lacp, "{maker}");
        assert_eq!(commands(maker, std::slice::from_ref(&fixed)), of_fixed, "{maker}");
        for mode in ["active-backup", "balance-alb", "stripe"] {
            let none = [team("t", &[("mode", mode)])];
            assert_eq!(commands(maker, &none), "", "{maker} {mode}");
            assert!(by(maker, &none).contains("no group, plain access or trunk ports"), "{maker} {mode}");
        }
    }
}

#[test]
fn a_group_that_agrees() {
    let mut team = team("team0", &[("mode", "802.3ad"), ("xmit_hash_policy", "layer3+4"), ("min_links", "2")]);
    team.mtu = Some(9000);
    assert_eq!(
        text(&[team]),
        "\
! Written by `nicteam export --to cisco`: what to type at the switch, in `configure terminal`.
!
! team0, mode 802.3ad: the ports that eth1, eth2 lead to are one group.
! By hand: put those ports in place of the range below, and the VLAN they had, if any, on the group, too.
interface range GigabitEthernet0/1 - 2
 description team0
 channel-group 1 mode active
interface Port-channel1
 description team0
 port-channel min-links 2
! The team's MTU is 9000: `system mtu jumbo 9000` and a restart of the switch, unless it is set already.
!
! Of the whole switch: what it hashes to choose a link towards a team.
port-channel load-balance src-dst-ip
"
    );
}

#[test]
fn groups_follow_the_mode() {
    for mode in ["balance-rr", "balance-xor", "broadcast"] {
        assert!(text(&[team("t", &[("mode", mode)])]).contains("channel-group 1 mode on\n"), "{mode}");
    }
    for mode in ["active-backup", "balance-tlb", "balance-alb", "stripe", "ovs-balance-slb", "ovs-active-backup"] {
        let text = text(&[team("t", &[("mode", mode)])]);
        assert!(!text.contains("\n channel-group") && text.contains("no group, plain"), "{mode}: {text}");
        assert!(!text.contains("load-balance"), "{mode}");
    }
    assert!(text(&[team("t", &[("mode", "ovs-balance-slb"), ("lacp", "active")])]).contains("mode active\n"));
}

#[test]
fn one_switch_hashes_in_one_way() {
    let text = text(&[
        team("a", &[("mode", "balance-xor"), ("xmit_hash_policy", "layer2")]),
        team("b", &[("mode", "802.3ad"), ("xmit_hash_policy", "layer3+4")]),
    ]);
    assert!(text.contains("channel-group 2 mode active"));
    assert!(text.ends_with("others would want src-dst-ip.\nport-channel load-balance src-dst-mac\n"), "{text}");
}
