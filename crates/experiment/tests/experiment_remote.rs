//! Hosts that are real machines.

use nicteam_experiment::{Experiment, Overrides, parse};

const FILE: &str = r#"
title = "Machines"
testbed = { kind = "ssh" }
links = [{ between = [["a", "b"], "sw"], count = 2, rate = "1gbit" }]
teams = { t = { mode = "stripe" } }
hosts.a = { team = "t", ssh = "root@node1", links = ["eno1", "eno2"] }
hosts.b = { team = "t", ssh = "node2", links = ["ens3f0", "ens3f1"] }
switches.sw = {}
workloads.w = { kind = "tcp", from = "a", to = "b" }
[[runs]]
name = "one"
workloads = "w"
"#;

fn read(text: &str) -> Result<Experiment, String> {
    parse("machines", "machines.toml", text, &Overrides::default()).map_err(|problems| problems.to_string())
}

#[test]
fn links_are_called_as_on_the_machine() {
    let experiment = read(FILE).unwrap();
    let topology = &experiment.runs[0].topology;
    let places: Vec<_> = topology.hosts.iter().map(|host| host.ssh.as_deref()).collect();
    assert_eq!(places, [Some("root@node1"), Some("node2")]);
    let ends: Vec<_> = topology.cables.iter().map(|cable| (&cable.a.device[..], &cable.b.device[..])).collect();
    assert_eq!(ends, [("eno1", "a-0"), ("eno2", "a-1"), ("ens3f0", "b-0"), ("ens3f1", "b-1")]);
    assert_eq!(topology.teams[0].members, ["eno1", "eno2"]);
    assert_eq!(topology.hosts[0].device, "team0");
}

#[test]
fn a_machine_without_a_team_has_its_one_link() {
    let text = FILE.replace("count = 2, ", "").replace("team = \"t\", ", "");
    let text = text.replace("[\"eno1\", \"eno2\"]", "\"eno1\"").replace("[\"ens3f0\", \"ens3f1\"]", "\"ens3f0\"");
    assert_eq!(read(&text).unwrap().runs[0].topology.hosts[1].device, "ens3f0");
}

#[test]
fn a_bundle_that_is_there_needs_no_links() {
    let text = FILE.replace("links = [\"eno1\", \"eno2\"]", "bundle = \"bond0\", address = \"10.3.0.1/24\"");
    let text = text.replace("mode = \"stripe\"", "engine = \"existing\"");
    let text = text.replace("links = [\"ens3f0\", \"ens3f1\"]", "bundle = \"team0\", address = \"10.3.0.2/24\"");
    let experiment = read(&text).unwrap();
    let topology = &experiment.runs[0].topology;
    let bundles: Vec<_> = topology.hosts.iter().map(|host| host.bundle.as_deref()).collect();
    assert_eq!(bundles, [Some("bond0"), Some("team0")]);
    assert_eq!((topology.teams[0].engine.as_str(), topology.teams[0].members.len()), ("existing", 2));
}

#[test]
fn a_switch_of_which_nothing_is_known_takes_any_mode_and_forms_no_loop() {
    let text = FILE.replace("switches.sw = {}", "switches = { sw = { unknown = true }, core = { unknown = true } }");
    let text = text.replace("mode = \"stripe\"", "mode = \"802.3ad\"");
    let between = ", { between = [\"sw\", \"core\"], count = 2, rate = \"10gbit\" }]\nteams";
    let experiment = read(&text.replace("]\nteams", between)).unwrap();
    let topology = &experiment.runs[0].topology;
    assert_eq!(topology.teams.len(), 2, "only those of the hosts: {topology:?}");
    assert!(topology.switches.iter().all(|switch| switch.unknown));
    let predicted = nicteam_experiment::predict(&experiment);
    assert_eq!(predicted[0].outcome.as_ref().unwrap_err(), "how the switch sw chooses links is unknown");
}

#[test]
fn what_does_not_fit_is_an_error_with_a_hint() {
    let chaos = "workloads = \"w\"\nchaos = {}\n";
    let cases = [
        ("testbed = { kind = \"ssh\" }\n", "", "real machines and switches need testbed `ssh`"),
        ("ssh = \"node2\", ", "", "host `b` has no `ssh`"),
        (", links = [\"eno1\", \"eno2\"]", "", "host `a` has no `links`"),
        ("[\"eno1\", \"eno2\"]", "[\"eno1\"]", "host `a` has 2 links, and `links` names 1"),
        ("\"eno2\"", "\"eno/2\"", "`eno/2` is no name of a network device"),
        ("root@node1", "-oProxyCommand=x", "`-oProxyCommand=x` is no place that ssh can go to"),
        (", rate = \"1gbit\"", "", "links of real machines have no rate in this file"),
        ("hosts.a = { ", "hosts.a = { guests = 1, ", "testbed `ssh` does not support `guests` yet"),
        ("rate = \"1gbit\"", "rate = \"1gbit\", burst = 9000", "testbed `ssh` does not support `burst` yet"),
        (
            "switches.sw = {}",
            "switches.sw = { unknown = true, lacp = \"off\" }",
            "switch `sw` is `unknown` and has `lacp`",
        ),
        ("workloads = \"w\"\n", chaos, "testbed `ssh` does not support `chaos` yet"),
        ("{ mode = \"stripe\" }", "{ engine = \"existing\", mode = \"stripe\" }", "engine `existing` takes no `mode`"),
        ("ssh = \"node2\", ", "ssh = \"node2\", bundle = \"bond0\", ", "host `b` has `bundle` and `links`"),
        ("links = [\"ens3f0\", \"ens3f1\"]", "bundle = \"bond0\"", "host `b` has no `address`"),
        ("links = [\"ens3f0\", \"ens3f1\"]", "bundle = \"b/0\"", "`b/0` is no name of a network device"),
    ];
    for (from, to, expected) in cases {
        let error = read(&FILE.replace(from, to)).expect_err(expected);
        assert!(error.contains(expected) && error.contains("hint: "), "{expected}: {error}");
    }
    let elsewhere =
        FILE.replace("mode = \"stripe\"", "engine = \"existing\"").replace("testbed = { kind = \"ssh\" }\n", "");
    assert!(read(&elsewhere).unwrap_err().contains("engine `existing` needs testbed `ssh`"));
}
