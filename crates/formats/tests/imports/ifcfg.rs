//! RHEL's interface files.

use nicteam_formats::{Import, Source, toml};

use super::{format, left, read_all, shown};

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
        "11 PEERDNS=no | nicteam has nothing for it: the file without bonding's lines works on the team as on a bond",
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
    let script = Source {
        path: "/etc/sysconfig/network-scripts/ifup-eth".to_owned(),
        text: "#!/bin/bash\n. ./network-functions\nDEVICE=${DEVNAME}\n".to_owned(),
    };
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
