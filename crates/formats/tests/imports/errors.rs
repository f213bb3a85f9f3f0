//! Every error of the formats here: its words, the word that it points at, its hint.

use super::read_all;

/// Format, text, line and column, message, hint.
type Case = (&'static str, &'static str, (usize, usize), &'static str, &'static str);

const BOND: &str = "network:\n  bonds:\n    b:\n      interfaces: [e0]\n";

const NETPLAN: &[Case] = &[
    ("netplan", "network:\n\tbonds: {}\n", (2, 1), "a tab cannot indent a line of YAML", "put spaces in its place"),
    ("netplan", "network: [", (1, 11), "this is no YAML: ", ""),
    ("netplan", "network: &x {bonds: *x}\n", (1, 21), "this alias stands within what its anchor names", "write what"),
    ("netplan", "network: {bonds: *x}\n", (1, 18), "", ""),
    ("netplan", "network: {bonds: {<<: {}}}\n", (1, 19), "a merge key (`<<`) is not taken", "write the keys"),
    ("netplan", "network: {version: !!int 2}\n", (1, 20), "a tag (`!`) is not taken", "remove it"),
    ("netplan", "network: {}\n---\nnetwork: {}\n", (2, 1), "a second document begins here", "a file of its own"),
    (
        "netplan",
        "network:\n  version: 2\n  version: 2\n",
        (3, 3),
        "`version` stands twice in one mapping",
        "remove one",
    ),
    ("netplan", "network:\n  ? [a]\n  : b\n", (2, 5), "a list or mapping stands where a key is expected", "a line is"),
    ("netplan", "networks: {}\n", (1, 1), "unknown key `networks`", "everything stands below `network:`"),
    ("netplan", "network: {version: 3}\n", (1, 20), "only version 2 of netplan's format is there", "`version: 2`"),
    ("netplan", "network: {bond: {}}\n", (1, 11), "unknown key `bond` below `network`", "did you mean `bonds`?"),
    (
        "netplan",
        "network: {bonds: [a]}\n",
        (1, 18),
        "`bonds` takes a mapping, and this is a list",
        "a mapping has keys",
    ),
    (
        "netplan",
        "network: {bonds: {b: {interfaces: e0}}}\n",
        (1, 35),
        "`interfaces` takes a list, and this is a value",
        "a list is",
    ),
    ("netplan", "network: {bonds: {b: {mtu: [1]}}}\n", (1, 28), "`mtu` takes one value, and this is a list", ""),
    ("netplan", "network: {bonds: {b: {mtu: 12}}}\n", (1, 28), "`12` is no MTU", "a whole number from 68"),
    ("netplan", "network: {bonds: {b: {macaddress: x}}}\n", (1, 35), "`x` is no MAC address", "six two-digit"),
    ("netplan", "network: {bonds: {b: {addresses: [10.0.0.1]}}}\n", (1, 35), "`10.0.0.1` has no length", "add it"),
    ("netplan", "network: {bonds: {b: {gateway4: x}}}\n", (1, 33), "`x` is no IP address", "an address alone"),
    (
        "netplan",
        "network: {bonds: {b: {routes: [{via: 10.0.0.1}]}}}\n",
        (1, 32),
        "a route without `to`",
        "`to: default`",
    ),
    ("netplan", "network: {bonds: {b: {routes: [{to: x}]}}}\n", (1, 32), "`x` is no destination", "a route is"),
    (
        "netplan",
        "network: {bonds: {b: {parameters: {mdoe: x}}}}\n",
        (1, 36),
        "`mdoe` is no parameter of a bond",
        "did you mean `mode`?",
    ),
    (
        "netplan",
        "network: {bonds: {b: {parameters: {qqq: x}}}}\n",
        (1, 36),
        "`qqq` is no parameter of a bond",
        "they are `mode`",
    ),
    (
        "netplan",
        "network: {bonds: {b: {parameters: {mode: balance-r}}}}\n",
        (1, 42),
        "`balance-r` is no value for the team option `mode`",
        "did you mean `balance-rr`?",
    ),
    (
        "netplan",
        "network: {bonds: {b: {parameters: {up-delay: soon}}}}\n",
        (1, 46),
        "`soon` is no time for `up-delay`",
        "counts milliseconds",
    ),
    (
        "netplan",
        "network: {bonds: {b: {parameters: {all-members-active: 7}}}}\n",
        (1, 56),
        "`7` is no value for `all-members-active`",
        "`true` or `false`",
    ),
    (
        "netplan",
        "network:\n  ethernets: {a: {match: {macaddress: \"02:00:00:00:00:01\"}}}\n  bonds: {b: {interfaces: [a]}}\n",
        (3, 28),
        "`a` is found by `macaddress: 02:00:00:00:00:01`, and no file says what it is called",
        "a team needs its members' names",
    ),
    (
        "netplan",
        "network: {bonds: {b: {interfaces: [a], gateway6: 10.0.0.1}}}\n",
        (1, 50),
        "`10.0.0.1` is no gateway for `gateway6`",
        "`gateway6` an IPv6 one",
    ),
    ("netplan", "network: {bonds: {a-very-long-name: {interfaces: [e0]}}}\n", (1, 19), "", ""),
    (
        "netplan",
        "network: {bonds: {a: {interfaces: [e0]}, b: {interfaces: [e0]}}}\n",
        (1, 59),
        "`e0` is a member of team a, too",
        "a device is in one team alone",
    ),
    (
        "netplan",
        "network: {bonds: {a: {interfaces: [a/b]}}}\n",
        (1, 36),
        "`a/b` is no name of a device",
        "a device's name has",
    ),
];

