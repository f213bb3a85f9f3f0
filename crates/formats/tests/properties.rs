//! What holds for any line.

use nicteam_vsctl::{self as ovs_vsctl, CommandLine, Switch};
use proptest::prelude::*;

/// Words of the language and about it, and others.
fn word() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "--",
        "-",
        "--may-exist",
        "--if-exists",
        "--with-iface",
        "--no-wait",
        "--dry-run",
        "--oneline",
        "-t",
        "5",
        "--timeout=9",
        "add-br",
        "del-br",
        "list-br",
        "br-exists",
        "add-port",
        "del-port",
        "list-ports",
        "list-ifaces",
        "port-to-br",
        "iface-to-br",
        "add-bond",
        "add-bond-iface",
        "del-bond-iface",
        "set",
        "show",
        "init",
        "port",
        "interface",
        "bridge",
        "Port",
        "b0",
        "b1",
        "p0",
        "p1",
        "e0",
        "e1",
        "e2",
        "bond_mode=balance-slb",
        "lacp=active",
        "lacp=",
        "bond_updelay=100",
        "other_config:lacp-time=fast",
        "other_config={x=1, \"a b\"=2}",
        "trunks=[1,2-4]",
        "external_ids:x=\"a\\\"b\"",
        "other_config:x=a=b,c",
        "mtu_request=1400",
        "bond_mode=[]",
        "tag=7",
    ];
    prop_oneof![
        9 => prop::sample::select(KNOWN).prop_map(str::to_owned),
        1 => "[-a-z_:=,{}\\[\\]\" 0-9\\\\\u{e9}\u{0}]{0,12}",
    ]
}

fn line() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(word(), 0..16)
}

/// A line that has a good chance to be understood.
fn plausible() -> impl Strategy<Value = Vec<String>> {
    let command = prop_oneof![
        Just("add-br b0"),
        Just("add-br b1"),
        Just("--may-exist add-br b0"),
        Just("add-bond b0 p0 e0 e1 bond_mode=balance-slb 'other_config:x=\"1 2\"'"),
        Just("--may-exist add-bond b0 p0 e1 e0"),
        Just("add-port b1 p1"),
        Just("add-bond-iface p0 e2"),
        Just("del-bond-iface p0 e1"),
        Just("set port p0 lacp=active bond_updelay=7 'other_config={a=b,\"c d\"=e}'"),
        Just("set bridge b0 fail_mode=standalone"),
        Just("--if-exists del-port p0"),
        Just("--if-exists del-br b0"),
        Just("list-br"),
        Just("show"),
    ];
    prop::collection::vec(command, 1..12).prop_map(|commands| {
        let words = commands.iter().flat_map(|command| [vec!["--".to_owned()], super::words(command)]);
        words.flatten().collect()
    })
}

fn refusals_point_into(words: &[String]) {
    match ovs_vsctl::parse(words) {
        Ok(line) => assert_eq!(ovs_vsctl::parse(&line.words()), Ok(line)),
        Err(error) => {
            assert!(error.place <= words.len(), "{error:?}");
            let _ = (error.to_string(), error.hint(), error.pointed(words));
        }
    }
}

/// What is there follows from the steps: names are unique, and a refused line changes nothing.
fn names_are_unique(switch: &Switch) {
    let mut names: Vec<&String> = switch.bridges.keys().collect();
    for (name, port) in switch.bridges.values().flat_map(|bridge| &bridge.ports) {
        assert!(!port.interfaces.is_empty());
        names.extend(port.is_bond.then_some(name).into_iter().chain(&port.interfaces));
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "{switch:?}");
}

proptest! {
    #[test]
    fn any_words_are_read_or_refused(words in line()) {
        refusals_point_into(&words);
    }

    #[test]
    fn a_printed_line_is_read_as_itself(words in plausible()) {
        refusals_point_into(&words);
        prop_assert!(ovs_vsctl::parse(&words).is_ok(), "{:?}", words);
    }

    #[test]
    fn a_switch_stays_whole(lines in prop::collection::vec(plausible(), 1..6)) {
        let mut switch = Switch::default();
        for words in lines {
            let line: CommandLine = ovs_vsctl::parse(&words).unwrap();
            if let Ok(done) = switch.apply(&line) {
                names_are_unique(&done.switch);
                switch = done.switch;
            }
        }
    }
}
