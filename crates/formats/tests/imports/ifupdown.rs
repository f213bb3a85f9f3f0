//! Debian's `/etc/network/interfaces`.

use nicteam_formats::Source;

use super::{format, left, read, read_all, shown};

const PLENTY: &str = "\
# The loopback network interface
source /etc/network/interfaces.d/*
auto lo bond0
iface lo inet loopback

allow-hotplug eth1
iface eth1 inet manual
    bond-master bond0
    bond-primary eth1 eth2
    up ethtool -K $IFACE gro off
iface eth2 inet manual
    bond-master bond0

iface bond0 inet static
    address 192.0.2.9
    netmask 24
    gateway 192.0.2.1
    metric 7
    broadcast +
    dns-nameservers 192.0.2.53
    bond-slaves none
    bond-mode 4
    bond-lacp-rate 1
    bond-xmit_hash_policy layer3+4
    bond-arp-ip-target 192.0.2.1 192.0.2.2
    bond-miimon 100
    bond-arp-interval 1000
    bond-nonsense 1
    mtu 9000
    hwaddress ether 02:00:00:00:00:01
    up ip route add 10.9.0.0/16 via 192.0.2.3 \\
        metric 100 table 5 proto static dev $IFACE || true
    post-up route add -net 10.8.0.0 netmask 255.255.0.0 gw 192.0.2.3 dev bond0
    down ip route del 10.9.0.0/16
    up ip rule add from 192.0.2.9 table 5
iface bond0 inet6 static
    address 2001:db8::9/64
    gateway 2001:db8::1
    up ip -6 route add default dev bond0 metric 2000
iface bond0.7 inet dhcp
iface br0 inet manual
    bridge_ports bond0
";

#[test]
fn all_of_a_bond_is_taken() {
    let expected = "\
[teams.bond0]
members = [\"eth1\", \"eth2\"]
mode = \"802.3ad\"
lacp_rate = \"fast\"
xmit_hash_policy = \"layer3+4\"
arp_ip_target = \"192.0.2.1,192.0.2.2\"
miimon = 100
mac = \"02:00:00:00:00:01\"
mtu = 9000
addresses = [\"192.0.2.9/24\", \"2001:db8::9/64\"]
routes = [\"default via 192.0.2.1 metric 7\", \"10.9.0.0/16 via 192.0.2.3 metric 100 table 5\", \
\"10.8.0.0/16 via 192.0.2.3\", \"default via 2001:db8::1\", \"::/0 metric 2000\"]
";
    assert_eq!(shown("ifupdown", PLENTY), expected);
}

#[test]
fn what_stays_has_its_place_and_reason() {
    let expected = [
        "2 source /etc/network/interfaces.d/* | no such file was among those given: name it beside this one, if there is one",
        "9 bond-primary eth1 eth2 | `primary eth1` works in modes active-backup, balance-tlb, balance-alb, stripe, \
         ovs-active-backup, ovs-balance-slb and ovs-balance-tcp alone; the mode is 802.3ad; the kernel refuses it, too",
        "10 up ethtool -K $IFACE gro off | it is of a member, whose stanza stays without its `bond-` lines",
        "20 dns-nameservers 192.0.2.53 | name servers are resolvconf's: keep the line in a stanza of the team's device",
        "27 bond-arp-interval 1000 | `miimon` is given, too, and a bond has one of them",
        "28 bond-nonsense 1 | no option of bonding has this name",
        "31 up ip route add 10.9.0.0/16 via 192.0.2.3 \\\n        metric 100 table 5 proto static dev $IFACE || true | the \
         route is taken over without `proto static`",
        "35 up ip rule add from 192.0.2.9 table 5 | a command that ifupdown runs: keep it in a stanza of the team's device",
        "40 iface bond0.7 inet dhcp | a VLAN device on the team stays in the old place: `iface bond0.7 inet dhcp` works on \
         the team as on a bond",
        "41 iface br0 inet manual | a bridge on the team stays in the old place: `iface br0 inet manual` works on the team as \
         on a bond",
    ];
    assert_eq!(left(&read("ifupdown", PLENTY)), expected);
}

#[test]
fn dhcp_stays() {
    let text =
        "auto bond0\niface bond0 inet dhcp\n bond-slaves eth0 eth1\n bond-mode active-backup\niface bond0 inet6 auto\n";
    assert_eq!(shown("ifupdown", text), "[teams.bond0]\nmembers = [\"eth0\", \"eth1\"]\nmode = \"active-backup\"\n");
    let import = read("ifupdown", text);
    let expected = [
        "2 iface bond0 inet dhcp | DHCP stays in the old place: keep `iface bond0 inet dhcp` without its `bond-` lines, it \
         works on the team as on a bond",
        "5 iface bond0 inet6 auto | an address by router advertisements stays in the old place: keep `iface bond0 inet6 auto` without its \
         `bond-` lines, it works on the team as on a bond",
    ];
    assert_eq!(left(&import), expected);
    let [disable] = import.disable.as_slice() else { panic!("{:?}", import.disable) };
    assert_eq!(disable.what, "comment out lines 3 and 4 of `iface bond0 inet dhcp`; the rest stays");
}

#[test]
fn options_may_stand_with_members() {
    // As Debian's wiki has it ("Laptop-Mode"): the bond's own stanza says nothing.
    let text = "\
auto eth0
iface eth0 inet manual
    bond-master bond0
    bond-primary eth0
    bond-mode active-backup
auto wlan0
iface wlan0 inet manual
    wpa-conf /etc/network/wpa.conf
    bond-master bond0
    bond-primary eth0
    bond-mode active-backup
    bond-give-a-chance 10
iface bond0 inet dhcp
    bond-slaves none
    bond-primary eth0
    bond-mode active-backup
    bond-miimon 100
";
    let expected = "\
[teams.bond0]
members = [\"eth0\", \"wlan0\"]
mode = \"active-backup\"
primary = \"eth0\"
miimon = 100
";
    assert_eq!(shown("ifupdown", text), expected);
    let lines: Vec<usize> = read("ifupdown", text).left.iter().map(|left| left.place.line).collect();
    assert_eq!(lines, [8, 12, 13]);
}

#[test]
fn the_way_before_the_hooks() {
    let text = "\
iface bond0 inet static
    pre-up modprobe bonding mode=1 miimon=50
    address 172.16.0.1
    up /sbin/ifenslave $IFACE eth0 eth1
    down ifenslave -d bond0 eth0 eth1
";
    let expected = "\
[teams.bond0]
members = [\"eth0\", \"eth1\"]
mode = \"active-backup\"
miimon = 50
addresses = [\"172.16.0.1/16\"]
";
    assert_eq!(shown("ifupdown", text), expected);
}

#[test]
fn a_member_may_put_itself_into_a_bond() {
    let text = "iface bond0 inet manual\niface eth0 inet manual\n up ifenslave bond0 eth0\n";
    assert_eq!(shown("ifupdown", text), "[teams.bond0]\nmembers = [\"eth0\"]\n");
    let told: Vec<String> = read("ifupdown", text).disable.into_iter().map(|of| of.what).collect();
    assert_eq!(told.last().map(String::as_str), Some("comment out line 3 of `iface eth0 inet manual`"));
}

#[test]
fn files_that_are_sourced_are_read() {
    let main = ("/etc/network/interfaces", "source interfaces.d/*\nsource-directory more\n");
    let bond = ("/etc/network/interfaces.d/bond0", "iface bond0 inet manual\n bond-slaves eth0\n");
    let import = read_all("ifupdown", &[main, bond]).unwrap();
    assert_eq!(import.network.teams[0].members, ["eth0"]);
    let expected =
        ["2 source-directory more | no such file was among those given: name it beside this one, if there is one"];
    assert_eq!(left(&import), expected);
}

#[test]
fn templates_give_their_options() {
    let text = "iface ethernet inet manual\n mtu 9000\niface b inet static inherits ethernet\n address 10.0.0.1/8\n bond-slaves e0\n";
    assert_eq!(shown("ifupdown", text), "[teams.b]\nmembers = [\"e0\"]\nmtu = 9000\naddresses = [\"10.0.0.1/8\"]\n");
}

/// What to switch off, in its words.
fn disabled(text: &str) -> Vec<String> {
    read("ifupdown", text).disable.into_iter().map(|of| of.what).collect()
}

/// The errors of a text.
fn refused(text: &str) -> String {
    read_all("ifupdown", &[("a", text)]).unwrap_err().to_string()
}

#[test]
fn patterns_of_members_are_refused() {
    for list in ["regex eth[01]", "glob swp1-4", "glob eth[0-3]", "/eth*", "eth?"] {
        let error = refused(&std::format!("iface bond0 inet manual\n bond-slaves {list}\n"));
        assert!(error.contains("pattern") && error.contains("name them: `bond-slaves eth0 eth1`"), "{error}");
        assert!(error.contains("1 error in a"), "{error}");
    }
}

#[test]
fn a_stanza_may_name_no_family() {
    let text =
        "auto bond1\niface bond1\n bond-slaves swp1 swp2\n bond-mode 802.3ad\n clag-id 1\n address 10.0.0.1/24\n";
    assert!(format("ifupdown").recognises(&Source::new("a", text)));
    let expected = "[teams.bond1]\nmembers = [\"swp1\", \"swp2\"]\nmode = \"802.3ad\"\naddresses = [\"10.0.0.1/24\"]\n";
    assert_eq!(shown("ifupdown", text), expected);
    let import = read("ifupdown", text);
    let expected = ["5 clag-id 1 | nicteam has nothing for it: keep it in `iface bond1` without the `bond-` lines"];
    assert_eq!(left(&import), expected);
    assert_eq!(disabled(text), ["comment out lines 3, 4 and 6 of `iface bond1`; the rest stays"]);
}

#[test]
fn a_stanza_without_a_family_may_have_a_template() {
    let text = "iface fast inet manual\n mtu 9000\niface b inherits fast\n bond-slaves e0\n";
    assert_eq!(shown("ifupdown", text), "[teams.b]\nmembers = [\"e0\"]\nmtu = 9000\n");
}

#[test]
fn a_members_mtu_that_is_the_teams_is_not_told() {
    let text = "iface e0 inet manual\n mtu 9000\niface e1 inet manual\n mtu 1400\n\
                iface b inet manual\n bond-slaves e0 e1\n mtu 9000\n";
    let lines: Vec<usize> = read("ifupdown", text).left.iter().map(|left| left.place.line).collect();
    assert_eq!(lines, [4]);
}

#[test]
fn an_address_of_a_command_goes_with_its_undo() {
    let text = "iface b inet manual\n bond-slaves e0\n up ip addr add 10.0.0.3/24 dev b\n down ip addr del 10.0.0.3/24 dev b\n";
    assert_eq!(left(&read("ifupdown", text)), [""; 0]);
    assert_eq!(read("ifupdown", text).network.teams[0].addresses.len(), 1);
}

#[test]
fn a_wrong_family_is_one_error() {
    let error = refused("iface bond0 inet5 static\n bond-slaves eth0\n address 10.0.0.1/8\n");
    assert!(error.contains("`inet5` is no family of addresses") && !error.contains("stands in no stanza"), "{error}");
}

#[test]
fn an_alias_gives_its_address() {
    let text = "auto bond0 bond0:0\niface bond0 inet static\n address 10.0.0.1/24\n bond-slaves eth0\n\
                iface bond0:0 inet static\n address 10.0.0.100\n netmask 255.255.255.0\n";
    let expected = "[teams.bond0]\nmembers = [\"eth0\"]\naddresses = [\"10.0.0.1/24\", \"10.0.0.100/24\"]\n";
    assert_eq!(shown("ifupdown", text), expected);
    let expected = "comment out lines 5 to 7 (`iface bond0:0 inet static`), and `bond0:0` in `auto` and `allow-` lines";
    assert_eq!(disabled(text)[1], expected);
}

#[test]
fn settings_of_listed_members_stay_and_their_stanzas_go() {
    let text = "allow-hotplug eth0\niface eth0 inet manual\nauto eth1\niface eth1 inet static\n address 10.0.3.1/24\n\
                iface eth2 inet manual\n ethernet-autoneg on\niface bond0 inet manual\n bond-slaves eth0 eth1 eth2\n";
    let expected = [
        "5 address 10.0.3.1/24 | an address of a member has no effect in a bond: give it to the team, or take it out",
        "7 ethernet-autoneg on | it is of a member, whose stanza stays without its `bond-` lines",
    ];
    assert_eq!(left(&read("ifupdown", text)), expected);
    let expected = [
        "comment out line 2 (`iface eth0 inet manual`), and `eth0` in `auto` and `allow-` lines: the team takes the device",
        "comment out lines 4 to 5 (`iface eth1 inet static`), and `eth1` in `auto` and `allow-` lines: the team takes the \
         device",
    ];
    assert_eq!(disabled(text)[1..], expected);
}

#[test]
fn what_a_team_does_by_itself_is_not_told() {
    let text = "iface bond0 inet manual\n pre-up ip link set $IFACE up\n up ifenslave bond0 eth0 eth1\n\
                \x20down ifenslave -d bond0 eth0 eth1\n pre-down ifenslave --detach bond0 eth0\n\
                \x20post-down ip link del bond0\n post-down rmmod bonding\n post-down ip link del vxlan0\n";
    let lines: Vec<usize> = read("ifupdown", text).left.iter().map(|left| left.place.line).collect();
    assert_eq!(lines, [8]);
}

#[test]
fn bonds_that_commands_make_are_read() {
    let text = "iface bond0 inet static\n address 10.0.0.1/24\n\
                \x20pre-up ip link add bond0 type bond mode 802.3ad miimon 100\n\
                \x20pre-up ip link set eth0 master bond0\n pre-up ip link set eth1 master bond0\n\
                \x20up ip link set bond0 master br0\n post-down ip link del bond0\n";
    let expected = "[teams.bond0]\nmembers = [\"eth0\", \"eth1\"]\nmode = \"802.3ad\"\nmiimon = 100\n\
                    addresses = [\"10.0.0.1/24\"]\n";
    assert_eq!(shown("ifupdown", text), expected);
}

#[test]
fn routes_of_other_kinds_stay() {
    let text = "iface bond0 inet manual\n bond-slaves eth0\n up ip route add blackhole 10.9.0.0/16\n";
    let expected = [
        "3 up ip route add blackhole 10.9.0.0/16 | a command that ifupdown runs: keep it in a stanza of the team's device",
    ];
    assert_eq!(left(&read("ifupdown", text)), expected);
}

#[test]
fn a_peer_becomes_a_route() {
    let text = "iface bond0 inet static\n address 10.0.0.1\n netmask 255.255.255.255\n gateway 10.0.0.254\n\
                \x20pointopoint 10.0.0.254\n bond-slaves eth0\n";
    let expected = "[teams.bond0]\nmembers = [\"eth0\"]\naddresses = [\"10.0.0.1/32\"]\n\
                    routes = [\"10.0.0.254/32\", \"default via 10.0.0.254\"]\n";
    assert_eq!(shown("ifupdown", text), expected);
}

#[test]
fn auto_stays_for_a_stanza_that_stays() {
    let text = "auto bond0\niface bond0 inet static\n address 10.0.0.1/24\n bond-slaves eth0\niface bond0 inet6 auto\n";
    assert_eq!(disabled(text), ["comment out lines 2 to 4 (`iface bond0 inet static`)"]);
}

#[test]
fn router_advertisements_are_refused_as_before() {
    let text = "auto b\niface b inet6 static\n bond-slaves e0\n address 2001:db8::1/64\n accept_ra 0\n";
    assert!(super::shown("ifupdown", text).contains("accept_ra = 0\n"));
}

#[test]
fn ifconfig_and_ip_give_a_team_its_addresses() {
    let text = "iface bond0 inet manual\n bond-slaves eth0\n\
                \x20pre-up ifconfig eth0 0.0.0.0 up\n\
                \x20up /sbin/ifconfig $IFACE 10.0.0.2 netmask 255.255.255.0 broadcast 10.0.0.255 mtu 9000 up\n\
                \x20up ifconfig bond0:1 10.0.1.2 netmask 255.255.255.0\n down ifconfig bond0:1 down\n\
                \x20up ip -4 a a 10.0.2.2/24 dev bond0 label bond0:2 || true\n\
                \x20up ifconfig bond0 10.4.0.1\n up ifconfig bond0.5 10.5.0.1\n down ifconfig bond0 del 10.0.0.2\n";
    let expected = "[teams.bond0]\nmembers = [\"eth0\"]\nmtu = 9000\n\
                    addresses = [\"10.0.0.2/24\", \"10.0.1.2/24\", \"10.0.2.2/24\", \"10.4.0.1/8\"]\n";
    assert_eq!(shown("ifupdown", text), expected);
    let expected = [
        "7 up ip -4 a a 10.0.2.2/24 dev bond0 label bond0:2 || true | the address is taken over without `label bond0:2`",
        "8 up ifconfig bond0 10.4.0.1 | there is no netmask: /8, that of its class, is taken",
        "9 up ifconfig bond0.5 10.5.0.1 | a command that ifupdown runs: keep it in a stanza of the team's device",
    ];
    assert_eq!(left(&read("ifupdown", text)), expected);
    let error = refused("iface bond0 inet manual\n bond-slaves eth0\n up ifconfig bond0 10.0.0.300\n");
    assert!(error.contains("`10.0.0.300` is no IP address"), "{error}");
}

#[test]
fn options_of_ipv6_have_their_sysctl() {
    let text = "iface bond0 inet6 static\n address 2001:db8::1/64\n bond-slaves eth0\n privext 2\n autoconf 1\n\
                \x20dad-attempts 0\n dad-interval 0.2\niface bond0 inet6 auto\n privext 2\n";
    let sysctl = |setting: &str, value: u8| {
        std::format!("a team has nothing for it: write `net.ipv6.conf.bond0.{setting} = {value}` into /etc/sysctl.d")
    };
    let told = left(&read("ifupdown", text));
    assert_eq!(told[0], std::format!("4 privext 2 | {}", sysctl("use_tempaddr", 2)));
    assert_eq!(told[1], std::format!("5 autoconf 1 | {}", sysctl("autoconf", 1)));
    assert_eq!(told[2], std::format!("6 dad-attempts 0 | {}", sysctl("accept_dad", 0)));
    assert!(told[3].starts_with("7 dad-interval 0.2 | it says how long ifup waits"), "{told:?}");
    // What asks for addresses stays, with all that it has.
    assert!(
        told[5].starts_with("9 privext 2 | nicteam has nothing for it: keep it in `iface bond0 inet6 auto`"),
        "{told:?}"
    );
    assert_eq!(disabled(text)[0], "comment out lines 1 to 7 (`iface bond0 inet6 static`)");
}

#[test]
fn a_template_stands_ahead_and_gives_its_method() {
    let text = "iface fast inet static\n mtu 9000\niface b inet inherits fast\n address 10.0.0.1/8\n bond-slaves e0\n\
                iface c inherits b\n address 10.0.0.2/8\n";
    let expected = "[teams.b]\nmembers = [\"e0\"]\nmtu = 9000\naddresses = [\"10.0.0.1/8\"]\n";
    let only_b = &text[..text.find("iface c").unwrap()];
    assert_eq!(shown("ifupdown", only_b), expected);
    let error = refused("iface b inet static inherits fast\n bond-slaves e0\niface fast inet manual\n mtu 9000\n");
    assert!(error.contains("no stanza `fast` to inherit from stands ahead"), "{error}");
    let error = refused("iface fast inet6 static\niface b inet static inherits fast\n bond-slaves e0\n");
    assert!(error.contains("no stanza `fast` to inherit from stands ahead"), "{error}");
    // ifupdown-ng's own word: it is no device.
    let text = "template fast\n bond-slaves e0\n mtu 9000\niface b inherits fast\n";
    assert_eq!(shown("ifupdown", text), "[teams.b]\nmembers = [\"e0\"]\nmtu = 9000\n");
}

#[test]
fn a_line_goes_on_behind_its_last_character_alone() {
    let text = "iface b inet manual\n bond-slaves e0 \\\n e1\n up echo \\ \n mtu 9000\n";
    assert_eq!(shown("ifupdown", text), "[teams.b]\nmembers = [\"e0\", \"e1\"]\nmtu = 9000\n");
    let error = refused("iface b inet manual\n bond-slaves e0 \\ \n e1\n");
    assert!(error.contains("`e1` has no value") && error.contains("nothing behind it"), "{error}");
}

#[test]
fn files_that_no_other_one_names_are_not_read() {
    let main =
        ("/etc/network/interfaces", "source-directory interfaces.d\niface bond0 inet manual\n bond-slaves eth0\n");
    let plain = ("/etc/network/interfaces.d/one", "iface bond1 inet manual\n bond-slaves eth1\n");
    let dotted = ("/etc/network/interfaces.d/two.cfg", "iface bond2 inet manual\n bond-slaves eth1\n");
    let import = read_all("ifupdown", &[main, plain, dotted]).unwrap();
    let names: Vec<&str> = import.network.teams.iter().map(|team| team.name.as_str()).collect();
    assert_eq!(names, ["bond1", "bond0"], "where they are named");
    let [only] = import.left.as_slice() else { panic!("{:?}", import.left) };
    assert_eq!(
        (only.place.to_string().as_str(), only.text.as_str()),
        ("/etc/network/interfaces.d/two.cfg:1:1", dotted.0)
    );
    assert!(only.why.contains("ifupdown does not read it"), "{}", only.why);
    assert_eq!(read_all("ifupdown", &[dotted]).unwrap().network.teams[0].name, "bond2");
}

#[test]
fn a_member_is_automatic_by_a_pattern() {
    let text = "auto bond0 /eth*\niface eth0 inet dhcp\niface bond0 inet manual\n bond-slaves eth0\n";
    assert!(disabled(text)[1].starts_with("comment out line 2 (`iface eth0 inet dhcp`)"), "{:?}", disabled(text));
}

/// Members and options of the one team in there, each as a line of our own file.
fn lines(text: &str) -> Vec<String> {
    shown("ifupdown", text)
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

const LACP: [&str; 4] = ["[teams.bond0]", "members = [\"eth1\", \"eth2\"]", "mode = \"802.3ad\"", "miimon = 100"];

#[test]
fn other_stanzas_may_build_the_bond() {
    let bridge = "auto br0\niface br0 inet dhcp\n bridge_ports bond0\n \
                  pre-up ip link add bond0 type bond mode 802.3ad miimon 100\n \
                  pre-up ip link set eth1 down && ip link set eth1 master bond0\n \
                  pre-up ip link set eth2 down; ip link set eth2 master bond0\n pre-up ip link set bond0 up\n \
                  post-down ip link del bond0\n";
    let import = read("ifupdown", bridge);
    assert_eq!(lines(bridge), LACP);
    let lines_off: Vec<usize> = import.disable.iter().map(|of| of.place.line).collect();
    assert_eq!(lines_off, [4, 5, 6, 7, 8], "{:?}", import.disable);

    let member = "iface eth1 inet manual\n bond-master bond0\n pre-up modprobe bonding mode=4 miimon=100\n\
                  iface eth2 inet manual\n bond-master bond0\n";
    let import = read("ifupdown", member);
    assert_eq!(lines(member), LACP);
    assert!(import.disable[0].what.starts_with("comment out lines 2 and 3 of `iface eth1"), "{:?}", import.disable);
    assert_eq!(left(&import), [] as [&str; 0]);

    let mixed = "iface br0 inet manual\n bridge_ports bond0\n pre-up ip link add bond0 type bond mode 4 miimon 100; ethtool -K eth1 gro off\n\
                 iface bond0 inet manual\n bond-slaves eth1 eth2\n";
    let import = read("ifupdown", mixed);
    assert_eq!(lines(mixed), LACP);
    assert!(left(&import).iter().any(|left| left.starts_with("3 ") && left.contains("is taken over: keep the rest")));
}

#[test]
fn commands_give_options() {
    let text = "iface bond0 inet manual\n bond-slaves eth1 eth2\n bond-mode 1\n \
                post-up echo 500 > /sys/class/net/$IFACE/bonding/arp_interval\n \
                post-up echo +192.0.2.1 > /sys/class/net/$IFACE/bonding/arp_ip_target\n \
                post-up echo +192.0.2.2 > /sys/class/net/$IFACE/bonding/arp_ip_target\n \
                post-up ip link set dev bond0 type bond primary eth2\n";
    let import = read("ifupdown", text);
    assert_eq!(
        lines(text)[2..],
        [
            "mode = \"active-backup\"",
            "arp_interval = 500",
            "arp_ip_target = \"192.0.2.1,192.0.2.2\"",
            "primary = \"eth2\""
        ]
    );
    assert_eq!(left(&import), [] as [&str; 0]);
    // The hooks of ifenslave run behind `pre-up`, and ahead of `up`.
    for (line, mode) in [("pre-up", "802.3ad"), ("up", "active-backup")] {
        let text = format!(
            "iface bond0 inet manual\n bond-slaves eth1 eth2\n bond-mode 4\n {line} echo 1 > /sys/class/net/bond0/bonding/mode\n"
        );
        assert_eq!(lines(&text)[2], format!("mode = \"{mode}\""));
    }
}

#[test]
fn the_netmask_holds_and_a_gateway_is_on_the_link() {
    let text = "iface bond0 inet static\n bond-slaves eth1\n address 192.0.2.1/24\n netmask 255.255.0.0\n gateway 198.51.100.1\n gateway 198.51.100.1\n\
                iface bond0 inet6 static\n address 2001:db8::1/64\n netmask 56\n gateway fe80::1\n";
    let import = read("ifupdown", text);
    let team = &import.network.teams[0];
    let texts = |of: Vec<String>| of.join(", ");
    assert_eq!(texts(team.addresses.iter().map(ToString::to_string).collect()), "192.0.2.1/16, 2001:db8::1/56");
    assert_eq!(
        texts(team.routes.iter().map(ToString::to_string).collect()),
        "198.51.100.1/32, default via 198.51.100.1, default via fe80::1"
    );
    assert_eq!(left(&import).iter().filter(|left| left.contains("length of the network from `netmask`")).count(), 2);
}

#[test]
fn comments_and_commas_are_no_members() {
    for (list, at, message) in [
        ("eth0 eth1 # both on-board", 24, "`#` is no comment here"),
        ("eth0 eth1 #both", 24, "`#both` is no comment here"),
        ("eth0,eth1", 14, "`eth0,eth1` is one word, and names no device"),
        ("eth0, eth1", 14, "`eth0,` is one word, and names no device"),
    ] {
        let text = format!("iface bond0 inet manual\n bond-slaves {list}\n bond-mode 1\n");
        let error = read_all("ifupdown", &[("a", &text)]).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains(&format!("a:2:{at}")), "{error}");
    }
}

const PROXMOX: &str = "\
auto bond0
iface bond0 inet manual
    ovs_bonds eno1 eno2
    ovs_type OVSBond
    ovs_bridge vmbr0
    ovs_mtu 9000
    ovs_options bond_mode=balance-tcp lacp=active other_config:lacp-time=fast vlan_mode=native-untagged
auto vmbr0
iface vmbr0 inet manual
    ovs_type OVSBridge
    ovs_ports bond0 vlan70
auto vlan70
iface vlan70 inet static
    address 192.0.2.1/24
    ovs_type OVSIntPort
    ovs_bridge vmbr0
    ovs_options tag=70
";

#[test]
fn bonds_of_open_vswitch_are_teams_in_its_modes() {
    let import = read("ifupdown", PROXMOX);
    let expected = [
        "[teams.bond0]",
        "members = [\"eno1\", \"eno2\"]",
        "mtu = 9000",
        "mode = \"ovs-balance-tcp\"",
        "lacp = \"active\"",
        "lacp_rate = \"fast\"",
    ];
    let mut shown = lines(PROXMOX);
    assert_eq!(shown.remove(0), expected[0]);
    let (mut shown, mut wanted) = (shown, expected[1..].iter().map(|of| (*of).to_owned()).collect::<Vec<_>>());
    shown.sort();
    wanted.sort();
    assert_eq!(shown, wanted);
    let left = left(&import);
    for words in [
        "7 vlan_mode=native-untagged | ",
        "9 iface vmbr0",
        "`bridge_ports bond0`",
        "13 iface vlan70",
        "`iface vmbr0.70`",
    ] {
        assert!(left.iter().any(|left| left.contains(words)), "{words}: {left:#?}");
    }
    let off: Vec<&str> = import.disable.iter().map(|of| of.what.as_str()).collect();
    assert!(off.iter().any(|what| what.starts_with("comment out lines 2 to 7")), "{off:?}");
    assert!(import.disable.iter().any(|of| of.command.as_deref() == Some("ovs-vsctl del-port vmbr0 bond0")));

    // Beside a bond of the kernel's.
    let both = format!("{PROXMOX}iface bond1 inet manual\n bond-slaves eth1 eth2\n bond-mode 1\n");
    assert_eq!(read("ifupdown", &both).network.teams.len(), 2);
    let wrong = PROXMOX.replace("balance-tcp", "balance-tpc");
    let error = read_all("ifupdown", &[("a", &wrong)]).unwrap_err().to_string();
    assert!(error.contains("a:7:17") && error.contains("balance-tpc"), "{error}");
}

#[test]
fn a_vlan_that_is_a_member_keeps_the_stanza_that_makes_it() {
    let text = "auto eth0.10 vlan20 bond0\niface eth0.10 inet manual\niface vlan20 inet manual\n vlan-raw-device eth1\n\
                iface bond0 inet manual\n bond-slaves eth0.10 vlan20\n bond-mode 1\n";
    let import = read("ifupdown", text);
    let off: Vec<&str> = import.disable.iter().map(|of| of.what.as_str()).collect();
    assert!(off.len() == 1 && off[0].starts_with("comment out lines 5 to 7"), "{off:?}");
}
