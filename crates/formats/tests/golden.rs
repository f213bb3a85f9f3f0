//! Every error: its text, which is `ovs-vsctl`'s own where that has one, the word it points at, and its hint.
//! The texts of `tests/live` are compared with the real one's; these say what is said where it says nothing, too.

use super::t5::Console;
use super::words;

/// Line, the word that is wrong (none: behind the last one), what is said, the hint.
type Case = (&'static str, &'static str, &'static str, &'static str);

const USAGE_BOND: &str = "[--may-exist] add-bond BRIDGE PORT INTERFACE INTERFACE... [COLUMN[:KEY]=VALUE]...";
const ALL: &str = "nicteam carries out add-br, del-br, list-br, br-exists, add-port, del-port, list-ports, list-ifaces, \
                   port-to-br, iface-to-br, add-bond, add-bond-iface, del-bond-iface, set, show, init";
const SETTING: &str = "a setting is COLUMN=VALUE or COLUMN:KEY=VALUE: bond_mode=balance-slb";
const NONE: &str = "";

const CASES: &[Case] = &[
    ("", NONE, "missing command name (use --help for help)", ALL),
    ("add-bd b", "add-bd", "unknown command 'add-bd'; use --help for help", "did you mean `add-br`?"),
    (
        "get port bond0 tag",
        "get",
        "'get' is a command of ovs-vsctl that nicteam does not carry out",
        "`nicteam ovs bond/show PORT`, `nicteam team show PORT --format json`",
    ),
    ("comment x", "comment", "'comment' is a command of ovs-vsctl that nicteam does not carry out", ALL),
    ("add-bond b bond1 e0", "add-bond", "'add-bond' command requires at least 4 arguments", USAGE_BOND),
    ("del-br b c", "c", "'del-br' command takes at most 1 arguments", "[--if-exists] del-br BRIDGE"),
    ("add-br x b", "b", "'add-br' command takes exactly 1 or 3 arguments", "[--may-exist] add-br BRIDGE"),
    (
        "add-br x b 5",
        "b",
        "add-br of a bridge on a VLAN of another bridge is not carried out by nicteam",
        "make a VLAN device on the bridge: `ip link add link BRIDGE type vlan`",
    ),
    ("--may-exis add-br b", "--may-exis", "unrecognized option '--may-exis'", "did you mean `--may-exist`?"),
    ("-x list-br", "-x", "invalid option -- 'x'", NONE),
    (
        "--db=unix:x list-br",
        "--db=unix:x",
        "'--db' is an option of ovs-vsctl that nicteam does not take",
        "there is no database: leave it out; nicteam works in this network namespace",
    ),
    (
        "--if-exists add-br x",
        "--if-exists",
        "'add-br' command has no '--if-exists' option",
        "[--may-exist] add-br BRIDGE",
    ),
    ("-- --may-exist --may-exist add-br x", "--may-exist", "'--may-exist' option specified multiple times", NONE),
    (
        "-- --may-exist=1 add-br x",
        "--may-exist=1",
        "'--may-exist' option on 'add-br' does not accept an argument",
        "[--may-exist] add-br BRIDGE",
    ),
    ("--no-wait=1 list-br", "--no-wait=1", "option '--no-wait' doesn't allow an argument", NONE),
    ("--timeout", "--timeout", "option '--timeout' requires an argument", NONE),
    ("-t x list-br", "-t", "value x on -t or --timeout is invalid", "a timeout is a number of seconds"),
    ("set prt bond0 lacp=off", "prt", "unknown table \"prt\"", "did you mean `port`?"),
    ("set i bond0 lacp=off", "i", "\"i\" matches multiple table names: IPFIX, Interface", NONE),
    (
        "set QoS bond0 type=x",
        "QoS",
        "records of table QoS are not set by nicteam",
        "nicteam knows the tables Bridge, Port and Interface",
    ),
    ("set port bond0 =x", "=x", "=x: missing column name", SETTING),
    (
        "set port bond0 bond_mde=x",
        "bond_mde=x",
        "Port does not contain a column whose name matches \"bond_mde\"",
        "did you mean `bond_mode`?",
    ),
    (
        "set port bond0 b=1",
        "b=1",
        "Port contains more than one column whose name matches \"b\": bond_active_slave, bond_downdelay, \
         bond_fake_iface, bond_mode, bond_updelay",
        NONE,
    ),
    (
        "set port bond0 name=x",
        "name=x",
        "cannot modify read-only column name in table Port",
        "delete the record and make it anew",
    ),
    ("set port bond0 lacp:x=off", "lacp:x=off", "cannot specify key to set for non-map column lacp", NONE),
    ("set port bond0 lacp", "lacp", "lacp: argument does not end in \"=\" followed by a value.", SETTING),
    (
        "set port bond0 bond_mode=balance",
        "bond_mode=balance",
        "constraint violation: balance is not one of the allowed values ([active-backup, balance-slb, balance-tcp])",
        NONE,
    ),
    (
        "set port bond0 tag=5",
        "tag=5",
        "tag of a record of table Port cannot be set by nicteam: ports have no VLANs here; use VLAN devices, \
         `ip link add link DEVICE type vlan`",
        NONE,
    ),
    (
        "set interface e0 options:peer=x",
        "options:peer=x",
        "options:peer of a record of table Interface cannot be set by nicteam: nicteam has nothing like it",
        NONE,
    ),
    ("add-br ''", "''", "bridge name must not be empty string", NONE),
    (
        "add-bond b bond1 e5 lacp=off",
        "lacp=off",
        "add-bond requires at least 2 interfaces, but only 1 were specified",
        "`add-port` takes one interface",
    ),
    ("add-bond b bond1 e5 e5", "e5", "interface e5 is named twice", NONE),
    ("list-ports br", "br", "no bridge named br", "did you mean `b`?"),
    ("del-port e0", "e0", "no port named e0", "e0 is an interface of port bond0"),
    ("--with-iface del-port e9", "e9", "no port or interface named e9", NONE),
    ("iface-to-br nope", "nope", "no interface named nope", "there is e0, e1, p"),
    ("set port e0 lacp=off", "e0", "no row \"e0\" in table Port", "e0 is an interface of port bond0"),
    (
        "add-port b e0",
        "e0",
        "cannot create a port named e0 because an interface named e0 already exists on bridge b",
        NONE,
    ),
    ("--may-exist add-port b2 p", "b2", "\"--may-exist add-port b2 p\" but p is actually attached to bridge b", NONE),
    (
        "--may-exist add-bond b bond0 e0 e2",
        "bond0",
        "\"--may-exist add-bond b bond0 e0 e2\" but bond0 actually has interface(s) e0, e1",
        NONE,
    ),
    (
        "del-port b",
        "b",
        "cannot delete port b because it is the local port for bridge b (deleting this port requires deleting the \
         entire bridge)",
        "`del-br b` removes the bridge",
    ),
    ("del-port b2 p", "b2", "bridge b2 does not have a port p", NONE),
    (
        "del-bond-iface e0 -- del-bond-iface e1",
        "e1",
        "cannot delete last interface from port bond0",
        "`del-port bond0` removes the port",
    ),
    ("del-bond-iface p e0", "p", "port p does not have an interface e0", NONE),
    (
        "add-bond-iface p e9",
        "p",
        "port p is one interface and no bond",
        "make a bond: `del-port p`, then `add-bond BRIDGE PORT INTERFACE INTERFACE...`",
    ),
];