const LINES: &[Case] = &[
    ("iproute2", "ip link add 'bond0 type bond\n", (1, 13), "the quote ' is not closed", "a quote ends"),
    (
        "iproute2",
        "ip lnk add b type bond\n",
        (1, 4),
        "`ip` knows no `lnk`",
        "`ip link`, `ip address` and `ip route` are read",
    ),
    (
        "iproute2",
        "ip link make b\n",
        (1, 9),
        "`ip link` has no command `make`",
        "`ip link add` and `ip link set` are read",
    ),
    ("iproute2", "ip link add type bond\n", (1, 1), "no device is named", "`ip link add NAME type bond`"),
    ("iproute2", "ip link add b type\n", (1, 15), "nothing follows `type`", ""),
    (
        "iproute2",
        "ip link add b c type bond\n",
        (1, 15),
        "`c` is no word of `ip link`",
        "the device's name stands once",
    ),
    (
        "iproute2",
        "ip link add b type bond mdoe 1\n",
        (1, 25),
        "`mdoe` is no option of `type bond`",
        "did you mean `mode`?",
    ),
    ("iproute2", "ip link add b type bond zzz 1\n", (1, 25), "`zzz` is no option of `type bond`", "they are `mode`"),
    (
        "iproute2",
        "ip link add b type bond miimon x\n",
        (1, 32),
        "`x` is no value for the team option `miimon`",
        "it takes 0 to",
    ),
    (
        "iproute2",
        "ip link add b type bond\nip link set e master b type bond_slave x 1\n",
        (2, 40),
        "`x` is no option of `type bond_slave`",
        "`queue_id` and `prio`",
    ),
    ("iproute2", "ip addr put x\n", (1, 9), "`ip address` has no command `put`", "`ip address add"),
    (
        "iproute2",
        "ip link add b type bond\nip addr add 10.0.0.1/33 dev b\n",
        (2, 13),
        "`33` is no netmask and no length of a prefix",
        "0 to 32",
    ),
    ("iproute2", "ip link add b type bond\nip addr add dev b\n", (2, 1), "no address is named", ""),
    (
        "iproute2",
        "ip link add b type bond\nip addr add 10.0.0.1/24 what dev b\n",
        (2, 25),
        "`what` is no word of `ip address`",
        "",
    ),
    ("iproute2", "ip route put x\n", (1, 10), "`ip route` has no command `put`", "`ip route add"),
    (
        "iproute2",
        "ip link add b type bond\nip route add 10.0.0.1/24 dev b\n",
        (2, 14),
        "the destination 10.0.0.1/24 has bits beyond its prefix",
        "its network is",
    ),
    ("iproute2", "modprobe bonding max_bonds=x\n", (1, 18), "`x` is no number of bonds", "`max_bonds=1`"),
    (
        "iproute2",
        "echo eth0 > /sys/class/net/b/bonding/slaves\n",
        (1, 6),
        "`eth0` has no sign",
        "`+eth0` takes a device in",
    ),
    ("dladm", "dladm create-aggr -x aggr0\n", (1, 19), "`-x` is no option of the -aggr commands", "dladm create-aggr"),
    (
        "dladm",
        "dladm create-aggr -l a0,a1 x0\n",
        (1, 19),
        "`a0,a1` is no link: `-l` takes one, as in dladm",
        "one option a link: `-l a0 -l a1`",
    ),
    ("dladm", "dladm create-aggr -tf -l a0 x0\n", (1, 19), "`-f` stands in one word with `-t`", "part them: `-t -f`"),
    ("dladm", "dladm create-aggr -l $L x0\n", (1, 22), "this text does not say what `$L` is", "`L=VALUE`"),
    (
        "ovs-vsctl",
        "ovs-vsctl add-bond b b0 e0 $1\n",
        (1, 28),
        "this text does not say what `$1` is",
        "write its value there",
    ),
    (
        "ovs-vsctl",
        "ovs-vsctl set port b0 lacp=active\n",
        (1, 20),
        "no row \"b0\" in table Port",
        "the line that makes it belongs to this text, too",
    ),
    ("dladm", "dladm create-aggr -l\n", (1, 19), "nothing follows `-l`", ""),
    ("dladm", "dladm create-aggr -l a0\n", (1, 1), "no aggregation is named", "its name is the last word"),
    (
        "dladm",
        "dladm create-aggr -l a0 x0\ndladm create-aggr -l a1 x0\n",
        (2, 25),
        "a second aggregation `x0`",
        "take one",
    ),
    ("dladm", "dladm modify-aggr -L off x0\n", (1, 26), "no aggregation `x0` was made before", "makes one"),
    ("dladm", "dladm make-aggr x0\n", (1, 7), "`dladm` has no command `make-aggr`", "`dladm create-aggr"),
    ("dladm", "dladm create-aggr -P L5 -l a0 x0\n", (1, 19), "`L5` is no policy", "L2, L3, L4"),
    ("dladm", "dladm create-aggr -L on -l a0 x0\n", (1, 19), "`on` is no mode of LACP", "off, active or passive"),
    ("dladm", "dladm create-aggr -T fast -l a0 x0\n", (1, 19), "`fast` is no timer of LACP", "short or long"),
    ("dladm", "dladm create-aggr -u zz -l a0 x0\n", (1, 19), "`zz` is no MAC address", ""),
    (
        "dladm",
        "dladm create-aggr -l a0 x0\nipadm create-addr -T static x0/v4\n",
        (2, 1),
        "no address is named",
        "`-a local=",
    ),
    (
        "dladm",
        "dladm create-aggr -l a0 x0\nipadm create-addr -T magic x0/v4\n",
        (2, 1),
        "`magic` is no type of address",
        "static",
    ),
    (
        "dladm",
        "dladm create-aggr -l a0 x0\nipadm create-addr -a 10.0.0.1/99 x0/v4\n",
        (2, 22),
        "`99` is no netmask",
        "",
    ),
    (
        "dladm",
        "dladm create-aggr -l a0 x0\nifconfig x0 10.0.0.1 netmask 255.0.255.0\n",
        (2, 30),
        "`255.0.255.0` is no netmask",
        "",
    ),
    ("dladm", "dladm create-aggr -l a0 x0\nifconfig x0 mtu\n", (2, 13), "nothing follows `mtu`", ""),
    ("dladm", "route add 10.0.0.1/8 10.0.0.9\n", (1, 1), "the destination 10.0.0.1/8 has bits beyond its prefix", ""),
    (
        "ovs-vsctl",
        "ovs-vsctl add-br b\novs-vsctl add-bond c bond0 e0 e1\n",
        (2, 20),
        "no bridge named c",
        "did you mean `b`?",
    ),
    (
        "ovs-vsctl",
        "ovs-vsctl add-bd b\n",
        (1, 11),
        "unknown command 'add-bd'; use --help for help",
        "did you mean `add-br`?",
    ),
];

