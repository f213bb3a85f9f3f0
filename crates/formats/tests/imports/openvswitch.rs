//! Open vSwitch's command lines: T5's.

use super::{left, read, shown};

#[test]
fn t5s_bond() {
    let text = "ovs-vsctl add-br my_test\novs-vsctl add-bond my_test bond0 eth0 eth1 eth2\n";
    assert_eq!(
        shown("ovs-vsctl", text),
        "[teams.bond0]\nmembers = [\"eth0\", \"eth1\", \"eth2\"]\nmode = \"ovs-active-backup\"\n"
    );
    let import = read("ovs-vsctl", text);
    assert_eq!(
        left(&import),
        [
            "2 bond0 | the bond is the one port of my_test: what `ip` gives my_test is given to the team, which needs no bridge"
        ]
    );
    assert_eq!(import.disable[0].command.as_deref(), Some("ovs-vsctl del-port my_test bond0"));
}

#[test]
fn t5s_bond_with_a_mode() {
    let text = "ovs-vsctl add-br my_test\n\
                ovs-vsctl add-bond my_test bond0 eth0 eth1 eth2 bond_mode=balance-slb\n";
    let expected = "[teams.bond0]\nmembers = [\"eth0\", \"eth1\", \"eth2\"]\nmode = \"ovs-balance-slb\"\n";
    assert_eq!(shown("ovs-vsctl", text), expected);
    let later = "ovs-vsctl add-br my_test -- add-bond my_test bond0 eth0 eth1 eth2\n\
                 ovs-vsctl set port bond0 bond_mode=balance-slb\n";
    assert_eq!(shown("ovs-vsctl", later), expected);
}

#[test]
fn t5s_slip_stays_and_is_told() {
    let text = "ovs-vsctl add-br my_test -- add-bond my_test bond0 eth0 eth1\n\
                ovs-vsctl set port my_test bond_mode=balance-slb\n";
    let left = left(&read("ovs-vsctl", text));
    assert!(
        left[1].contains("its bond is bond0; `nicteam ovs vsctl set port bond0 bond_mode=balance-slb`"),
        "{left:?}"
    );
}

#[test]
fn what_nicteam_has_not_stays_and_the_bond_is_taken() {
    let text = "ovs-vsctl add-br b\n\
                ovs-vsctl add-bond b bond0 e0 e1 tag=7 lacp=active other_config:lacp-time=fast\n\
                ovs-vsctl add-port b e9\novs-vsctl set interface e0 mtu_request=9000\novs-vsctl emer-reset\n";
    assert_eq!(
        shown("ovs-vsctl", text),
        "[teams.bond0]\nmembers = [\"e0\", \"e1\"]\nmode = \"ovs-active-backup\"\nlacp = \"active\"\nlacp_rate = \"fast\"\n\
         mtu = 9000\n"
    );
    let left = left(&read("ovs-vsctl", text)).join("\n");
    for words in ["2 tag=7 | ", "3 e9 | it is no bond", "4 ovs-vsctl set interface", "5 emer-reset | "] {
        assert!(left.contains(words), "{words}: {left}");
    }
}

#[test]
fn a_setting_that_a_team_has_not_takes_nothing_else_with_it() {
    let expected = "[teams.bond0]\nmembers = [\"e0\", \"e1\"]\nmode = \"ovs-active-backup\"\nlacp = \"active\"\n";
    for rest in [
        "add-bond br0 bond0 e0 e1 lacp=active -- set port bond0 trunks=10,20",
        "set bridge br0 stp_enable=true -- add-bond br0 bond0 e0 e1 -- set port bond0 lacp=active tag=5",
        "set-controller br0 tcp:10.0.0.9 -- add-bond br0 bond0 e0 e1 lacp=active -- --id=@m create Mirror name=m",
        "add-bond br0 bond0 e0 e1 -- set Open_vSwitch . external_ids:a=b -- set port bond0 lacp=active",
        "add-bond br0 bond0 e0 e1 -- set interface e0 type=dpdk options:dpdk-devargs=1 -- set port bond0 lacp=active",
    ] {
        let text = format!("ovs-vsctl add-br br0 -- {rest}\n");
        assert_eq!(shown("ovs-vsctl", &text), expected, "{text}");
        assert!(left(&read("ovs-vsctl", &text)).len() >= 2, "{text}");
    }
}