#[test]
fn each_error_has_its_words() {
    for (line, wrong, text, hint) in CASES {
        let mut console = Console::default();
        console.run("add-br b -- add-br b2 -- add-bond b bond0 e0 e1 -- add-port b p").unwrap();
        let error = console.run(line).unwrap_err();
        assert_eq!(error.to_string(), *text, "{line}");
        assert_eq!(console.switch.hint(&error).as_deref().unwrap_or(NONE), *hint, "{line}");
        let pointed = error.pointed(&words(line));
        let (shown, marks) = pointed.split_once('\n').unwrap();
        let at = marks.trim_start();
        let place = marks.len() - at.len();
        let marked = shown.get(place..place + at.len()).unwrap_or(NONE);
        assert_eq!(marked, *wrong, "{line}\n{pointed}");
        // Of equal words the last one is meant in these lines.
        assert!(wrong.is_empty() || shown.rfind(wrong) == Some(place), "{pointed}");
    }
}

#[test]
fn no_error_is_left_out() {
    let source = include_str!("../../vsctl/src/error.rs");
    // One for the type that holds the kind.
    let kinds = source.lines().filter(|line| line.trim_start().starts_with("#[error(")).count() - 1;
    let name = |line: &str| {
        let mut console = Console::default();
        console.run("add-br b -- add-br b2 -- add-bond b bond0 e0 e1 -- add-port b p").unwrap();
        let shown = format!("{:?}", console.run(line).unwrap_err().kind);
        shown.split([' ', '(']).next().unwrap().to_owned()
    };
    let named: std::collections::BTreeSet<String> = CASES.iter().map(|(line, ..)| name(line)).collect();
    assert_eq!(named.len(), kinds, "{named:?}");
}

#[test]
fn warnings_name_what_has_no_effect() {
    let mut console = Console::default();
    console.run("add-br b -- add-bond b bond0 e0 e1 -- add-bond b bond1 e2 e3 -- add-port b p").unwrap();
    for (line, text, hint) in [
        (
            "set bridge b datapath_type=netdev",
            "datapath_type=netdev has no effect: there is no OpenFlow: the kernel's bridge forwards",
            NONE,
        ),
        (
            "set port bond0 other_config:nonsense=1",
            "other_config:nonsense=\"1\" has no effect: bonds have no such key",
            NONE,
        ),
        (
            "set port p lacp=active",
            "port p is one interface and no bond: the settings of a bond have no effect there",
            NONE,
        ),
        (
            "set port b lacp=active",
            "b is the local port of bridge b, where the settings of a bond have no effect; its bonds are bond0, bond1",
            "`nicteam ovs vsctl set port bond0 lacp=active`",
        ),
    ] {
        let done = console.run(line).unwrap();
        assert_eq!(done.steps, [], "{line}");
        let [warning] = done.warnings.as_slice() else { panic!("{line}: {:?}", done.warnings) };
        assert_eq!((warning.text.as_str(), warning.hint.as_deref().unwrap_or(NONE)), (text, hint), "{line}");
    }
}

#[test]
fn show_has_the_real_ones_form() {
    let mut console = Console::default();
    let done = console.run("add-br b -- add-bond b bond0 e0 e1 -- add-port b 1p -- show").unwrap();
    let expected = "    Bridge b\n        Port \"1p\"\n            Interface \"1p\"\n        Port bond0\n            \
                    Interface e0\n            Interface e1\n        Port b\n            Interface b\n                \
                    type: internal\n";
    assert_eq!(done.output.last().map(String::as_str), Some(expected));
}
