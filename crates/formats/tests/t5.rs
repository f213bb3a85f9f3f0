//! The lines that published test T5 types (004_16536bcea901f3cd), word by word.

use nicteam_vsctl::{Done, Error, Step, Switch};

use super::parse;

/// A switch to which lines are typed.
#[derive(Default)]
pub struct Console {
    pub switch: Switch,
}

impl Console {
    /// Carries a line out, if it can be.
    pub fn run(&mut self, line: &str) -> Result<Done, Error> {
        let done = self.switch.apply(&parse(line)?)?;
        self.switch = done.switch.clone();
        Ok(done)
    }
}

fn options(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn bond(interfaces: &[&str], mode: &str) -> Step {
    Step::AddBond {
        bridge: "my_test".to_owned(),
        port: "bond0".to_owned(),
        interfaces: interfaces.iter().map(|name| (*name).to_owned()).collect(),
        options: options(&[("mode", mode)]),
    }
}

#[test]
fn a_bridge_and_a_bond() {
    let mut console = Console::default();
    let done = console.run("add-br my_test").unwrap();
    assert_eq!(done.steps, [Step::AddBridge { bridge: "my_test".to_owned() }]);
    let done = console.run("add-bond my_test bond0 eth0 eth1 eth2").unwrap();
    assert_eq!(done.steps, [bond(&["eth0", "eth1", "eth2"], "ovs-active-backup")]);
    assert_eq!((done.output, done.warnings), (vec![String::new()], vec![]));
}

#[test]
fn a_bond_with_a_mode() {
    let mut console = Console::default();
    console.run("add-br my_test").unwrap();
    let done = console.run("add-bond my_test bond0 eth0 eth1 eth2 bond_mode=balance-slb").unwrap();
    assert_eq!(done.steps, [bond(&["eth0", "eth1", "eth2"], "ovs-balance-slb")]);
}

#[test]
fn their_slip_does_nothing_and_is_told() {
    let mut console = Console::default();
    console.run("add-br my_test -- add-bond my_test bond0 eth0 eth1 eth2").unwrap();
    let done = console.run("set port my_test bond_mode=balance-slb").unwrap();
    assert_eq!(done.steps, []);
    let [warning] = done.warnings.as_slice() else { panic!("{:?}", done.warnings) };
    assert_eq!(
        warning.text,
        "my_test is the local port of bridge my_test, where the settings of a bond have no effect; its bond is bond0"
    );
    assert_eq!(warning.hint.as_deref(), Some("`nicteam ovs vsctl set port bond0 bond_mode=balance-slb`"));
    let done = console.run("set port bond0 bond_mode=balance-slb").unwrap();
    assert_eq!(done.warnings, []);
    let [Step::SetBond { port, options: set }] = done.steps.as_slice() else { panic!("{:?}", done.steps) };
    assert_eq!((port.as_str(), set), ("bond0", &options(&[("mode", "ovs-balance-slb")])));
}

#[test]
fn what_a_line_sets_of_its_own_bond_goes_into_it() {
    let line = "add-br b -- add-bond b bond0 e0 e1 other_config:lacp-time=fast -- \
                set port bond0 lacp=active bond_mode=balance-tcp other-config:all-slaves-active=true bond_updelay=-5";
    let done = Console::default().run(line).unwrap();
    let [_, Step::AddBond { options: set, .. }] = done.steps.as_slice() else { panic!("{:?}", done.steps) };
    let expected = [
        ("mode", "ovs-balance-tcp"),
        ("lacp-time", "fast"),
        ("lacp", "active"),
        ("all-slaves-active", "true"),
        ("bond_updelay", "0"),
    ];
    assert_eq!(*set, options(&expected));
}

#[test]
fn miimon_asks_each_200_ms_where_nothing_else_is_said() {
    let interval = |settings: &str| {
        let line = format!("add-br b -- add-bond b bond0 e0 e1 {settings}");
        let mut console = Console::default();
        let done = console.run(&line).unwrap();
        let [_, Step::AddBond { options: set, .. }] = done.steps.as_slice() else { panic!("{:?}", done.steps) };
        set.iter().find(|(name, _)| name == "bond-miimon-interval").map(|(_, value)| value.clone())
    };
    let miimon = "other_config:bond-detect-mode=miimon";
    for (settings, expected) in [
        (String::new(), None),
        ("other_config:bond-detect-mode=carrier".to_owned(), None),
        (miimon.to_owned(), Some("200")),
        (format!("{miimon} other_config:bond-miimon-interval=50"), Some("50")),
        (format!("{miimon} other_config:bond-miimon-interval=0"), Some("200")),
        ("other_config=bond-detect-mode=miimon".to_owned(), Some("200")),
        ("other_config=bond-hash-basis=1".to_owned(), Some("100")),
    ] {
        assert_eq!(interval(&settings).as_deref(), expected, "{settings}");
    }
}

#[test]
fn what_cannot_be_done_leaves_everything_as_it_was() {
    let mut console = Console::default();
    let error = console.run("add-br b -- add-port b e0 -- add-port nope e1").unwrap_err();
    assert_eq!((error.to_string().as_str(), error.place), ("no bridge named nope", 8));
    assert_eq!(console.switch, Switch::default());
}

#[test]
fn a_deleted_bridge_lets_its_ports_go_first() {
    let mut console = Console::default();
    console.run("add-br b -- add-port b e0 -- add-bond b bond0 e1 e2").unwrap();
    let done = console.run("del-br b").unwrap();
    let gone = |port: &str, is_bond| Step::DeletePort { bridge: "b".to_owned(), port: port.to_owned(), is_bond };
    assert_eq!(done.steps, [gone("bond0", true), gone("e0", false), Step::DeleteBridge { bridge: "b".to_owned() }]);
    assert_eq!(console.switch, Switch::default());
}
