//! NetworkManager's profiles.

use nicteam_formats::{Import, toml};

use super::{left, read_all};

const BOND: &str = "\
[connection]
id=Bond the first
uuid=27afa607-ee36-43f0-b8c3-9d245cdc4bb3
type=bond
interface-name=bond0
autoconnect-slaves=1
zone=public

[bond]
mode=active-backup
miimon=100
primary=eth1
arp_validate=filter_backup
downdelay=0
num_grat_arp=4

[ethernet]
mtu=9000
cloned-mac-address=02:00:00:00:00:01

[ipv4]
address1=10.0.0.1/24,10.0.0.254
address2=10.0.0.2/24
dns=10.0.0.53;
method=manual
route-metric=50
route1=10.9.1.0/16,10.0.0.9,100
route1_options=table=5,onlink=true
route2=10.8.0.0/16,10.0.0.9
route3=10.7.0.0/16,10.0.0.9
route3_options=type=blackhole

[ipv6]
addr-gen-mode=default
method=auto
";

const ETH1: &str = "\
[connection]
id=bond0-port1
uuid=d6e8ae98-71f8-4b3d-9d2d-2e26048fe794
type=ethernet
interface-name=eth1
master=27afa607-ee36-43f0-b8c3-9d245cdc4bb3
slave-type=bond

[ethernet]
wake-on-lan=64
";

const ETH2: &str = "\
[connection]
id=bond0-port2
type=ethernet
interface-name=eth2
controller=bond0
port-type=bond

[bond-port]
prio=5
queue-id=2
";

const VLAN: &str = "\
[connection]
id=VLAN-4A
type=vlan
interface-name=VLAN-4A

[vlan]
parent=bond0
id=4
";

