//! Command lines of iproute2 and what goes with them.

use super::{left, read, shown};

#[test]
fn a_script() {
    let text = "#!/bin/sh\n# the uplink\nip link add bond0 type bond mode 802.3ad miimon 100 \\\n  lacp_rate fast xmit_hash_policy layer3+4\n\
                ip link set eth1 down\nip link set eth1 master bond0\nip l s dev eth2 master bond0\n\
                ip link set bond0 up mtu 9000\nip a a 10.0.0.1/24 brd + dev bond0\nip -6 addr add 2001:db8::1/64 dev bond0\n\
                ip ro add default via 10.0.0.254\nip -6 route add default via 2001:db8::f dev bond0 metric 100 proto static\n";
    assert_eq!(
        shown("iproute2", text),
        "[teams.bond0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"802.3ad\"\nmiimon = 100\nlacp_rate = \"fast\"\n\
         xmit_hash_policy = \"layer3+4\"\nmtu = 9000\naddresses = [\"10.0.0.1/24\", \"2001:db8::1/64\"]\n\
         routes = [\"default via 2001:db8::f metric 100\", \"default via 10.0.0.254\"]\n"
    );
    assert_eq!(left(&read("iproute2", text)), [""; 0]);
}

#[test]
fn parameters_of_the_driver_are_every_bonds() {
    let text = "modprobe bonding mode=4 miimon=50 max_bonds=2\nifenslave bond0 eth0 eth1\n\
                echo 1 > /sys/class/net/bond0/bonding/lacp_rate\n";
    assert_eq!(
        shown("iproute2", text),
        "[teams.bond0]\nmembers = [\"eth0\", \"eth1\"]\nmode = \"802.3ad\"\nlacp_rate = \"fast\"\nmiimon = 50\n"
    );
    assert_eq!(left(&read("iproute2", text)), [""; 0], "bond1 has nothing, and is nobody's loss");
}

#[test]
fn files_of_sysfs() {
    let text = "echo +bond7 > /sys/class/net/bonding_masters\necho active-backup > /sys/class/net/bond7/bonding/mode\n\
                echo 100 > /sys/class/net/bond7/bonding/arp_interval\n\
                echo +10.0.0.9 > /sys/class/net/bond7/bonding/arp_ip_target\n\
                echo +10.0.0.8 > /sys/class/net/bond7/bonding/arp_ip_target\n\
                echo +eth0 > /sys/class/net/bond7/bonding/slaves\necho +eth1 > /sys/class/net/bond7/bonding/slaves\n\
                echo 9000 > /sys/class/net/bond7/mtu\nip link set eth1 type bond_slave prio 10\n";
    assert_eq!(
        shown("iproute2", text),
        "[teams.bond7]\nmembers = [\"eth0\", \"eth1\"]\nmode = \"active-backup\"\narp_interval = 100\n\
         arp_ip_target = \"10.0.0.9,10.0.0.8\"\nprio = \"eth1:10\"\nmtu = 9000\n"
    );
}

#[test]
fn what_is_not_read_is_told_if_it_concerns_a_team() {
    let text = "ip link add name bond0 type bond mode 1\nip link set eth0 master bond0\n\
                ip link add link bond0 name bond0.5 type vlan id 5\nfor i in eth1 eth2; do ip link set $i master bond0; done\n\
                ip rule add from 10.0.0.1 table 5\nethtool -K eth0 gro off\nsystemctl restart x\n\
                ip route add 10.9.0.0/16 dev bond0 src 10.0.0.1\nip link set eth7 mtu 9000\n";
    let left = left(&read("iproute2", text));
    let lines: Vec<&str> = left.iter().filter_map(|left| left.split(' ').next()).collect();
    assert_eq!(lines, ["3", "4", "6", "8"], "{left:#?}");
}

#[test]
fn options_that_the_driver_refuses_stay() {
    let text = "ip link add bond0 type bond mode balance-rr lacp_rate fast\nip link set eth0 master bond0\n";
    let left = left(&read("iproute2", text));
    assert!(left.len() == 1 && left[0].contains("fast | ") && left[0].contains("refuses it, too"), "{left:?}");
}

#[test]
fn a_copied_prompt_and_sudo_do_no_harm() {
    let text = "$ sudo ip link add bond0 type bond mode 1\n$ sudo /sbin/ip link set eth0 master bond0\n";
    assert!(shown("iproute2", text).contains("members = [\"eth0\"]"));
}
