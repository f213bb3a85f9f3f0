//! Hosts that forward.

use nicteam_experiment::{Experiment, Host, Overrides, limit, links_used, parse, show};

const GATEWAY: &str = r#"
title = "Behind a gateway"
[hosts]
server = { team = "four" }
gw = { forward = true }
far = {}
peer = {}
[teams.four]
mode = "balance-xor"
xmit_hash_policy = "layer2"
[switches]
sw = {}
[impairments.away]
delay = "2.5ms"
[[links]]
between = ["server", "sw"]
count = 4
[[links]]
between = [["peer", "gw"], "sw"]
rate = "400mbit"
[[links]]
between = ["gw", "far"]
rate = "200mbit"
impair = "away"
[workloads.out]
kind = "tcp"
from = "server"
to = "far"
[workloads.both]
kind = "tcp"
from = ["server", "peer"]
to = ["far", "gw"]
[[runs]]
name = "out"
workloads = "out"
[[runs]]
name = "both"
workloads = "both"
"#;

fn parsed(text: &str) -> Experiment {
    parse("gateway", "gateway.toml", text, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn host<'e>(experiment: &'e Experiment, name: &str) -> &'e Host {
    experiment.runs[0].topology.hosts.iter().find(|host| host.name == name).unwrap()
}

fn routes(experiment: &Experiment, name: &str) -> Vec<String> {
    let routes = host(experiment, name).routes.iter();
    routes.map(|route| format!("{}/{} via {}", route.to, route.prefix, route.via)).collect()
}

#[test]
fn each_link_of_a_gateway_is_in_a_subnet_and_hosts_have_routes() {
    let experiment = parsed(GATEWAY);
    let at = |name: &str| format!("{}/{}", host(&experiment, name).address, host(&experiment, name).prefix);
    assert_eq!(["server", "gw", "peer", "far"].map(at), ["10.0.0.1/24", "10.0.0.2/24", "10.0.0.4/24", "10.0.1.3/24"]);
    let gateway = host(&experiment, "gw");
    assert!(gateway.forwards && gateway.device == "eth0" && gateway.routes.is_empty());
    let [link] = gateway.further.as_slice() else { panic!("{:?}", gateway.further) };
    assert_eq!((&*link.device, link.address, link.prefix), ("eth1", [10, 0, 1, 2].into(), 24));
    assert_eq!(link.mac.unwrap().to_string(), "02:00:00:01:00:02");
    assert_eq!(routes(&experiment, "server"), ["10.0.1.0/24 via 10.0.0.2"]);
    assert_eq!(routes(&experiment, "far"), ["10.0.0.0/24 via 10.0.1.2"]);
    let topology = &experiment.runs[0].topology;
    assert_eq!(topology.way("server", "far"), ["server", "sw", "gw", "far"]);
    assert_eq!(topology.way("server", "peer"), ["server", "sw", "peer"]);
    assert!(!topology.segment("server").contains("far"));
}

#[test]
fn its_limit_is_that_of_the_links_on_the_way() {
    let experiment = parsed(GATEWAY);
    let mbit = |run: usize| limit(&experiment.runs[run]).bps / 1e6 * 1538.0 / 1448.0;
    assert!((mbit(0) - 200.0).abs() < 0.1, "{}", mbit(0));
    assert_eq!(limit(&experiment.runs[0]).reason, "the link of far");
    // To the gateway itself by its 400 Mbit/s, of which 200 go on.
    assert!((mbit(1) - 400.0).abs() < 0.1, "{}", mbit(1));
    assert_eq!(limit(&experiment.runs[1]).reason, "the links between the hosts, by gateway gw");
}

#[test]
fn a_run_keeps_what_is_behind_its_gateway() {
    let experiment = parsed(GATEWAY);
    let in_use = experiment.runs[0].in_use().topology;
    assert_eq!((in_use.hosts.len(), in_use.cables.len()), (4, 7));
    let shown = show(&experiment);
    for line in [
        "10.0.0.2/24  eth0 to eth1 gateway",
        "gw: 10.0.0.2/24 on eth0, 10.0.1.2/24 on eth1",
        "server, peer reach 10.0.1.0/24 by gw",
        "far reaches 10.0.0.0/24 by gw",
    ] {
        assert!(shown.contains(line), "{line}:\n{shown}");
    }
}

#[test]
fn frames_to_hosts_behind_a_gateway_have_the_gateways_address() {
    // Two hosts behind a gateway each: one MAC address a gateway, whatever theirs.
    let (before, behind) = GATEWAY.split_once("[workloads.out]").unwrap();
    let before = before
        .replace("far = {}", "far = {}\nfar2 = {}\nsecond = { forward = true }")
        .replace("\"gw\"], \"sw\"", "\"gw\", \"second\"], \"sw\"");
    let behind = behind.replacen("to = \"far\"", "to = [\"far\", \"far2\"]", 1);
    let text = format!("{before}[[links]]\nbetween = [\"second\", \"far2\"]\n[workloads.out]{behind}");
    let experiment = parsed(&text);
    let used = links_used(&experiment, 200);
    let team = used.iter().find(|row| row.run == "out" && row.node == "server").unwrap();
    assert_eq!((team.connections, team.drawn.cases.len()), (2, 4));
    // Two gateways: as for any two hosts, a quarter of the cases has both on one link.
    let both = team.drawn.share(2);
    assert!((0.6..0.9).contains(&both), "{both}");
    let alone = parsed(GATEWAY);
    let used = links_used(&alone, 50);
    let team = used.iter().find(|row| row.run == "both" && row.node == "server").unwrap();
    assert_eq!(team.drawn.share(1), 1.0, "to the gateway and beyond it by one MAC address");
}

#[test]
fn addresses_and_gateways_can_be_chosen() {
    let chosen = GATEWAY
        .replace(
            "gw = { forward = true }",
            "gw = { forward = true, addresses = [\"10.7.0.1/16\", \"192.168.5.1/28\"] }",
        )
        .replace("peer = {}", "peer = { gateway = \"gw\", guests = 1 }");
    let experiment = parsed(&chosen);
    let at = |name: &str| format!("{}/{}", host(&experiment, name).address, host(&experiment, name).prefix);
    assert_eq!(
        ["server", "gw", "far", "peer/guest1"].map(at),
        ["10.7.0.2/16", "10.7.0.1/16", "192.168.5.3/28", "10.7.0.5/16"]
    );
    for host in ["server", "peer", "peer/guest1"] {
        assert_eq!(routes(&experiment, host), ["192.168.5.0/28 via 10.7.0.1"], "{host}");
    }
}

#[test]
fn gateways_lead_through_gateways() {
    let chain = r#"
title = "Three segments"
hosts = { a = { address = "fd00::1/64" }, one = { forward = true }, two = { forward = true }, b = {} }
links = [{ between = ["a", "one"] }, { between = ["one", "two"] }, { between = ["two", "b"] }]
workloads.w = { kind = "tcp", from = "a", to = "b" }
runs = [{ name = "r", workloads = "w" }]
"#;
    let experiment = parsed(chain);
    assert_eq!(routes(&experiment, "a"), ["fd00:0:0:1::/64 via fd00::2", "fd00:0:0:2::/64 via fd00::2"]);
    assert_eq!(routes(&experiment, "one"), ["fd00:0:0:1::/64 via fd00:0:0:2::3"]);
    assert_eq!(routes(&experiment, "b").len(), 2);
    assert_eq!(experiment.runs[0].topology.way("a", "b"), ["a", "one", "two", "b"]);
}