#[test]
fn a_bond_and_its_ports() {
    let files = [("a.nmconnection", BOND), ("b", ETH1), ("c", ETH2), ("d", VLAN)];
    let import = read_all("keyfile", &files).unwrap_or_else(|error| panic!("{error}"));
    let expected = "\
[teams.bond0]
members = [\"eth1\", \"eth2\"]
mode = \"active-backup\"
miimon = 100
primary = \"eth1\"
arp_validate = \"filter_backup\"
downdelay = 0
num_grat_arp = 4
prio = \"eth2:5\"
queue_id = \"eth2:2\"
mac = \"02:00:00:00:00:01\"
mtu = 9000
addresses = [\"10.0.0.1/24\", \"10.0.0.2/24\"]
routes = [\"default via 10.0.0.254 metric 50\", \"10.0.0.9/32 metric 100 table 5\", \
\"10.9.0.0/16 via 10.0.0.9 metric 100 table 5\", \"10.8.0.0/16 via 10.0.0.9 metric 50\"]
";
    assert_eq!(toml::write(&Import { network: import.network.clone(), ..Import::default() }), expected);
    let keeps = "make a profile for it: `nmcli connection add type ethernet ifname bond0`";
    let expected = [
        "7 zone=public | it is NetworkManager's".to_owned(),
        format!("24 dns=10.0.0.53; | it stays NetworkManager's: {keeps}"),
        "30 route3=10.7.0.0/16,10.0.0.9 | no team's route has that: the route stays in a profile of the team's device"
            .to_owned(),
        format!("35 method=auto | `auto` stays NetworkManager's: {keeps}"),
        "10 wake-on-lan=64 | it is of a member, which the team takes".to_owned(),
        "7 parent=bond0 | a device on the team stays in the old place: its profile works on the team as on a bond"
            .to_owned(),
    ];
    assert_eq!(left(&import), expected);
    let commands: Vec<&str> = import.disable.iter().filter_map(|of| of.command.as_deref()).collect();
    let expected = [
        "nmcli connection modify d6e8ae98-71f8-4b3d-9d2d-2e26048fe794 connection.autoconnect no",
        "nmcli connection modify bond0-port2 connection.autoconnect no",
        "nmcli connection modify 27afa607-ee36-43f0-b8c3-9d245cdc4bb3 connection.autoconnect no",
    ];
    assert_eq!(commands, expected);
}

#[test]
fn an_exported_profile() {
    let bond = "[connection]\nid=b\nuuid=u\ntype=bond\ninterface-name=bond0\nautoconnect=false\n[bond]\nmode=4\n\
                [ipv4]\naddresses1=10.0.0.2;24;10.0.0.1;\nroutes1=10.9.0.0;16;10.0.0.9;1;\nmethod=manual\n\
                [ipv6]\naddress=2001:db8::1/64\nip6-privacy=-1\nmethod=manual\nnever-default=true\ngateway=fe80::1\n\
                [proxy]\nmethod=0\n[user]\norg.example.note=1\n";
    let empty = "[connection]\ntype=bond\ninterface-name=bond1\n[ipv6]\nmethod=disabled\n";
    let port = "[connection]\ntype=vlan\ninterface-name=eth0.5\ncontroller=u\n";
    let import = read_all("keyfile", &[("a", bond), ("b", empty), ("c", port)]).unwrap();
    let expected = "[teams.bond0]\nmembers = [\"eth0.5\"]\nmode = \"802.3ad\"\naccept_ra = 0\n\
                    addresses = [\"10.0.0.2/24\", \"2001:db8::1/64\"]\n\
                    routes = [\"default via 10.0.0.1 metric 300\", \"10.9.0.0/16 via 10.0.0.9 metric 1\"]\n";
    assert_eq!(toml::write(&Import { network: import.network.clone(), ..Import::default() }), expected);
    let by_sysctl =
        |setting: &str| format!("a team has nothing for it: write `net.ipv6.conf.{setting}` into /etc/sysctl.d");
    let expected = [
        "6 autoconnect=false | a team of /etc/nicteam comes up with the machine".to_owned(),
        "1 no [ipv4] | NetworkManager takes `method=auto`, which stays its own: make a profile for it: \
         `nmcli connection add type ethernet ifname bond1`"
            .to_owned(),
        "3 bond1 | a team has one member at least, and none is named: its ports have profiles of their own: name \
         the folder that they are in, /etc/NetworkManager/system-connections, or its members by `--members`"
            .to_owned(),
        format!("5 method=disabled | {}", by_sysctl("bond1.disable_ipv6 = 1")),
    ];
    assert_eq!(left(&import), expected);
    assert_eq!(import.disable.len(), 2, "{:?}", import.disable);
}

/// What NetworkManager 1.42 makes of these was read off `nmcli --offline connection modify`.
#[test]
fn addresses_and_routes_as_network_manager_completes_them() {
    let bond = |ip: &str| {
        let profile = format!("[connection]\ntype=bond\ninterface-name=bond0\n{ip}");
        let port = "[connection]\ntype=ethernet\ninterface-name=eth1\nmaster=bond0\nslave-type=bond\n";
        read_all("keyfile", &[("a", &profile), ("b", port)]).unwrap_or_else(|error| panic!("{error}"))
    };
    let shown = |import: &Import| {
        let team = &import.network.teams[0];
        let addresses: Vec<String> = team.addresses.iter().map(ToString::to_string).collect();
        let routes: Vec<String> = team.routes.iter().map(ToString::to_string).collect();
        (addresses.join(" "), routes.join("; "))
    };
    let ignore = "[ipv6]\nmethod=ignore\n";
    for (v4, addresses, routes) in [
        // Without a length 24 bits, of routes, too.
        ("address1=10.0.0.1\nroute1=10.9.8.7,10.0.0.9,5\n", "10.0.0.1/24", "10.9.8.0/24 via 10.0.0.9 metric 5"),
        // By their numbers; the first gateway holds, and the family's own before it.
        (
            "address2=10.0.1.1/24,10.0.1.254\naddress1=10.0.0.1/24\naddress10=10.0.2.1/24,10.0.2.254\n",
            "10.0.0.1/24 10.0.1.1/24 10.0.2.1/24",
            "default via 10.0.1.254 metric 300",
        ),
        ("gateway=10.0.0.9\naddress1=10.0.0.1/24,10.0.0.254\n", "10.0.0.1/24", "default via 10.0.0.9 metric 300"),
        // 0 is a metric, and the last of a key holds.
        (
            "route-metric=0\naddress1=10.0.0.8/24\naddress1=10.0.0.1/24,10.0.0.9\n",
            "10.0.0.1/24",
            "default via 10.0.0.9",
        ),
        (
            "route-metric=7\nroute-table=5\naddress1=10.0.0.1/24\nroute1=10.9.0.0/16,,0\n",
            "10.0.0.1/24",
            "10.9.0.0/16 table 5",
        ),
        (
            "never-default=true\naddress1=10.0.0.1/24,10.0.0.9\nroute1=0.0.0.0/0,10.0.0.9,3\n",
            "10.0.0.1/24",
            "default via 10.0.0.9 metric 3",
        ),
    ] {
        let import = bond(&format!("[ipv4]\nmethod=manual\n{v4}{ignore}"));
        assert_eq!(shown(&import), (addresses.to_owned(), routes.to_owned()), "{v4}");
        assert_eq!(left(&import), [""; 0], "{v4}");
    }
    let import = bond(
        "[ipv4]\nmethod=disabled\n[ipv6]\nmethod=manual\naddress1=2001:db8::1,fe80::9\nroute1=2001:db8:1::,fe80::9\n",
    );
    let routes = "default via fe80::9 metric 300; 2001:db8:1::/128 via fe80::9 metric 300";
    assert_eq!(shown(&import), ("2001:db8::1/64".to_owned(), routes.to_owned()));
}

/// Of NetworkManager's methods `ignore` alone leaves router advertisements to the kernel, and `auto` reads them itself.
#[test]
fn router_advertisements_by_method() {
    for (method, accept_ra) in [
        ("manual\naddress1=2001:db8::1/64", Some(0)),
        ("link-local", Some(0)),
        ("dhcp", Some(0)),
        ("shared", Some(0)),
        ("auto", None),
        ("ignore", None),
        ("disabled", None),
    ] {
        let bond =
            format!("[connection]\ntype=bond\ninterface-name=b\n[ipv4]\nmethod=disabled\n[ipv6]\nmethod={method}\n");
        let port = "[connection]\ntype=ethernet\ninterface-name=eth1\nmaster=b\nslave-type=bond\n";
        let import = read_all("keyfile", &[("a", &bond), ("b", port)]).unwrap();
        assert_eq!(import.network.teams[0].accept_ra, accept_ra, "{method}");
        let stays = matches!(method, "dhcp" | "shared" | "auto" | "disabled");
        assert_eq!(import.left.len(), usize::from(stays), "{method}");
    }
}

#[test]
fn addresses_of_the_device() {
    for mac in ["02:00:00:00:00:0a", "02-00-00-00-00-0A", "2;0;0;0;0;10;"] {
        let bond = format!(
            "[connection]\ntype=bond\ninterface-name=b\n[ethernet]\ncloned-mac-address={mac}\n\
             [ipv4]\nmethod=disabled\n[ipv6]\nmethod=ignore\n"
        );
        let port = "[connection]\ntype=ethernet\ninterface-name=eth1\nmaster=b\nslave-type=bond\n";
        let import = read_all("keyfile", &[("a", &bond), ("b", port)]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(import.network.teams[0].mac, "02:00:00:00:00:0a".parse().ok(), "{mac}");
    }
}

#[test]
fn balance_slb_and_vlans_as_ports() {
    let bond = "[connection]\nid=bond0\ntype=bond\ninterface-name=bond0\n[bond]\nbalance-slb=1\nmode=balance-xor\n\
                xmit_hash_policy=vlan+srcmac\n[ipv4]\nmethod=disabled\n[ipv6]\nmethod=disabled\n";
    let vlan = "[connection]\nid=v 5\ntype=vlan\ninterface-name=eth1.5\nmaster=bond0\nslave-type=bond\n[vlan]\nid=5\nparent=eth1\n";
    let import = read_all("keyfile", &[("b", bond), ("v", vlan)]).unwrap();
    assert_eq!(import.network.teams[0].options, [("mode".to_owned(), "ovs-balance-slb".to_owned())]);
    let commands: Vec<&str> = import.disable.iter().filter_map(|of| of.command.as_deref()).collect();
    assert_eq!(
        commands,
        [
            "nmcli connection modify 'v 5' connection.master '' connection.slave-type ''",
            "nmcli connection modify bond0 connection.autoconnect no"
        ]
    );
}