#[test]
fn scripts_have_variables_options_and_conditions() {
    let expected = "[teams.bond0]\nmembers = [\"e0\", \"e1\"]\nmode = \"ovs-balance-slb\"\n";
    for text in [
        "BR=br0 N='e0 e1'\novs-vsctl --may-exist add-br $BR\nsudo ovs-vsctl --may-exist add-bond $BR bond0 $N \\\n  \
         bond_mode=balance-slb\n",
        "ovs-vsctl --db unix:/x -t 5 add-br br0\novs-vsctl --db=unix:/x --no-wait add-bond br0 bond0 e0 e1 bond_mode=balance-slb\n",
        "ovs-vsctl br-exists br0 || ovs-vsctl add-br br0\nif x; then ovs-vsctl add-bond br0 bond0 e0 e1; fi\n\
         ovs-vsctl set port bond0 bond_mode=balance-slb\n",
        "ovs-vsctl -vconsole:off add-br br0\novs-vsctl --columns=name -f json list port\novs-vsctl add-bond br0 bond0 e0 e1 -- set port \
         bond0 qos=@q -- --id=@q create qos type=linux-htb -- set port bond0 bond_mode=balance-slb\n",
        // The bridge is there already.
        "ovs-vsctl add-bond br0 bond0 e0 e1 bond_mode=balance-slb\n",
        "ovs-vsctl add-br br0 -- add-bond br0 bond0 e0 e1\novs-vsctl set port bond0 other_config={bond-primary=e0}\n\
         ovs-vsctl set port bond0 other_config={} bond_mode=balance-slb\n",
    ] {
        assert_eq!(shown("ovs-vsctl", text), expected, "{text}");
    }
}

#[test]
fn what_the_bridge_has_is_the_teams_if_the_bond_is_all_it_has() {
    let bond = "ovs-vsctl add-br br0 -- add-bond br0 bond0 e0 e1\n";
    let of_bridge = "ip link set br0 mtu 9000 up\nip addr add 10.0.0.1/24 dev br0\nip route add default via 10.0.0.254\n\
                     ip addr add 10.5.0.1/24 dev br0.5\ndhclient br0\n";
    let alone = format!("{bond}{of_bridge}");
    assert_eq!(
        shown("ovs-vsctl", &alone),
        "[teams.bond0]\nmembers = [\"e0\", \"e1\"]\nmode = \"ovs-active-backup\"\nmtu = 9000\n\
         addresses = [\"10.0.0.1/24\"]\nroutes = [\"default via 10.0.0.254\"]\n"
    );
    let of_alone = left(&read("ovs-vsctl", &alone));
    assert!(of_alone.iter().any(|left| left.starts_with("5 ip addr add 10.5.0.1/24")), "{of_alone:#?}");
    assert!(of_alone.iter().any(|left| left.starts_with("6 dhclient br0")), "{of_alone:#?}");
    let beside = format!(
        "{bond}{of_bridge}ovs-vsctl add-port br0 v7 tag=7 -- set interface v7 type=internal\nip a a 10.7.0.1/24 dev v7\n"
    );
    assert!(!shown("ovs-vsctl", &beside).contains("addresses"));
    let left = left(&read("ovs-vsctl", &beside)).join("\n");
    for words in [
        "3 ip addr add 10.0.0.1/24 dev br0 | br0 has other ports than the bond",
        "4 ip route add default",
        "8 ip a a 10.7.0.1/24 dev v7 | v7 is a port of br0 beside the bond",
    ] {
        assert!(left.contains(words), "{words}: {left}");
    }
}
