//! Faults of real machines: those that can be carried out at a machine's own end of a cable.

use nicteam_experiment::{Event, Topology};
use serde_json::Value;

use crate::hosts::is_machine;

/// What speaks against an event, with a hint; none: it can be carried out.
pub(crate) fn objection(event: &dyn Event, topology: &Topology) -> Option<String> {
    let details = event.details();
    let text = |key: &str| details[key].as_str().unwrap_or_default();
    let is_ours =
        |node: &str| topology.hosts.iter().any(|host| host.name == node && host.ssh.is_some() && host.bundle.is_none());
    let refused = |why: &str, hint: &str| {
        let kind = event.kind();
        Some(format!("testbed `ssh` cannot carry out `{kind}` ({}): {why}; hint: {hint}", event.words()))
    };
    let node = event.node();
    if topology.hosts.iter().any(|host| host.name == node && host.bundle.is_some()) {
        return refused("what is there already is not changed", "remove the event, or use a team of engine `nicteam`");
    }
    let elsewhere = "only a machine's own end of a cable is in reach";
    match event.kind() {
        "cable" | "mtu" | "filters" if is_ours(text("node")) => None,
        "cable" | "mtu" | "filters" => refused(elsewhere, "name that end: `end = \"HOST\"`"),
        "stop" | "kill" | "busy" | "reboot" if is_machine(topology, node) => None,
        "silence" if silent_ends(&details, topology).iter().all(|(node, _)| is_ours(node)) => None,
        "silence" => refused(elsewhere, "drop the frames that the machine sends: `from = \"HOST\"`"),
        "rate" if senders(&details).iter().all(|(node, _)| is_ours(node)) => None,
        "rate" => refused(elsewhere, "limit what the machine sends: `from = \"HOST\"`"),
        "impair" => refused("its kernel would have to impair the frames", "use `silence`, `rate` or `cable`"),
        _ => refused("switches are left as they are", "use testbed `netns`"),
    }
}

/// The ends, node and device, at which frames are to be dropped that are sent there: that of `from`, or both.
fn silent_ends(details: &Value, topology: &Topology) -> Vec<(String, String)> {
    let (node, device) = (details["shown"]["node"].as_str(), details["shown"]["member"].as_str());
    ends_of(topology, node.unwrap_or_default(), device.unwrap_or_default(), details["from"].as_str())
}

/// The ends, node and device, of the cable with this end: that of `from`, or both.
pub fn ends_of(topology: &Topology, node: &str, device: &str, from: Option<&str>) -> Vec<(String, String)> {
    let cable = topology
        .cables
        .iter()
        .find(|cable| [&cable.a, &cable.b].iter().any(|end| end.node == node && end.device == device));
    let ends = cable.into_iter().flat_map(|cable| [&cable.a, &cable.b]);
    let wanted = ends.filter(|end| from.is_none_or(|from| from == end.node));
    wanted.map(|end| (end.node.clone(), end.device.clone())).collect()
}

fn senders(details: &Value) -> Vec<(String, String)> {
    serde_json::from_value(details["senders"].clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use nicteam_experiment::{Overrides, parse};

    use super::*;

    fn refused(event: &str) -> Option<String> {
        let text = format!(
            r#"
title = "Machines"
testbed = {{ kind = "ssh" }}
links = [{{ between = [["a", "b"], "sw"], count = 2, rate = "1gbit" }}, {{ between = ["a", "c"], rate = "1gbit" }}, {{ between = ["b", "c"], rate = "1gbit" }}]
teams = {{ ours = {{ mode = "active-backup" }}, there = {{ engine = "existing" }} }}
hosts.a = {{ team = "ours", ssh = "node1", links = ["eno1", "eno2", "eno3"] }}
hosts.b = {{ team = "there", ssh = "node2", bundle = "bond0", address = "10.0.0.2/24" }}
hosts.c = {{ team = "ours", ssh = "node3", links = ["eno1", "eno2"] }}
switches.sw = {{}}
workloads.w = {{ kind = "tcp", from = "a", to = "b" }}
[[runs]]
name = "one"
workloads = "w"
events = [{{ at = "1s", {event} }}]
"#
        );
        let parsed = parse("machines", "machines.toml", &text, &Overrides::default());
        let experiment = parsed.map_err(|error| error.to_string()).unwrap();
        let run = &experiment.runs[0];
        run.events.iter().find_map(|timed| objection(&*timed.event, &run.topology))
    }

    #[test]
    fn what_a_machine_can_do_at_its_own_end_is_allowed_and_the_rest_refused() {
        let link = "link = [\"a\", \"sw\"], number = 1";
        let allowed = [
            format!("kind = \"cable\", {link}, end = \"a\", for = \"1s\""),
            format!("kind = \"silence\", {link}, from = \"a\", for = \"1s\""),
            "kind = \"silence\", link = [\"a\", \"c\"], for = \"1s\"".to_owned(),
            format!("kind = \"rate\", {link}, from = \"a\", rate = \"10mbit\", for = \"1s\""),
            format!("kind = \"mtu\", {link}, end = \"a\", mtu = 1000, for = \"1s\""),
            format!("kind = \"filters\", {link}"),
            "kind = \"stop\", host = \"a\", for = \"1s\"".to_owned(),
            "kind = \"kill\", host = \"a\", for = \"1s\"".to_owned(),
        ];
        for event in allowed {
            assert_eq!(refused(&event), None, "{event}");
        }
        let not = [
            (format!("kind = \"cable\", {link}, for = \"1s\""), "hint: name that end: `end = \"HOST\"`"),
            (format!("kind = \"silence\", {link}, for = \"1s\""), "hint: drop the frames that the machine sends"),
            (format!("kind = \"rate\", {link}, rate = \"10mbit\", for = \"1s\""), "hint: limit what the machine sends"),
            (format!("kind = \"mtu\", {link}, mtu = 1000, for = \"1s\""), "only a machine's own end"),
            ("kind = \"hang\", switch = \"sw\", for = \"1s\"".to_owned(), "switches are left as they are"),
            ("kind = \"cable\", link = [\"b\", \"c\"], end = \"b\", for = \"1s\"".to_owned(), "what is there already"),
        ];
        for (event, expected) in not {
            let said = refused(&event).unwrap_or_default();
            assert!(said.contains(expected) && said.contains("hint: "), "{event}: {said}");
        }
    }
}
