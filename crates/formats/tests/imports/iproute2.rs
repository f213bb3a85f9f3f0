//! Command lines of iproute2 and what goes with them.

use nicteam_formats::Source;

use super::{format, left, read, read_all, shown};

/// `[teams.bond0]` and what follows it.
fn bond0(rest: &str) -> String {
    format!("[teams.bond0]\n{rest}\n")
}

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
                ip link add link bond0 name bond0.5 type vlan id 5\nif x; then ip link set bond0 mtu 9000; fi\n\
                ip rule add from 10.0.0.1 table 5\nethtool -K eth0 gro off\nsystemctl restart x\n\
                ip route add 10.9.0.0/16 dev bond0 src 10.0.0.1\nip link set eth7 mtu 9000\n";
    let left = left(&read("iproute2", text));
    let lines: Vec<&str> = left.iter().filter_map(|left| left.split(' ').next()).collect();
    assert_eq!(lines, ["3", "4", "5", "6", "8"], "{left:#?}");
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

#[test]
fn no_part_of_a_route_is_lost_in_silence() {
    let text = "ip link add bond0 type bond\nip link set eth0 master bond0\nip addr add 10.0.0.1/24 dev bond0\n\
                ip route add 10.8.0.0/16 via 10.0.0.9 src 10.0.0.1 mtu 1400\n\
                ip route add 10.6.0.0/16 nexthop via 10.0.0.9 nexthop via 10.0.0.8\nip route add blackhole 10.7.0.0/16\n\
                ip rule add from 10.0.0.1 table 100\nip route add 10.5.0.0/16 via 192.0.2.1\n\
                ip route add 10.4.0.0/16 via 192.0.2.1 dev eth9\nroute add -host 10.0.0.7 reject\n";
    assert!(shown("iproute2", text).contains("routes = [\"10.8.0.0/16 via 10.0.0.9\"]"));
    let left = left(&read("iproute2", text));
    let lines: Vec<&str> = left.iter().filter_map(|left| left.split(' ').next()).collect();
    assert_eq!(lines, ["4", "5", "6", "7", "8", "10"], "{left:#?}");
    assert!(left[0].contains("no `src 10.0.0.1`, `mtu 1400`"), "{left:#?}");
}

#[test]
fn variables_loops_and_functions_say_what_they_are() {
    let expected = bond0("members = [\"eth0\", \"eth1\"]\nmode = \"802.3ad\"\naddresses = [\"10.0.0.1/24\"]");
    for text in [
        "B=bond0 S='eth0 eth1'\nip link add $B type bond mode 4\nfor s in $S; do\n ip link set $s down\n ip link set ${s} \
         master \"$B\"\ndone\nip a a 10.0.0.1/24 dev $B\necho \"done $(date) $B\"\n",
        "make() {\n n=$1; shift\n ip link add $n type bond mode 802.3ad\n for s in \"$@\"; do ip link set $s master $n; done\n}\n\
         make bond0 eth{0,1}\nifconfig bond0 10.0.0.1 netmask 255.255.255.0 up\n",
        "f() {\n b=\"$1\"; m=$2; shift 2\n ip link add \"$b\" type bond mode \"$m\"\n while [ $# -gt 0 ]; do ip link set \"$1\" master $b; \
         shift; done\n}\nf bond0 4 eth0 eth1\nprintf '%s\\n' 802.3ad > /sys/class/net/bond0/bonding/mode\n\
         ip a a 10.0.0.1/24 dev bond0 valid_lft forever\n",
        "IP=/sbin/ip; S=(eth0 eth1)\ncase \"$1\" in\nstart)\n $IP link add bond0 type bond mode 4 && $IP link set ${S[0]} up\n\
         for s in \"${S[@]}\"; do $IP link set $s master bond0; done\n $IP a a 10.0.0.1/24 dev bond0;;\n\
         stop) ip link del bond0;;\nesac\n",
        "ip -force -b - <<EOF\nlink add bond0 type bond mode 4\nlink set eth0 master bond0\nlink set eth1 master bond0\n\
         addr add 10.0.0.1/24 dev bond0\nEOF\n",
        "link add bond0 type bond mode 4\nlink set eth0 master bond0\nlink set eth1 master bond0\naddr add 10.0.0.1/24 dev bond0\n",
        "modprobe bonding mode=4\nfor i in $(seq 0 1); do echo +eth$i | sudo tee /sys/class/net/bond0/bonding/slaves; done\n\
         ifconfig eth0 0.0.0.0 up\nifconfig bond0 10.0.0.1/24\n",
    ] {
        let source = Source::new("a", text);
        assert!(format("iproute2").recognises(&source), "{text}");
        assert_eq!(shown("iproute2", text), expected, "{text}");
        assert_eq!(left(&read("iproute2", text)), [""; 0], "{text}");
    }
}

