//! RHEL's interface files.

use nicteam_formats::{Import, Source, toml};

use super::{format, left, read, read_all, shown, switched_off};

#[test]
fn options_of_the_bond_come_before_the_drivers() {
    let files = [
        (
            "/etc/sysconfig/network-scripts/ifcfg-bond0",
            "DEVICE=bond0\nBONDING_OPTS=\"mode=active-backup miimon=50 primary=em1 arp_ip_target=+10.0.0.9,+10.0.0.8\"\n\
             IPADDR0=10.0.0.1\nPREFIX0=24\nIPADDR1=10.1.0.1 # more\nNETMASK1=255.255.0.0\nMTU=9000\n\
             MACADDR=02:00:00:00:00:01\nIPV6ADDR=2001:db8::1/64\nIPV6_DEFAULTGW=2001:db8::fe%bond0\nPEERDNS=no\n\
             ONBOOT=no\nUSERCTL=no\n. /etc/init.d/functions\n",
        ),
        ("ifcfg-em1", "DEVICE=em1\nMASTER=bond0\nSLAVE=yes\nHWADDR=00:11:22:33:44:55\nIPADDR=10.0.0.3\n"),
        ("ifcfg-em2", "MASTER='bond0'\nSLAVE=yes\n"),
        ("ifcfg-bond0.5", "DEVICE=bond0.5\nVLAN=yes\nIPADDR=10.5.0.1\n"),
        ("/etc/modprobe.d/bonding.conf", "alias bond0 bonding\noptions bonding max_bonds=2 mode=4 updelay=100\n"),
        (
            "route-bond0",
            "10.9.0.0/16 via 10.0.0.9 dev bond0\nADDRESS0=10.8.0.0\nNETMASK0=255.255.0.0\nGATEWAY0=10.0.0.9\n",
        ),
        ("/etc/sysconfig/network", "NETWORKING=yes\nGATEWAY=10.0.0.254\n"),
    ];
    let import = read_all("ifcfg", &files).unwrap_or_else(|error| panic!("{error}"));
    let expected = "\
[teams.bond0]
members = [\"em1\", \"em2\"]
mode = \"active-backup\"
miimon = 50
primary = \"em1\"
arp_ip_target = \"10.0.0.9,10.0.0.8\"
updelay = 100
mac = \"02:00:00:00:00:01\"
mtu = 9000
addresses = [\"10.0.0.1/24\", \"10.1.0.1/16\", \"2001:db8::1/64\"]
routes = [\"default via 2001:db8::fe\", \"10.9.0.0/16 via 10.0.0.9\", \"10.8.0.0/16 via 10.0.0.9\", \
\"default via 10.0.0.254\"]
";
    assert_eq!(toml::write(&Import { network: import.network.clone(), ..Import::default() }), expected);
    let expected = [
        "12 ONBOOT=no | a team of /etc/nicteam comes up with the machine",
        "14 . /etc/init.d/functions | only a shell can say what this is: write `KEY=value`",
        "4 HWADDR=00:11:22:33:44:55 | a team takes its members by their names",
        "5 IPADDR=10.0.0.3 | an address of a member has no effect in a bond: give it to the team, or take it out",
        "1 bond0.5 | a VLAN device on the team stays in the old place: its file works on the team as on a bond",
        "2 max_bonds=2 | `max_bonds` is the driver's and no option of a bond",
        "2 mode=4 | `mode` of bond0 is `active-backup`",
    ];
    assert_eq!(left(&import), expected);
}

#[test]
fn scripts_beside_the_files_are_none() {
    let text = "#!/bin/bash\n. ./network-functions\nDEVICE=${DEVNAME}\n";
    let script = Source::new("/etc/sysconfig/network-scripts/ifup-eth", text);
    assert!(!format("ifcfg").recognises(&script));
    assert_eq!(format("ifcfg").read(&[script]).unwrap(), Import::default());
}

#[test]
fn suses_words_are_taken() {
    let text = "# ifcfg-bond0\nSTARTMODE='onboot'\nBOOTPROTO='static'\nIPADDR='192.168.0.1/24'\nBONDING_MASTER='yes'\n\
                BONDING_SLAVE_0='eth0'\nBONDING_SLAVE_1='eth1'\nBONDING_MODULE_OPTS='mode=active-backup miimon=100'\n";
    let expected = "[teams.bond0]\nmembers = [\"eth0\", \"eth1\"]\nmode = \"active-backup\"\nmiimon = 100\n\
                    addresses = [\"192.168.0.1/24\"]\n";
    assert_eq!(shown("ifcfg", text), expected);
}

#[test]
fn values_go_over_several_lines_and_name_earlier_ones() {
    let of = |text: &str| shown("ifcfg", &format!("# ifcfg-bond0\n{text}# ifcfg-eth0\nMASTER=bond0\n"));
    let expected = "[teams.bond0]\nmembers = [\"eth0\"]\nmode = \"active-backup\"\nmiimon = 100\nprimary = \"eth0\"\n";
    assert_eq!(of("BONDING_OPTS=\"mode=active-backup miimon=100\nprimary=eth0\" # or eth1\n"), expected);
    assert_eq!(of("BONDING_OPTS='mode=1\n\n  miimon=100 primary=eth0'\n"), expected);
    assert_eq!(of("BONDING_OPTS=\"mode=1 \\\n  miimon=100 \\\n  primary=eth0\"\n"), expected);
    assert_eq!(of("MODE=1\nP=eth0\nBONDING_OPTS=\"mode=$MODE miimon=100 primary=${P}\"\n"), expected);
    assert_eq!(of("BONDING_OPTS=$'mode=1\\tmiimon=100\\nprimary=eth0'\n"), expected);
    // A quote that nothing closes is of its own line.
    assert_eq!(of("DNS1=\"10.0.0.2\nBONDING_OPTS='mode=1 miimon=100 primary=eth0'\n"), expected);
}

#[test]
fn targets_add_up() {
    let text = "# ifcfg-bond0\nBONDING_OPTS=\"mode=1 arp_interval=100 arp_ip_target=+10.0.0.1 arp_ip_target=+10.0.0.2\"\n\
                # ifcfg-eth0\nMASTER=bond0\n";
    assert!(shown("ifcfg", text).contains("arp_ip_target = \"10.0.0.1,10.0.0.2\"\n"));
}

#[test]
fn bonds_are_found_by_their_uuid_and_empty_ones_stay() {
    let uuid = "0b7fd1c3-5e0e-4d1b-9a36-0a3c5a1d9d11";
    let text = format!(
        "# ifcfg-bond0\nBONDING_OPTS=mode=1\nUUID={uuid}\n# ifcfg-bond1\nBONDING_OPTS=mode=1\nPEERDNS=no\n\
         # ifcfg-eth0\nMASTER={uuid}\n# ifcfg-eth1\nMASTER_UUID={uuid}\nMASTER=other\n\
         # ifcfg-v\nPHYSDEV={uuid}\n"
    );
    let import = read("ifcfg", &text);
    assert_eq!(import.network.teams.len(), 1);
    assert_eq!(import.network.teams[0].members, ["eth0", "eth1"]);
    let expected = [
        "4 bond1 | a team has one member at least, and none is named: `--members eth1,eth2` names them",
        "12 v | a VLAN device on the team stays in the old place: its file works on the team as on a bond",
    ];
    assert_eq!(left(&import), expected);
    assert_eq!(import.disable.len(), 3, "{:?}", import.disable);
}

#[test]
fn a_file_that_is_still_needed_stays() {
    let bond =
        "DEVICE=bond0\nTYPE=Bond\nONBOOT=yes\nBONDING_OPTS=\"mode=1\n miimon=100\"\nBOOTPROTO=dhcp\nDNS1=10.0.0.2\n";
    let eth0 = ("ifcfg-eth0", "MASTER=bond0");
    let import = read_all("ifcfg", &[("ifcfg-bond0", bond), eth0]).unwrap();
    let expected = [
        "6 BOOTPROTO=dhcp | DHCP stays in this file, which asks for an address of the team's device as of the bond's",
        "7 DNS1=10.0.0.2 | a team has nothing for it: it stays in this file, which serves the team's device as it served the \
         bond's",
    ];
    assert_eq!(left(&import), expected);
    let expected = [
        "set `ONBOOT=no` in the file of the member `eth0` | sed -i '$a ONBOOT=no' ifcfg-eth0",
        "comment out lines 2, 4 to 5 (`TYPE`, `BONDING_OPTS`) in the file of the bond `bond0`: its other lines stay, for they \
         serve the team's device | sed -i '2s/^/#/; 4,5s/^/#/' ifcfg-bond0",
    ];
    assert_eq!(switched_off(&import), expected);
    let files = [("ifcfg-bond0", "BONDING_OPTS=mode=1\n"), eth0, ("rule-bond0", "from 10.0.0.1 table 100\n")];
    let import = read_all("ifcfg", &files).unwrap();
    let expected = [
        "1 from 10.0.0.1 table 100 | a team has no policy rules: this file stays, and `ifup bond0` adds the rule for \
                     the team's device, too",
    ];
    assert_eq!(left(&import), expected);
    assert!(switched_off(&import)[1].starts_with("comment out line 1 (`BONDING_OPTS`)"));
}

#[test]
fn suses_files_are_switched_off_by_their_own_word() {
    let folder = "/etc/sysconfig/network";
    let files = [
        (
            "ifcfg-bond0",
            "STARTMODE='auto'\nIPADDR='10.0.0.1/24'\nIPADDR_1='10.1.0.1'\nPREFIXLEN_1='16'\nBONDING_SLAVE_0='eth0'\nBONDING_MASTER='yes'\n",
        ),
        ("ifcfg-eth0", "BOOTPROTO='none'\nNAME='82574L'\n"),
        ("ifcfg-eth1", "STARTMODE='hotplug'\n"),
        ("ifcfg-vlan10", "ETHERDEVICE='bond0'\nVLAN_ID='10'\n"),
        ("ifcfg-br0", "BRIDGE='yes'\nBRIDGE_PORTS='bond0 eth5'\n"),
        (
            "routes",
            "default 10.0.0.254 - -\n10.9.0.0 10.0.0.9 255.255.0.0 bond0\n10.7.0.0/16 - - bond0 blackhole\n10.6.0.0/16 - - eth5\n",
        ),
        ("ifroute-bond0", "10.8.0.0/16 10.0.0.9 - - unicast metric 5\n"),
    ];
    let files = files.map(|(name, text)| (format!("{folder}/{name}"), text));
    let import = read_all("ifcfg", &files.each_ref().map(|(path, text)| (path.as_str(), *text))).unwrap();
    let expected = "[teams.bond0]\nmembers = [\"eth0\"]\naddresses = [\"10.0.0.1/24\", \"10.1.0.1/16\"]\n\
                    routes = [\"default via 10.0.0.254\", \"10.9.0.0/16 via 10.0.0.9\", \"10.8.0.0/16 via 10.0.0.9 metric 5\"]\n";
    assert_eq!(toml::write(&Import { network: import.network.clone(), ..Import::default() }), expected);
    let expected = [
        "1 vlan10 | a VLAN device on the team stays in the old place: its file works on the team as on a bond",
        "1 br0 | the bridge stays in this file: it takes the team's device as it took the bond's",
        "3 10.7.0.0/16 - - bond0 blackhole | a route of type `blackhole` leads by no team: add it by `ip route` yourself, \
         beside the team's routes",
    ];
    assert_eq!(left(&import), expected);
    let expected = [
        "set `STARTMODE=off` in the file of the member `eth0` | sed -i '$a STARTMODE=off' /etc/sysconfig/network/ifcfg-eth0",
        "set `STARTMODE=off` in the file of the bond `bond0` | \
         sed -i 's/^STARTMODE=.*/STARTMODE=off/' /etc/sysconfig/network/ifcfg-bond0",
    ];
    assert_eq!(switched_off(&import)[..2], expected);
    assert_eq!(import.disable.len(), 5);
}

#[test]
fn the_driver_is_told_of_one_bond_first() {
    let text = "# modprobe.conf\noptions bonding mode=1 miimon=100 max_bonds=2\noptions bond0 mode=4\n\
                install bond1 /sbin/modprobe --ignore-install bonding -o bond1 mode=6\ninstall bond2 /sbin/bonding-up\n\
                # ifcfg-eth0\nMASTER=bond0\n# ifcfg-eth1\nMASTER=bond1\n# ifcfg-eth2\nMASTER=bond2\n";
    let expected = "[teams.bond0]\nmembers = [\"eth0\"]\nmode = \"802.3ad\"\nmiimon = 100\n\n\
                    [teams.bond1]\nmembers = [\"eth1\"]\nmode = \"balance-alb\"\nmiimon = 100\n\n\
                    [teams.bond2]\nmembers = [\"eth2\"]\nmode = \"active-backup\"\nmiimon = 100\n";
    assert_eq!(shown("ifcfg", text), expected);
    let left = left(&read("ifcfg", text)).join("\n");
    assert!(left.contains("5 install bond2 /sbin/bonding-up | nicteam needs no driver"), "{left}");
}

#[test]
fn what_has_no_effect_there_has_none_here() {
    let text = "# ifcfg-bond0\nBONDING_OPTS=mode=1\nIPADDR=10.0.0.1\nPREFIX=24\nGATEWAY=10.0.0.254\nDEFROUTE=no\n\
                IPV6INIT=no\nIPV6ADDR=2001:db8::1\nIPV6_AUTOCONF=no\nBROADCAST=10.0.0.9\n# ifcfg-eth0\nMASTER=bond0\n\
                # route-bond0\nblackhole 10.9.0.0/16\n10.8.0.0/16 via 10.0.0.9\nADDRESS0=10.7.0.0\nNETMASK0=255.255.0.0\n\
                OPTIONS0='mtu 1400'\n# rc.local\nip route add blackhole 10.6.0.0/16 dev bond0\n# ifcfg-bond0-range0\n\
                IPADDR_START=10.0.0.5\n";
    let import = read("ifcfg", text);
    let team = &import.network.teams[0];
    assert_eq!((team.addresses.len(), team.routes.len()), (1, 2), "{team:?}");
    let no_type =
        "a route of type `blackhole` leads by no team: add it by `ip route` yourself, beside the team's routes";
    let expected = [
        "5 GATEWAY=10.0.0.254 | it has no effect in the old place: `DEFROUTE=no`".to_owned(),
        "8 IPV6ADDR=2001:db8::1 | it has no effect in the old place: `IPV6INIT=no`".to_owned(),
        "10 BROADCAST=10.0.0.9 | the team has what follows from its address".to_owned(),
        format!("14 blackhole 10.9.0.0/16 | {no_type}"),
        "18 OPTIONS0='mtu 1400' | the route is taken over without `mtu 1400`".to_owned(),
        format!("20 ip route add blackhole 10.6.0.0/16 dev bond0 | {no_type}"),
        "21 bond0-range0 | a range of addresses: give each of them to `addresses`".to_owned(),
    ];
    assert_eq!(left(&import), expected);
}

/// As `ifup-ipv6` of initscripts sets `accept_ra`, and NetworkManager's reader of these files its method.
#[test]
fn router_advertisements() {
    for (lines, accept_ra) in [
        ("IPV6_AUTOCONF=no", Some(0)),
        ("IPV6INIT=yes\nIPV6_AUTOCONF=NO", Some(0)),
        ("IPV6FORWARDING=yes", Some(0)),
        ("IPV6FORWARDING=yes\nIPV6_AUTOCONF=yes", Some(2)),
        ("IPV6_AUTOCONF=yes", None),
        ("IPV6INIT=no\nIPV6_AUTOCONF=no", None),
        ("IPV6_AUTOCONF=no\nIPV6_FORCE_ACCEPT_RA=yes", None),
        ("IPV6_AUTOCONF=no\nIPV6_SET_SYSCTLS=no", None),
    ] {
        let text = format!("# ifcfg-bond0\nBONDING_OPTS=mode=1\n{lines}\n# ifcfg-eth0\nMASTER=bond0\n");
        assert_eq!(read("ifcfg", &text).network.teams[0].accept_ra, accept_ra, "{lines}");
    }
    let text = "# ifcfg-bond0\nBONDING_OPTS=mode=1\nIPV6_AUTOCONF=no\n# ifcfg-eth0\nMASTER=bond0\n";
    assert_eq!(left(&read("ifcfg", text)), [""; 0]);
}

/// Forms of NetworkManager's own test files (ifcfg-rh), and of wicked's ifcfg(5).
#[test]
fn forms_of_both_programs() {
    let text = "# ifcfg-bond0\nBONDING_MASTER=Yes\nBONDING_OPTS=\"mode=active-backup downdelay=5 miimon=100 updelay=10\"\n\
                BOOTPROTO=NONE\nIPADDR0=1.1.1.3\nPREFIX0=24\nGATEWAY0=1.1.1.1\nIPADDR1=1.2.3.4\nPREFIX1=24\nGATEWAY1=1.2.3.1\n\
                IPADDR_AAA=10.1.0.1/16\nIPADDRold=10.2.0.1\nNETMASKold=255.255.0.0\nMACADDR=stable\nIPV4_ROUTE_METRIC=7\n\
                IPV6ADDR=2001:db8::1\nIPV6_DEFAULTGW=fe80::1%bond0\nIPV6_ROUTE_METRIC=9\n\
                # ifcfg-eth0\nMASTER=bond0\nSLAVE=yes\nBOND_PORT_QUEUE_ID=1\nBOND_PORT_PRIO=3\n\
                # route-bond0\nADDRESS0=10.9.0.0\nNETMASK0=255.255.0.0\nGATEWAY0=10.5.0.1\nOPTIONS0=\"onlink table 5\"\n";
    let expected = "[teams.bond0]\nmembers = [\"eth0\"]\nmode = \"active-backup\"\ndowndelay = 5\nmiimon = 100\nupdelay = 10\n\
                    queue_id = \"eth0:1\"\nprio = \"eth0:3\"\n\
                    addresses = [\"1.1.1.3/24\", \"1.2.3.4/24\", \"10.1.0.1/16\", \"10.2.0.1/16\", \"2001:db8::1/64\"]\n\
                    routes = [\"default via 1.1.1.1 metric 7\", \"default via fe80::1 metric 9\", \
                    \"10.5.0.1/32 table 5\", \"10.9.0.0/16 via 10.5.0.1 table 5\"]\n";
    assert_eq!(shown("ifcfg", text), expected);
    let expected = [
        "10 GATEWAY1=1.2.3.1 | it has no effect in the old place: the first gateway holds",
        "14 MACADDR=stable | NetworkManager chooses an address for the bond: write it into `mac`",
    ];
    assert_eq!(left(&read("ifcfg", text)), expected);
}

#[test]
fn a_bond_of_open_vswitch_is_a_team() {
    let text = "DEVICE=bond0\nONBOOT=yes\nDEVICETYPE=ovs\nTYPE=OVSBond\nOVS_BRIDGE=br0\nBOOTPROTO=none\n\
                BOND_IFACES=\"eth1 eth2\"\nOVS_OPTIONS=\"bond_mode=balance-slb lacp=active tag=7\"\n";
    let import = read_all("ifcfg", &[("/etc/sysconfig/network-scripts/ifcfg-bond0", text)]).unwrap();
    let team = &import.network.teams[0];
    assert_eq!(team.members, ["eth1", "eth2"]);
    let options: Vec<String> = team.options.iter().map(|(name, value)| format!("{name} {value}")).collect();
    assert_eq!(options, ["mode ovs-balance-slb", "lacp active"]);
    let left = super::left(&import);
    assert!(left.iter().any(|left| left.contains("tag=7")), "{left:?}");
    assert!(left.iter().any(|left| left.contains("`BRIDGE=br0`")), "{left:?}");
    assert!(import.disable.iter().any(|of| of.command.as_deref() == Some("ovs-vsctl del-port br0 bond0")));
}

#[test]
fn variables_that_double_have_an_end() {
    let text = "DEVICE=bond0\nTYPE=Bond\nBONDING_OPTS=mode=1\nA=abcdefgh\n".to_owned() + &"A=\"$A$A\"\n".repeat(24);
    let member = "DEVICE=eth1\nMASTER=bond0\n";
    let import = read_all("ifcfg", &[("ifcfg-bond0", &text), ("ifcfg-eth1", member)]).unwrap();
    assert!(super::left(&import).iter().any(|left| left.contains("variables make more than 1 MiB of this file")));
}

#[test]
fn an_exported_line_is_switched_off_by_the_printed_command() {
    let folder = std::env::temp_dir().join(format!("nicteam-ifcfg-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("ifcfg-bond0");
    for (before, after) in [
        ("ONBOOT=yes", "ONBOOT=no"),
        ("  ONBOOT='yes' # always", "  ONBOOT=no"),
        ("export ONBOOT=\"yes\"", "export ONBOOT=no"),
    ] {
        let text = format!("DEVICE=bond0\nTYPE=Bond\nBONDING_SLAVE0=eth1\n{before}\n");
        std::fs::write(&path, &text).unwrap();
        let import = read_all("ifcfg", &[(path.to_str().unwrap(), &text)]).unwrap();
        let command = import.disable[0].command.clone().unwrap();
        assert!(std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success(), "{command}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text.replace(before, after), "{command}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_vlan_that_is_a_member_keeps_the_file_that_makes_it() {
    let bond = "DEVICE=bond0\nTYPE=Bond\nONBOOT=yes\nBONDING_OPTS='mode=1 balance-slb=0'\n";
    let vlan = "DEVICE=eth0.10\nVLAN=yes\nONBOOT=yes\nMASTER=bond0\nSLAVE=yes\n";
    let folder = "/etc/sysconfig/network-scripts";
    let import =
        read_all("ifcfg", &[(&format!("{folder}/ifcfg-bond0"), bond), (&format!("{folder}/ifcfg-eth0.10"), vlan)])
            .unwrap();
    let commands: Vec<&str> = import.disable.iter().filter_map(|of| of.command.as_deref()).collect();
    assert_eq!(
        commands,
        [
            format!("sed -i '4s/^/#/; 5s/^/#/' {folder}/ifcfg-eth0.10"),
            format!("sed -i 's/^ONBOOT=.*/ONBOOT=no/' {folder}/ifcfg-bond0")
        ]
    );
}

#[test]
fn balance_slb_asks_nothing_of_the_switch() {
    let text = "DEVICE=bond0\nTYPE=Bond\nBONDING_SLAVE0=eth1\nBONDING_OPTS='balance-slb=1 mode=balance-xor xmit_hash_policy=vlan+srcmac'\n";
    let import = read_all("ifcfg", &[("ifcfg-bond0", text)]).unwrap();
    assert_eq!(import.network.teams[0].options, [("mode".to_owned(), "ovs-balance-slb".to_owned())]);
}