const TEAMD: &[Case] = &[
    ("teamd", "{\"device\" 1}", (1, 11), "this is no JSON: `:` is missing between key and value", ""),
    ("teamd", "[]", (1, 1), "`the file` takes a mapping, and this is a list", ""),
    ("teamd", "{}", (1, 1), "no `device`: the team has no name", "`\"device\": \"team0\"`"),
    (
        "teamd",
        "{\"device\": \"t\", \"runner\": {\"nme\": 1}}",
        (1, 28),
        "teamd has no `nme` here",
        "did you mean `name`?",
    ),
    ("teamd", "{\"device\": \"t\", \"runner\": {\"zzz\": 1}}", (1, 28), "teamd has no `zzz` here", "there is `name`"),
    (
        "teamd",
        "{\"device\": \"t\", \"runner\": {\"name\": \"lcp\"}}",
        (1, 36),
        "teamd has no runner `lcp`",
        "did you mean `lacp`?",
    ),
    (
        "teamd",
        "{\"device\": \"t\", \"runner\": {\"name\": \"zzzz\"}}",
        (1, 36),
        "teamd has no runner `zzzz`",
        "there is `roundrobin`",
    ),
    (
        "teamd",
        "{\"device\": \"t\", \"runner\": {\"name\": \"lacp\", \"active\": 1}}",
        (1, 54),
        "`1` is no value for `active`",
        "`true` or `false`",
    ),
    (
        "teamd",
        "{\"device\": \"t\", \"runner\": {\"name\": \"activebackup\", \"hwaddr_policy\": \"x\"}}",
        (1, 69),
        "teamd has no hwaddr_policy `x`",
        "same_all",
    ),
    (
        "teamd",
        "{\"device\": \"t\", \"runner\": {\"name\": \"lacp\", \"agg_select_policy\": \"x\"}}",
        (1, 65),
        "teamd has no agg_select_policy `x`",
        "lacp_prio",
    ),
    (
        "teamd",
        "{\"device\": \"t\", \"runner\": {\"name\": \"lacp\", \"tx_hash\": [\"x\"]}}",
        (1, 56),
        "teamd hashes no `x`",
        "eth, vlan",
    ),
    (
        "teamd",
        "{\"device\": \"t\", \"link_watch\": {\"name\": \"x\"}}",
        (1, 31),
        "teamd has no link watcher `x`",
        "ethtool",
    ),
    ("teamd", "{\"device\": \"t\", \"link_watch\": {}}", (1, 31), "a link watcher without a name", "`\"link_watch\""),
    (
        "teamd",
        "{\"device\": \"t\", \"link_watch\": {\"name\": \"arp_ping\"}}",
        (1, 31),
        "nobody is asked: `target_host` is missing",
        "`\"target_host\"",
    ),
    (
        "teamd",
        "{\"device\": \"t\", \"link_watch\": {\"name\": \"arp_ping\", \"target_host\": \"gw\"}}",
        (1, 67),
        "`gw` is no IP address",
        "getent hosts gw",
    ),
    (
        "teamd",
        "{\"device\": \"t\", \"ports\": {\"e\": {\"prio\": \"x\"}}}",
        (1, 41),
        "`x` is no priority",
        "a whole number",
    ),
    (
        "teamd",
        "{\"device\": \"t\", \"ports\": {\"e\": {\"prioo\": 1}}}",
        (1, 33),
        "teamd has no `prioo` here",
        "did you mean `prio`?",
    ),
];