#[test]
fn what_the_text_does_not_say_is_an_error_that_names_it() {
    let with = |line: &str| format!("ip link add bond0 type bond\nip link set eth0 master bond0\n{line}\n");
    for (line, name) in [
        ("ip link add $B type bond", "$B"),
        ("ip link set $1 master bond0", "$1"),
        ("ip addr add $A dev bond0", "$A"),
        ("ip addr add 10.0.0.1/24 dev ${D:-bond0}", "${D:-bond0}"),
        ("ip route add default via $(gateway)", "$(gateway)"),
        ("if x; then D=bond0; fi; ip addr add 10.0.0.1/24 dev $D", "$D"),
        ("for ((i=0;i<2;i++)); do ip link set eth$i master bond0; done", "$i"),
        ("echo $M > /sys/class/net/bond0/bonding/mode", "$M"),
    ] {
        let error = read_all("iproute2", &[("a", &with(line))]).expect_err(line).to_string();
        assert!(error.contains(&format!("does not say what `{name}` is")) && error.contains("a:3:"), "{line}: {error}");
    }
    for harmless in ["ip addr add $A dev eth9", "logger \"$x\"", "echo \"bond0 $x\"", "ip link set $X up"] {
        assert_eq!(left(&read("iproute2", &with(harmless))), [""; 0], "{harmless}");
    }
}

#[test]
fn a_bond_that_is_made_under_a_condition_is_there_in_the_end() {
    let text = "ip link show bond0 >/dev/null || ip link add bond0 type bond mode 1\nip link set eth0 master bond0\n\
                [ -d /sys/class/net/eth1 ] && ip link set eth1 master bond0\n";
    assert_eq!(shown("iproute2", text), bond0("members = [\"eth0\", \"eth1\"]\nmode = \"active-backup\""));
    let told = left(&read("iproute2", text));
    assert!(told.len() == 2 && told.iter().all(|left| left.contains("it is read as if it were")), "{told:?}");
    let without = left(&read("iproute2", "for i in a0 a1; do ip link set $i master bond0; done\n"));
    assert!(without.len() == 1 && without[0].contains("no line of this text makes bond0"), "{without:?}");
}

#[test]
fn net_tools_give_addresses_and_routes() {
    let text = "modprobe bonding mode=1\n\
                ifconfig bond0 10.0.0.1 netmask 255.255.255.0 broadcast 10.0.0.255 mtu 9000 hw ether 02:00:00:00:00:05 up\n\
                ifconfig bond0:1 10.0.1.1/24\nifenslave bond0 eth0 eth1\nroute add default gw 10.0.0.254\n\
                route add -net 10.8.0.0 netmask 255.255.0.0 dev bond0\n";
    let expected = "members = [\"eth0\", \"eth1\"]\nmode = \"active-backup\"\nmac = \"02:00:00:00:00:05\"\nmtu = 9000\n\
                    addresses = [\"10.0.0.1/24\", \"10.0.1.1/24\"]\n\
                    routes = [\"10.8.0.0/16\", \"default via 10.0.0.254\"]";
    assert_eq!(shown("iproute2", text), bond0(expected));
    assert_eq!(left(&read("iproute2", text)), [""; 0]);
}

#[test]
fn the_other_end_of_a_link_is_no_address_of_the_team() {
    for line in ["ifconfig bond0 10.0.0.1 pointopoint 10.0.0.2", "ifconfig bond0 10.0.0.1 10.0.0.2 netmask 255.0.0.0"] {
        let text = format!("ip link add bond0 type bond\nip link set eth0 master bond0\nifconfig bond0 down\n{line}\n");
        assert_eq!(shown("iproute2", &text), bond0("members = [\"eth0\"]\naddresses = [\"10.0.0.1/8\"]"));
        let left = left(&read("iproute2", &text));
        assert_eq!(left[0], format!("4 {line} | an address of a team has no other end"));
    }
}

#[test]
fn devices_on_the_bond_keep_their_addresses() {
    let text = "ip link add bond0 type bond\nip link set eth0 master bond0\nip link add link bond0 name storage type vlan id 5\n\
                ip addr add 10.5.0.1/24 dev storage\nip addr add 10.6.0.1/24 dev bond0.6\nip addr add 10.7.0.1/24 dev eth0\n";
    let left = left(&read("iproute2", text));
    assert!(left[1].ends_with("| storage sits on the team as it sat on the bond: keep this line"), "{left:?}");
    assert!(left[2].ends_with("| bond0.6 sits on the team as it sat on the bond: keep this line"), "{left:?}");
    assert!(left[3].ends_with("| a member has no addresses of its own: they are the team's"), "{left:?}");
}

#[test]
fn here_documents_of_other_programs_are_none_of_it() {
    let text = "cat > /etc/motd <<EOF\nit's bond0\nip link add bond9 type bond\nEOF\nip link add bond0 type bond\n\
                ip link set eth0 master bond0\nip -batch /etc/more\n";
    assert_eq!(shown("iproute2", text), bond0("members = [\"eth0\"]"));
    assert_eq!(
        left(&read("iproute2", text)),
        ["7 ip -batch /etc/more | its lines are in another file: import that file, too"]
    );
}

#[test]
fn a_bond_that_is_renamed_has_its_new_name() {
    let text = "modprobe bonding mode=1\nip link set bond0 name lag0\nip link set eth1 master lag0\n\
                ip address add 192.0.2.1/24 dev lag0\necho +192.0.2.9 > /sys/class/net/lag0/bonding/arp_ip_target\n";
    let import = read("iproute2", text);
    let team = &import.network.teams[0];
    assert_eq!((team.name.as_str(), &*team.members), ("lag0", &["eth1".to_owned()][..]));
    assert_eq!(team.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(), ["192.0.2.1/24"]);
    assert!(team.options.contains(&("arp_ip_target".to_owned(), "192.0.2.9".to_owned())), "{team:?}");
}
