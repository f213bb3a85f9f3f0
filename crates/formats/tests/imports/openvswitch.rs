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
    assert_eq!(import.left.len(), 2, "{:?}", left(&import));
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
        left[2].contains("its bond is bond0; `nicteam ovs vsctl set port bond0 bond_mode=balance-slb`"),
        "{left:?}"
    );
}

#[test]
fn what_nicteam_has_not_stays_and_the_bond_is_taken() {
    let text = "ovs-vsctl add-br b\n\
                ovs-vsctl add-bond b bond0 e0 e1 tag=7 lacp=active other_config:lacp-time=fast\n\
                ovs-vsctl add-port b e9\novs-vsctl set interface e0 mtu_request=9000\novs-vsctl comment x\n";
    assert_eq!(
        shown("ovs-vsctl", text),
        "[teams.bond0]\nmembers = [\"e0\", \"e1\"]\nmode = \"ovs-active-backup\"\nlacp = \"active\"\nlacp_rate = \"fast\"\n\
         mtu = 9000\n"
    );
    let left = left(&read("ovs-vsctl", text)).join("\n");
    for words in ["2 tag=7 | ", "3 e9 | it is no bond", "4 ovs-vsctl set interface", "5 ovs-vsctl comment x | "] {
        assert!(left.contains(words), "{words}: {left}");
    }
}
