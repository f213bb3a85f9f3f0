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
    let written = write("cisco", &Network { teams: teams.to_vec() });
    assert_eq!(written.left, [""; 0]);
    written.files[0].text.clone()
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
        assert!(!text.contains("\n channel-group") && text.contains("no channel-group, plain"), "{mode}: {text}");
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
