//! Every error of ifupdown's, RHEL's, NetworkManager's and networkd's files, and of our own: its place, words and hint.

use super::read_all;

/// Format, text, line and column, message, how the hint begins.
type Case = (&'static str, &'static str, (usize, usize), &'static str, &'static str);

const OWN: &[Case] = &[
    ("toml", "[teams.t]\nmembers = [", (2, 11), "a list goes on where something else begins", "its form is"),
    (
        "toml",
        "{ \"a\": 1 }\nb\nc\n",
        (1, 1),
        "this file is not TOML: most of its lines cannot be read",
        "docs/import.md",
    ),
    ("toml", "[team.t]\n", (1, 2), "unknown key `team` at the top of the file", "everything stands in sections"),
    ("toml", "teams = 5\n", (1, 9), "`teams` must be a table, not a whole number", "write a section [teams.NAME]"),
    (
        "toml",
        "[teams]\nt = 1.5\n",
        (2, 5),
        "`t` must be a table, not a number with a fraction",
        "write a section [teams.t]",
    ),
    ("toml", "[teams.t]\nmembrs = [\"a\"]\n", (1, 8), "team `t` has no `members`", "add `members"),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nmimon = 1\n",
        (3, 1),
        "unknown key `mimon` in [teams.NAME]",
        "did you mean `miimon`?",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nqqqqqq = 1\n",
        (3, 1),
        "unknown key `qqqqqq` in [teams.NAME]",
        "the keys are `members`",
    ),
    (
        "toml",
        "[teams.t]\nmembers = \"a\"\n",
        (2, 11),
        "`members` must be a list of names of devices, not a text",
        "for example",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [1]\n",
        (2, 12),
        "`members` must be a list of names of devices, not a whole number",
        "for",
    ),
    ("toml", "[teams.t]\nmembers = []\n", (2, 11), "`members` names no device", "name at least one"),
    ("toml", "[teams.t]\nmembers = [\"a\", \"a\"]\n", (2, 17), "`a` is named twice", "name each member once"),
    ("toml", "[teams.t]\nmembers = [\"t\"]\n", (2, 12), "`t` is the team itself", "its members are other devices"),
    ("toml", "[teams.t]\nmembers = [\"a b\"]\n", (2, 12), "`a b` is no name of a device", "a device's name has"),
    (
        "toml",
        "[teams.a-very-long-name]\nmembers = [\"a\"]\n",
        (1, 8),
        "`a-very-long-name` is no name of a device",
        "a device's",
    ),
    (
        "toml",
        "[teams.thirteenchars]\nmembers = [\"a\"]\n",
        (1, 8),
        "`thirteenchars` is too long for the name of a team",
        "a team's name has at most 12",
    ),
    ("toml", "[teams.\"t%d\"]\nmembers = [\"a\"]\n", (1, 8), "`t%d` cannot be the name of a team", "letters, digits"),
    ("toml", "[teams.t]\nmembers = [\"a\"]\nmac = \"x\"\n", (3, 7), "`x` is no MAC address", "six two-digit"),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nmac = \"01:00:00:00:00:00\"\n",
        (3, 7),
        "`01:00:00:00:00:00` is no address that a device can have",
        "six",
    ),
    ("toml", "[teams.t]\nmembers = [\"a\"]\nmtu = 67\n", (3, 7), "`67` is no MTU", "a whole number from 68 to 65535"),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nmtu = \"9000\"\n",
        (3, 7),
        "`mtu` must be a whole number from 68 to 65535, not a text",
        "for example `mtu = 9000`",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\naccept_ra = 3\n",
        (3, 13),
        "`3` is no value for `accept_ra`",
        "0 takes no router advertisements",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\naccept_ra = false\n",
        (3, 13),
        "`accept_ra` must be 0, 1 or 2, not `true` or `false`",
        "for example `accept_ra = 0`",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\ndataplane = \"packets\"\n",
        (3, 13),
        "no dataplane `packets`",
        "did you mean `packet`?",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\ndataplane = \"xdp\"\n",
        (3, 13),
        "no dataplane `xdp`",
        "it takes `bpf` or `packet`",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\naddresses = [\"10.0.0.1\"]\n",
        (3, 14),
        "`10.0.0.1` has no length of its prefix",
        "add it",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nroutes = [\"default gw 10.0.0.1\"]\n",
        (3, 11),
        "`gw` is no word of a route",
        "a route is",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nroutes = [\"default dev eth0\"]\n",
        (3, 11),
        "a route by `eth0` stands at team `t`",
        "a team's routes",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nroutes = [\"default proto boot\"]\n",
        (3, 11),
        "`proto boot` is nothing that a team's route has",
        "leave it out",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nmode = \"balance-r\"\n",
        (3, 8),
        "`balance-r` is no value for the team option `mode`",
        "did you mean `balance-rr`?",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nmode = []\n",
        (3, 8),
        "the option `mode` cannot be a list",
        "options are text",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nlacp_rate = 1\nlacp-rate = 0\n",
        (4, 1),
        "`lacp_rate` is given twice",
        "an option stands once",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nmode = 1\nprimary = \"b\"\n",
        (4, 1),
        "`primary` b is no member of team t",
        "its members are a",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\nprimary = \"a\"\n",
        (3, 1),
        "`primary a` works in modes",
        "change or remove it in team `t`",
    ),
    (
        "toml",
        "[teams.t]\nmembers = [\"a\"]\n[teams.u]\nmembers = [\"a\"]\n",
        (4, 12),
        "`a` is a member of team t, too",
        "a device is in one team alone",
    ),
];

const IFUPDOWN: &[Case] = &[
    ("ifupdown", "iface\n", (1, 1), "too few words behind `iface`", "a stanza begins with"),
    (
        "ifupdown",
        "iface b inet5 static\n mtu 9000\n",
        (1, 9),
        "`inet5` is no family of addresses",
        "a stanza begins with",
    ),
    ("ifupdown", "address 10.0.0.1\n", (1, 1), "`address` stands in no stanza", "options follow the line"),
    (
        "ifupdown",
        "iface b inet manual\n bond-slaves all\n",
        (2, 14),
        "`all` are the devices with `eth` in their names, which only their machine knows",
        "name them",
    ),
    (
        "ifupdown",
        "iface b inet manual\n bond-slaves e0\n bond-mode rr\n",
        (3, 12),
        "`rr` is no value for the team option `mode`",
        "it takes",
    ),
    (
        "ifupdown",
        "iface b inet static\n bond-slaves e0\n address x\n",
        (3, 10),
        "`x` is no IP address",
        "an address is",
    ),
    (
        "ifupdown",
        "iface b inet static\n bond-slaves e0\n address 10.0.0.1\n netmask 255.0.255.0\n",
        (3, 10),
        "`255.0.255.0` is no netmask and no length of a prefix",
        "a prefix has",
    ),
    (
        "ifupdown",
        "iface b inet static\n bond-slaves e0\n gateway x\n",
        (3, 10),
        "`x` is no IP address",
        "an address is",
    ),
    ("ifupdown", "iface b inet manual\n bond-slaves e0\n hwaddress ether 1\n", (3, 12), "`1` is no MAC address", "six"),
    ("ifupdown", "iface b inet manual\n bond-slaves e0\n mtu big\n", (3, 6), "`big` is no MTU", "a whole number"),
    (
        "ifupdown",
        "iface b inet manual\n bond-slaves e0\n up ip route add 10.9.0.1/16 dev b\n",
        (3, 5),
        "the destination 10.9.0.1/16 has bits beyond its prefix",
        "its network is",
    ),
    (
        "ifupdown",
        "iface b inet manual\n bond-slaves e0\n up route add -net x netmask 255.0.0.0 gw 10.0.0.1\n",
        (3, 5),
        "`x` is no IP address",
        "name the network by its address",
    ),
    (
        "ifupdown",
        "iface b inet manual\n bond-slaves e0\niface c inet manual\n bond-slaves e0\n",
        (4, 14),
        "`e0` is a member of team b, too",
        "a device is in one",
    ),
];

const IFCFG: &[Case] = &[
    (
        "ifcfg",
        "DEVICE=b\nBONDING_OPTS=\"mode=$MODE\"\nBONDING_SLAVE0=e0\n",
        (2, 1),
        "the value of `BONDING_OPTS` cannot be read",
        "only a shell can tell this value: write",
    ),
    (
        "ifcfg",
        "DEVICE=b\nBONDING_OPTS=\"mode=4\nBONDING_SLAVE0=e0\n",
        (2, 1),
        "the value of `BONDING_OPTS` cannot be read",
        "the quote is not closed",
    ),
    (
        "ifcfg",
        "# ifcfg-p1\nHWADDR=00:11:22:33:44:55\nMASTER=b\n",
        (2, 8),
        "only its machine knows which device is in b",
        "add `DEVICE=eth1`",
    ),
    (
        "ifcfg",
        "# ifcfg-p1\nMASTER=0b7fd1c3-5e0e-4d1b-9a36-0a3c5a1d9d11\n",
        (2, 8),
        "no file of these has the UUID `0b7fd1c3-5e0e-4d1b-9a36-0a3c5a1d9d11`",
        "name the file of the bond",
    ),
    ("ifcfg", "DEVICE=b\nTYPE=Bond\nBONDING_SLAVE0=e0\nIPADDR=x\n", (4, 8), "`x` is no IP address", "an address is"),
    (
        "ifcfg",
        "DEVICE=b\nBONDING_OPTS=\"mode\"\nBONDING_SLAVE0=e0\n",
        (2, 14),
        "`mode` is no option",
        "options are `mode=4 miimon=100`",
    ),
    (
        "ifcfg",
        "DEVICE=b\nBONDING_OPTS='mode=9'\nBONDING_SLAVE0=e0\n",
        (2, 14),
        "`9` is no value for the team option `mode`",
        "it takes",
    ),
    ("ifcfg", "DEVICE=b\nTYPE=Bond\nBONDING_SLAVE0=e0\nGATEWAY=gw\n", (4, 9), "`gw` is no IP address", "an address is"),
    (
        "ifcfg",
        "DEVICE=b\nTYPE=Bond\nBONDING_SLAVE0=e0\n# route-b\n10.9.0.1/16\n",
        (5, 1),
        "the destination 10.9.0.1/16 has bits beyond its prefix",
        "its",
    ),
    (
        "ifcfg",
        "DEVICE=b\nTYPE=Bond\nBONDING_SLAVE0=e0\n# route-b\nADDRESS0=x\n",
        (5, 10),
        "the destination is no IP address",
        "`ADDRESS0=",
    ),
];

const KEYFILE: &[Case] = &[
    (
        "keyfile",
        "[connection]\ntype=bond\n",
        (1, 1),
        "a bond without a name of its device",
        "add `interface-name=bond0`",
    ),
    (
        "keyfile",
        "[connection]\nx\n",
        (2, 1),
        "NetworkManager refuses the file: a line is `KEY=VALUE` or `[SECTION]`",
        "correct",
    ),
    (
        "keyfile",
        "x=1\n",
        (1, 1),
        "NetworkManager refuses the file: it stands before the first section",
        "correct the line",
    ),
    (
        "keyfile",
        "[connection\n",
        (1, 1),
        "NetworkManager refuses the file: the header of a section ends with `]`",
        "correct",
    ),
    ("keyfile", "[a]\n=1\n", (2, 1), "NetworkManager refuses the file: there is no key before `=`", "correct"),
    (
        "keyfile",
        "[connection]\ntype=ethernet\nmaster=b\nslave-type=bond\n",
        (3, 8),
        "no profile of these is the bond `b`",
        "name the file",
    ),
    (
        "keyfile",
        "[connection]\ntype=bond\ninterface-name=b\n[bond]\nmode=7\n",
        (5, 6),
        "`7` is no value for the team option `mode`",
        "it takes",
    ),
    (
        "keyfile",
        "[connection]\ntype=bond\ninterface-name=b\n[ipv4]\naddress1=x/24\nmethod=auto\n",
        (5, 10),
        "`x` is no IP address",
        "an address is",
    ),
    (
        "keyfile",
        "[connection]\ntype=bond\ninterface-name=b\n[ipv4]\ngateway=x\nmethod=auto\n",
        (5, 9),
        "`x` is no IP address",
        "an address is",
    ),
    (
        "keyfile",
        "[connection]\ntype=bond\ninterface-name=b\n[ipv4]\nroute1=x\nmethod=auto\n",
        (5, 8),
        "`x` is no destination",
        "a route is",
    ),
    (
        "keyfile",
        "[connection]\ntype=bond\ninterface-name=b\n[ipv4]\naddress1=10.0.0.1/24\n",
        (4, 1),
        "NetworkManager refuses the profile: [ipv4] has no `method`",
        "add `method=manual`",
    ),
    (
        "keyfile",
        "[connection]\ntype=bond\ninterface-name=b\n[ipv4]\nmethod=manual\n",
        (4, 1),
        "NetworkManager refuses the profile: no address beside `method=manual`",
        "add `address1=",
    ),
    (
        "keyfile",
        "[connection]\ntype=bond\ninterface-name=b\n[ipv6]\nmethod=ignore\naddress1=2001:db8::1/64\n",
        (6, 1),
        "NetworkManager refuses the profile: addresses beside `method=ignore`",
        "`method=manual`, or take them out",
    ),
];

const NETWORKD: &[Case] = &[
    ("networkd", "[NetDev]\nKind=bond\n", (2, 1), "a device without a name", "add `Name=bond0` to [NetDev]"),
    (
        "networkd",
        "[NetDev]\nName=bond0\nKind=bond\n[Match]\nName=e0\n[Network]\nBond=bond1\n",
        (7, 6),
        "no `.netdev` of these makes `bond1`",
        "did you mean `bond0`?",
    ),
    (
        "networkd",
        "[NetDev]\nName=b\nKind=bond\n[Bond]\nMIIMonitorSec=soon\n",
        (5, 15),
        "`soon` is no span of time",
        "for example `100ms`",
    ),
    (
        "networkd",
        "[NetDev]\nName=b\nKind=bond\n[Bond]\nAllSlavesActive=perhaps\n",
        (5, 17),
        "`perhaps` is neither yes nor no",
        "`yes` or `no`",
    ),
    (
        "networkd",
        "[NetDev]\nName=b\nKind=bond\n[Bond]\nMode=x\n",
        (5, 6),
        "`x` is no value for the team option `mode`",
        "it takes",
    ),
    ("networkd", "[Network]\nBond=b\n", (2, 6), "no `.netdev` of these makes `b`", "name its file beside this one"),
    (
        "networkd",
        "[NetDev]\nName=b\nKind=bond\n[Match]\nMACAddress=02:00:00:00:00:01\n[Network]\nBond=b\n",
        (5, 1),
        "only its machine knows which devices are in b",
        "add `Name=eth1 eth2`",
    ),
    (
        "networkd",
        "[NetDev]\nName=b\nKind=bond\n[Match]\nName=en*\n[Network]\nBond=b\n",
        (5, 6),
        "only its machine knows which devices `en*` are",
        "name the devices",
    ),
    (
        "networkd",
        "[NetDev]\nName=b\nKind=bond\n[Match]\nName=b\n[Network]\nAddress=x\n",
        (7, 9),
        "`x` is no IP address",
        "an address is",
    ),
    (
        "networkd",
        "[NetDev]\nName=b\nKind=bond\n[Match]\nName=b\n[Network]\nGateway=x\n",
        (7, 9),
        "`x` is no IP address",
        "a gateway is an address",
    ),
    (
        "networkd",
        "[NetDev]\nName=b\nKind=bond\n[Match]\nName=b\n[Route]\nDestination=x\n",
        (6, 1),
        "`x` is no destination",
        "a route is",
    ),
];

#[test]
fn each_error_has_its_words() {
    let mut others = Vec::new();
    for (format, text, place, message, hint) in [OWN, IFUPDOWN, IFCFG, KEYFILE, NETWORKD].into_iter().flatten() {
        let diagnostics = match read_all(format, &[("a", text)]) {
            Err(diagnostics) => diagnostics,
            Ok(import) => panic!("{format}: {text}: {import:#?}"),
        };
        let is_it = |entry: &nicteam_diagnostics::Diagnostic| {
            let is_there = (entry.line, entry.column) == (Some(place.0), Some(place.1));
            is_there && entry.message.starts_with(message) && entry.hint.as_deref().unwrap_or("").starts_with(hint)
        };
        if !diagnostics.entries().iter().any(is_it) {
            others.push(format!("{place:?} {message} ({hint})\n{diagnostics}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// A bond in one file, its members in another two, both of which say nothing that names them.
const MEMBERS_UNREAD: &[(&str, &str)] = &[
    ("10-bond0.netdev", "[NetDev]\nName=bond0\nKind=bond\n[Bond]\nMode=802.3ad\n"),
    ("20-a.network", "[Match]\nName=enp*\n[Network]\nBond=bond0\n"),
    ("30-b.network", "[Match]\nMACAddress=02:00:00:00:00:01\n[Network]\nBond=bond0\n"),
];

#[test]
fn every_wrong_file_is_shown_and_no_consequence_of_it() {
    let diagnostics = read_all("networkd", MEMBERS_UNREAD).unwrap_err();
    assert_eq!(
        diagnostics.to_string(),
        "\
error: only its machine knows which devices `enp*` are
 --> 20-a.network:2:6
  |
2 | Name=enp*
  |      ^^^^
  |
  = hint: name the devices: `Name=eth1 eth2`

error: only its machine knows which devices are in bond0
 --> 30-b.network:2:1
  |
2 | MACAddress=02:00:00:00:00:01
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = hint: add `Name=eth1 eth2` to [Match]: a team's members are named

2 errors in 2 files
"
    );
}

#[test]
fn a_member_that_cannot_be_read_is_one_error() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("networkd", MEMBERS_UNREAD),
        ("ifupdown", &[("a", "iface b inet manual\n bond-slaves all\n")]),
        (
            "keyfile",
            &[
                ("a", "[connection]\ntype=bond\ninterface-name=b\n"),
                ("b", "[connection]\ntype=ethernet\nmaster=b\nslave-type=bond\n"),
            ],
        ),
        ("ifcfg", &[("ifcfg-b", "DEVICE=b\nTYPE=Bond\nBONDING_SLAVE0=a/b\n")]),
    ];
    for (format, sources) in cases {
        let told = read_all(format, sources).unwrap_err().to_string();
        assert!(!told.contains("has no members"), "{told}");
    }
}
