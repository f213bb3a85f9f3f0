//! Which changes could help against a cause, the smallest first.

use nicteam_record::{Change, Finding};

use crate::scene::Scene;

/// Hash policies of hosts, those that look at more first: they depend less on luck.
const OF_HOSTS: [&str; 3] = ["layer3+4", "layer2+3", "layer2"];
/// How switches spread, in the same order.
const OF_SWITCHES: [&str; 3] = ["src-dst-port", "src-dst-ip", "src-dst-mac"];

/// Sets of changes, of equal ones the better first. `hosts`: those at the ends of the finding's connections.
pub(crate) fn of(scene: &Scene, finding: &Finding, hosts: &[&str]) -> Vec<Vec<Change>> {
    match finding.cause.as_str() {
        "hash" => policies(scene, finding),
        "active-backup"
        | "load-balancing"
        | "learning"
        | "unknown-switch"
        | "pagp"
        | "broadcast"
        | "reordering"
        | "peer-does-not-stripe"
        | "one-sided" => groups(scene, hosts),
        "unequal-turns" => [without_slow_members(scene, finding), groups(scene, hosts)].concat(),
        "not-aggregating" => lacp(scene, finding),
        _ => Vec::new(),
    }
}

/// Mode stripe at these hosts, if each has a team.
pub(crate) fn striped(scene: &Scene, hosts: &[&str]) -> Vec<Change> {
    let is_needed = |host: &&&str| scene.config(host).is_some_and(|config| !config.mode.traits().stripes());
    if hosts.iter().any(|host| scene.config(host).is_none()) {
        return Vec::new();
    }
    hosts.iter().filter(is_needed).map(|host| change(host, "mode", "stripe")).collect()
}

fn change(node: &str, what: &str, value: &str) -> Change {
    Change { node: node.to_owned(), what: what.to_owned(), value: value.to_owned() }
}

/// Other hash policies at the node that chose, and at those that would be as narrow.
fn policies(scene: &Scene, finding: &Finding) -> Vec<Vec<Change>> {
    let hashes = |finding: &&Finding| finding.cause == "hash";
    let chose =
        [finding].into_iter().chain(finding.as_narrow.iter().filter(hashes)).filter_map(|it| it.node.as_deref());
    let mut nodes: Vec<&str> = chose.collect();
    nodes.sort_unstable();
    nodes.dedup();
    // The words of a maker's switch are tried one after the other, those of others by what they look at.
    let words = nodes.iter().map(|node| scene.words_of(node)).find(|words| !words.is_empty()).unwrap_or_default();
    let tries = OF_HOSTS.len().max(words.len());
    let policy = |node: &&str, place: usize| match (scene.is_switch(node), scene.words_of(node).is_empty()) {
        (false, _) => change(node, "xmit_hash_policy", OF_HOSTS[place % OF_HOSTS.len()]),
        (true, true) => change(node, "spread", OF_SWITCHES[place % OF_SWITCHES.len()]),
        (true, false) => change(node, "spread", scene.words_of(node)[place % scene.words_of(node).len()]),
    };
    let all = (0..tries).map(|place| nodes.iter().map(|node| policy(node, place)).collect::<Vec<Change>>());
    // What is so already is no change.
    let is_new = |change: &Change| {
        scene.config(&change.node).is_none_or(|config| config.xmit_hash_policy.to_string() != change.value)
    };
    let all = all.map(|changes| changes.into_iter().filter(is_new).collect());
    all.filter(|changes: &Vec<Change>| !changes.is_empty()).collect()
}

/// 802.3ad by addresses and ports at those of these hosts that have a team, and at their switches.
fn groups(scene: &Scene, hosts: &[&str]) -> Vec<Vec<Change>> {
    let hosts: Vec<&str> = hosts.iter().copied().filter(|host| scene.config(host).is_some()).collect();
    let mut switches: Vec<&str> = hosts.iter().flat_map(|host| scene.switches_of(host)).collect();
    switches.sort_unstable();
    switches.dedup();
    let of_hosts =
        hosts.iter().flat_map(|host| [change(host, "mode", "802.3ad"), change(host, "xmit_hash_policy", "layer3+4")]);
    let of_switches = switches.iter().map(|switch| change(switch, "spread", "src-dst-port"));
    vec![of_hosts.chain(of_switches).collect()]
}

/// The team without its slower members.
fn without_slow_members(scene: &Scene, finding: &Finding) -> Vec<Vec<Change>> {
    let Some(node) = finding.node.as_deref() else { return Vec::new() };
    let slow: Vec<Change> =
        scene.slow_members(node).into_iter().map(|device| change(node, "without", device)).collect();
    if slow.is_empty() { Vec::new() } else { vec![slow] }
}

/// LACP at the switches of a host that speaks it.
fn lacp(scene: &Scene, finding: &Finding) -> Vec<Vec<Change>> {
    let Some(node) = finding.node.as_deref() else { return Vec::new() };
    let switches = if scene.is_switch(node) { vec![node] } else { scene.switches_of(node) };
    vec![switches.into_iter().map(|switch| change(switch, "lacp", "active")).collect()]
}