#[test]
fn each_error_has_its_words() {
    let mut others = Vec::new();
    for (format, text, place, message, hint) in NETPLAN.iter().chain(LINES).chain(TEAMD) {
        let diagnostics = match read_all(format, &[("a", text)]) {
            Err(diagnostics) => diagnostics,
            Ok(import) => panic!("{format}: {text}: {import:#?}"),
        };
        let first = &diagnostics.entries()[0];
        let is_there = (first.line, first.column) == (Some(place.0), Some(place.1));
        let has_hint = first.hint.as_deref().unwrap_or("").contains(hint);
        if !is_there || !first.message.starts_with(message) || !has_hint {
            others.push(format!("{place:?} {message} ({hint})\n{diagnostics}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn an_error_is_shown_with_its_line() {
    let text = format!("{BOND}      parameters: {{mode: balance-r}}\n");
    let diagnostics = read_all("netplan", &[("/etc/netplan/a.yaml", &text)]).unwrap_err();
    assert_eq!(
        diagnostics.to_string(),
        "\
error: `balance-r` is no value for the team option `mode`
 --> /etc/netplan/a.yaml:5:26
  |
5 |       parameters: {mode: balance-r}
  |                          ^^^^^^^^^
  |
  = hint: did you mean `balance-rr`?

1 error in /etc/netplan/a.yaml
"
    );
}

#[test]
fn nesting_and_laughs_are_bounded() {
    let error = |text: &str| read_all("netplan", &[("a", text)]).unwrap_err().to_string();
    assert!(error(&format!("network: {}1{}", "[".repeat(40), "]".repeat(40))).contains("nested more than"));
    assert!(error(&format!("network: {}1", "[".repeat(200_000))).contains("error: "));
    let mut laughs = String::from("a: &a [x]\n");
    for level in b'b'..=b'z' {
        let (one, before) = (level as char, (level - 1) as char);
        laughs.push_str(&format!("{one}: &{one} [{}]\n", vec![format!("*{before}"); 9].join(", ")));
    }
    assert!(read_all("netplan", &[("a", &laughs)]).unwrap_err().to_string().contains("aliases make more than"));
}
