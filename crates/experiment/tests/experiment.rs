//! Experiment files that are right: what ships, and what the rules make of small files.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use nicteam_experiment::{
    self as experiment, Direction, Experiment, FindError, Overrides, Pagp, Run, Task, Tcp, Way, links_used,
    links_used_json, show, show_links_used,
};
use nicteam_team::lacp::LacpRate;
use nicteam_team::{HashPolicy, Mode, hash};
use nicteam_wire::Frame;

/// The least that makes a file whole around `[hosts]` and `[[links]]`.
const TRAFFIC: &str = r#"
[workloads.w]
kind = "tcp"
from = "a"
to = "b"
[[runs]]
name = "r"
workloads = "w"
"#;

fn parse_with(text: &str, overrides: &Overrides) -> Experiment {
    experiment::parse("test", "test.toml", text, overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

fn parse(body: &str) -> Experiment {
    parse_with(&format!("title = 'test'\n{body}{TRAFFIC}"), &Overrides::default())
}

fn builtin(name: &str) -> Experiment {
    let source = experiment::find(name).unwrap();
    experiment::parse(&source.name, &source.path, &source.text, &Overrides::default())
        .unwrap_or_else(|errors| panic!("{errors}"))
}

fn run<'e>(experiment: &'e Experiment, name: &str) -> &'e Run {
    experiment.runs.iter().find(|run| run.name == name).unwrap()
}

/// Places in the switch's group towards the server that a run's clients fall on.
fn links_towards_server(run: &Run) -> BTreeSet<usize> {
    let mac = |name: &str| run.topology.hosts.iter().find(|host| host.name == name).unwrap().mac.0;
    let group = run.topology.teams.iter().find(|team| team.node == "sw" && team.device == "server").unwrap();
    let place = |(from, to): &(String, String)| {
        let ethertype_ipv4 = [0x08, 0x00];
        let bytes = [&mac(to)[..], &mac(from)[..], &ethertype_ipv4, &[0x45; 64]].concat();
        let hash = hash::hash(group.config.xmit_hash_policy, &Frame::parse(&bytes).unwrap());
        hash as usize % group.members.len()
    };
    run.workloads[0].pairs.iter().map(place).collect()
}

#[test]
fn everything_that_ships_is_right_and_has_a_title() {
    for shipped in experiment::builtin() {
        let experiment = builtin(shipped.name);
        assert_eq!(experiment.title, shipped.title(), "{}", shipped.name);
        assert!(!experiment.runs.is_empty(), "{}", shipped.name);
        assert_eq!(experiment.text, shipped.text);
    }
}

#[test]
fn everything_that_ships_says_what_must_come_out() {
    let silent: Vec<&str> = experiment::builtin()
        .iter()
        .map(|shipped| shipped.name)
        .filter(|name| builtin(name).expect.is_empty())
        .collect();
    assert!(silent.is_empty(), "`lab check` of all would refuse {silent:?}: give them a section [[expect]]");
}

#[test]
fn every_file_of_the_folder_ships() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().replace(".toml", ""))
        .collect();
    files.sort();
    let shipped: Vec<_> = experiment::builtin().iter().map(|shipped| shipped.name.to_owned()).collect();
    assert_eq!(files, shipped, "add the file to `builtin` in crates/experiment/src/catalog.rs");
}

#[test]
fn t3_is_what_was_published() {
    let t3 = builtin("t3-four-links");
    let names: Vec<_> = t3.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["one-connection", "four-connections", "one-to-four", "four-to-one", "four-to-one-unlucky"]);
    for run in &t3.runs {
        assert_eq!(run.duration, Duration::from_secs(8));
        let topology = &run.topology;
        assert_eq!((topology.hosts.len(), topology.switches.len(), topology.cables.len()), (5, 1, 20));
        assert!(topology.cables.iter().all(|cable| cable.rate_bps == 100_000_000 && cable.mtu() == 1500));
        assert_eq!(topology.teams.len(), 10);
        for host in &topology.hosts {
            let team = topology.teams.iter().find(|team| team.node == host.name).unwrap();
            assert_eq!((team.device.as_str(), host.device.as_str(), team.peer.as_str()), ("team0", "team0", "sw"));
            assert_eq!(team.members, ["eth0", "eth1", "eth2", "eth3"]);
            assert_eq!((team.config.mode, team.config.miimon_ms), (Mode::BalanceRr, 100));
            let group = topology.teams.iter().find(|team| team.node == "sw" && team.device == host.name).unwrap();
            assert_eq!(group.peer, host.name);
            assert_eq!(group.config.mode, Mode::BalanceXor);
            assert_eq!(group.config.xmit_hash_policy, HashPolicy::SrcDstMac);
            let ports: Vec<_> = (0..4).map(|i| format!("{}-{i}", host.name)).collect();
            assert_eq!(group.members, ports);
        }
    }
}

#[test]
fn t3_macs_make_the_best_case_and_the_unlucky_one() {
    let t3 = builtin("t3");
    assert_eq!(links_towards_server(run(&t3, "four-to-one")).len(), 4);
    assert_eq!(links_towards_server(run(&t3, "four-to-one-unlucky")).len(), 2);
    assert_eq!(links_towards_server(run(&t3, "four-connections")).len(), 1);
}

#[test]
fn random_addresses_leave_links_of_t3_unused() {
    let t3 = builtin("t3");
    let found = links_used(&t3, 200);
    let rows: Vec<_> =
        found.iter().map(|row| format!("{} {} {} {}", row.run, row.node, row.peer, row.in_file)).collect();
    // Where the payload leaves the switch; a host's balance-rr hashes nothing.
    let expected = [
        "one-connection sw server 1",
        "four-connections sw server 1",
        "one-to-four sw client1 1",
        "one-to-four sw client2 1",
        "one-to-four sw client3 1",
        "one-to-four sw client4 1",
        "four-to-one sw server 4",
        "four-to-one-unlucky sw server 2",
    ];
    assert_eq!(rows, expected);
    let row = &found[6];
    assert_eq!((row.policy.as_str(), row.links, row.connections, row.drawn.seeds()), ("src-dst-mac", 4, 8, 200));
    // Of four senders 9.4 % fill four links, and 2.73 are used on average; this is what 200 seeds can tell apart.
    assert!((0.03..0.17).contains(&row.drawn.share(4)) && (2.55..2.92).contains(&row.drawn.mean()), "{row:?}");
    let text = show_links_used(&found, 200);
    assert!(text.contains("links used with random addresses (200 seeds)") && text.contains("4 of 4"), "{text}");
    let json = links_used_json("t3", &found, 200);
    assert_eq!((&json["links_used"][6]["in_file"], &json["seeds"]), (&4.into(), &200.into()));
}

#[test]
fn what_leaves_by_a_group_follows_the_tree_of_switches() {
    let experiment = parse(
        "[teams.t]\nmode = 'balance-xor'\n[hosts]\na = { team = 't' }\nc = {}\nb = {}\n[switches]\n\
         s = { spread = 'src-mac' }\nt = { spread = 'src-dst-ip' }\n[[links]]\nbetween = ['a', 's']\ncount = 2\n\
         [[links]]\nbetween = ['c', 's']\n[[links]]\nbetween = ['s', 't']\ncount = 2\n[[links]]\nbetween = ['t', 'b']\n",
    );
    let rows = links_used(&experiment, 5);
    let rows: Vec<_> = rows.iter().map(|row| format!("{} {} {}", row.node, row.peer, row.policy)).collect();
    // From a to b: by a's own team and the first switch's group; towards a, and back from b, nothing is sent.
    assert_eq!(rows, ["a s layer2", "s t src-mac"]);
}

#[test]
fn a_switch_speaks_lacp_with_those_that_do_unless_it_says_otherwise() {
    let group = |mode: &str, keys: &str| {
        let experiment = parse(&format!(
            "[teams.t]\nmode = '{mode}'\n[hosts]\na = {{ team = 't' }}\nb = {{}}\n\
             [switches]\nsw = {{ spread = 'src-mac'{keys} }}\n\
             [[links]]\nbetween = ['a', 'sw']\ncount = 2\n[[links]]\nbetween = ['b', 'sw']\n"
        ));
        let team = experiment.runs[0].topology.teams.iter().find(|team| team.node == "sw").unwrap();
        (team.config.mode, team.config.lacp.active, team.config.lacp.rate)
    };
    assert_eq!(group("802.3ad", ""), (Mode::Ad, true, LacpRate::Slow));
    assert_eq!(group("802.3ad", ", lacp = 'passive', lacp_rate = 'fast'"), (Mode::Ad, false, LacpRate::Fast));
    assert_eq!(group("802.3ad", ", lacp = 'off'").0, Mode::BalanceXor);
    assert_eq!(group("balance-rr", "").0, Mode::BalanceXor);
    assert_eq!(group("balance-rr", ", lacp = 'active'").0, Mode::Ad);
}

/// The links of a switch with these keys, three to a team.
fn switch_with(keys: &str) -> Experiment {
    parse(&format!(
        "[teams.t]\nmode = 'balance-xor'\n[hosts]\na = {{ team = 't' }}\nb = {{}}\n[switches]\nsw = {{ {keys} }}\n\
         [[links]]\nbetween = ['a', 'sw']\ncount = 3\n[[links]]\nbetween = ['b', 'sw']\n"
    ))
}

#[test]
fn a_model_spreads_in_its_makers_words() {
    let group = |keys: &str| {
        let run = switch_with(keys).runs.remove(0);
        let groups: Vec<_> = run.topology.teams.iter().filter(|team| team.node == "sw").collect();
        let [group] = groups.as_slice() else { panic!("{groups:?}") };
        let config = &group.config;
        let spread = run.topology.switches[0].spread.clone().unwrap();
        (spread, config.xmit_hash_policy, config.hash_buckets, config.mode, config.lacp.active)
    };
    let cisco = |spread: &str, policy, mode, active| (spread.to_owned(), policy, 8, mode, active);
    let static_group = |spread: &str, policy| cisco(spread, policy, Mode::BalanceXor, true);
    let model = |rest: &str| group(&format!("model = 'catalyst-2960s', {rest}"));
    assert_eq!(model("spread = 'src-dst-ip'"), static_group("src-dst-ip", HashPolicy::SrcXorDstIp));
    assert_eq!(model("spread = 'dst-ip', channel_group = 'on'"), static_group("dst-ip", HashPolicy::DstIp));
    assert_eq!(model("channel_group = 'on'"), static_group("src-mac", HashPolicy::SrcMac), "as Cisco's does");
    assert_eq!(model("channel_group = 'active'"), cisco("src-mac", HashPolicy::SrcMac, Mode::Ad, true));
    assert_eq!(model("channel_group = 'passive'"), cisco("src-mac", HashPolicy::SrcMac, Mode::Ad, false));
    assert_eq!(
        group("model = 'h3c', spread = 'destination-ip source-ip'"),
        ("destination-ip source-ip".to_owned(), HashPolicy::SrcDstIp, 0, Mode::BalanceXor, true)
    );
    assert_eq!(group("model = 'procurve-2824', spread = 'sa-da'").1, HashPolicy::SrcDstMac);
    // Nobody's switch has no buckets, and takes the policies themselves.
    assert_eq!((group("spread = 'src-xor-dst-ip'").1, group("spread = 'src-ip'").2), (HashPolicy::SrcXorDstIp, 0));
}

#[test]
fn pagp_leaves_plain_ports() {
    for (mode, pagp) in [("auto", Pagp::Auto), ("desirable", Pagp::Desirable)] {
        let keys = format!("model = 'catalyst-3560g', spread = 'src-ip', channel_group = '{mode}'");
        let run = switch_with(&keys).runs.remove(0);
        assert!(run.topology.teams.iter().all(|team| team.node != "sw"));
        let switch = &run.topology.switches[0];
        assert_eq!((switch.pagp, switch.pagp_ports.join(" ").as_str()), (Some(pagp), "a-0 a-1 a-2"));
    }
    assert_eq!(switch_with("model = 'catalyst-3560g', channel_group = 'on'").runs[0].topology.switches[0].pagp, None);
}

#[test]
fn what_is_assumed_of_a_model_is_shown() {
    let shown = experiment::show(&switch_with("model = 'catalyst-2960s', spread = 'src-dst-ip'"));
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("group a src-dst-ip"), "{shown}");
    assert!(words.contains("Cisco Catalyst 2960-S: port-channel load-balance src-dst-ip; 8 values"), "{shown}");
    assert!(words.contains("Assumed: which of its eight values a frame gets"), "{shown}");
}

#[test]
fn each_end_of_a_cable_may_have_an_mtu_of_its_own() {
    let experiment = parse(
        "[teams.t]\nmode = 'balance-xor'\n[hosts]\na = { team = 't' }\nb = {}\n[switches]\ns = { spread = 'src-mac' }\n\
         [[links]]\nbetween = ['a', 's']\ncount = 2\nmtu = [9000, 1500]\n[[links]]\nbetween = ['s', 'b']\nmtu = 9000\n",
    );
    let topology = &experiment.runs[0].topology;
    let mtus: Vec<_> = topology.cables.iter().map(|cable| (cable.mtus, cable.mtu())).collect();
    assert_eq!(mtus, [([9000, 1500], 1500), ([9000, 1500], 1500), ([9000, 9000], 9000)]);
    let teams: Vec<_> = topology.teams.iter().map(|team| (team.node.as_str(), team.mtu)).collect();
    assert_eq!(teams, [("a", 9000), ("s", 1500)], "a host's team has the MTU of its own ends");
    let shown = show(&experiment);
    assert!(shown.contains("2 x 100mbit mtu 9000 to 1500") && shown.contains("100mbit mtu 9000 "), "{shown}");
}

#[test]
fn the_smallest_experiment_is_two_bare_hosts() {
    let two = builtin("two-hosts");
    let run = &two.runs[0];
    assert_eq!((run.topology.hosts.len(), run.topology.cables.len(), run.topology.teams.len()), (2, 1, 0));
    let [left, right] = run.topology.hosts.as_slice() else { panic!() };
    assert_eq!((left.device.as_str(), left.address.to_string().as_str(), left.prefix), ("eth0", "10.0.0.1", 24));
    assert_eq!(right.address.to_string(), "10.0.0.2");
    assert_eq!(
        (left.mac.to_string().as_str(), right.mac.to_string().as_str()),
        ("02:00:00:00:00:01", "02:00:00:00:00:02")
    );
    let workload = &run.workloads[0];
    assert_eq!((workload.connections, workload.direction), (1, Direction::Send));
    let cubic: Arc<dyn Task> = Arc::new(Tcp { congestion: "cubic".to_owned(), mptcp: false });
    assert_eq!(&*workload.task, &*cubic);
    assert_eq!(workload.pairs, [("left".to_owned(), "right".to_owned())]);
}

#[test]
fn hosts_of_multipath_tcp_have_a_subnet_a_link() {
    let compared = builtin("stripe-compared");
    let topology = &run(&compared, "one-mptcp").topology;
    let host = |name: &str| topology.hosts.iter().find(|host| host.name == name).unwrap();
    let further: Vec<String> =
        host("mp-right").further.iter().map(|further| format!("{} {}", further.device, further.address)).collect();
    assert_eq!(host("mp-right").address.to_string(), "10.0.0.4");
    assert_eq!(further, ["eth1 10.0.1.4", "eth2 10.0.2.4", "eth3 10.0.3.4"]);
    assert!(host("left").further.is_empty());
}

#[test]
fn multipath_tcp_that_the_machine_lacks_is_refused_where_it_is_asked_for() {
    let text = "title = 'x'\n[hosts]\na = {}\nb = {}\n[[links]]\nbetween = ['a', 'b']\ncount = 2\n\
                [workloads.w]\nkind = 'tcp'\nfrom = 'a'\nto = 'b'\nmptcp = true\n\
                [[runs]]\nname = 'r'\nworkloads = 'w'\n";
    let experiment = parse_with(text, &Overrides::default());
    assert!(experiment::check_mptcp(&experiment, || true).is_ok());
    let [entry] = experiment::check_mptcp(&experiment, || false).unwrap_err().entries().try_into().unwrap();
    assert_eq!((entry.line, entry.column), (Some(12), Some(9)));
    assert_eq!(entry.message, "no multipath TCP on this machine");
    let plain = text.replace("mptcp = true\n", "").replace("count = 2", "");
    let plain = parse_with(&plain, &Overrides::default());
    assert!(experiment::check_mptcp(&plain, || false).is_ok());
}

#[test]
fn active_backup_links_stay_plain_ports_and_a_run_changes_a_team() {
    let modes = builtin("switch-teams");
    let groups = |name| run(&modes, name).topology.teams.iter().filter(|team| team.node == "sw").count();
    assert_eq!(groups("active-backup"), 0);
    assert_eq!(groups("balance-xor-ports"), 2);
    let team = &run(&modes, "balance-xor-ports").topology.teams[0];
    assert_eq!((team.config.mode, team.config.xmit_hash_policy), (Mode::BalanceXor, HashPolicy::Layer34));
}

#[test]
fn a_switchs_group_follows_the_lacp_of_open_vswitchs_modes() {
    let group = |options: &str, switch: &str| {
        let text = format!(
            "[hosts]\na = {{ team = 't' }}\nb = {{}}\n[teams.t]\n{options}\n[switches]\ns = {{ spread = 'layer2'{switch} }}\n\
             [[links]]\nbetween = ['a', 's']\ncount = 2\n[[links]]\nbetween = ['b', 's']\n"
        );
        let topology = parse(&text).runs[0].topology.clone();
        topology.teams.into_iter().find(|team| team.node == "s").map(|team| (team.config.mode, team.config.lacp.active))
    };
    let (by_lacp, fixed) = (Some((Mode::Ad, true)), Some((Mode::BalanceXor, true)));
    assert_eq!(group("mode = 'ovs-active-backup'", ""), None);
    assert_eq!(group("mode = 'ovs-balance-slb'", ""), None);
    assert_eq!(group("mode = 'ovs-balance-slb'\nlacp = 'active'", ""), by_lacp);
    assert_eq!(group("mode = 'ovs-balance-tcp'\nlacp = 'passive'", ""), by_lacp);
    assert_eq!(group("mode = 'ovs-balance-tcp'\nlacp = 'active'", ", lacp = 'off'"), fixed);
    assert_eq!(group("mode = 'ovs-balance-tcp'", ""), fixed);
    // In Open vSwitch's own words.
    assert_eq!(
        group("mode = 'balance-slb'\nlacp = 'active'\n\"lacp-time\" = 'fast'\nbond-hash-basis = 7", ""),
        by_lacp
    );
}

#[test]
fn defaults_steer_clear_of_what_was_given() {
    let experiment = parse(
        "[hosts]\nb = { mac = '02:00:00:00:00:02' }\na = { address = '10.9.0.1/16' }\n[[links]]\nbetween = ['a', 'b']\n",
    );
    let [b, a] = experiment.runs[0].topology.hosts.as_slice() else { panic!() };
    // `b` is first in the file, but .1 is taken; `a` is second, but :02 is taken.
    assert_eq!((b.name.as_str(), b.address.to_string().as_str(), b.prefix), ("b", "10.9.0.2", 16));
    assert_eq!((a.name.as_str(), a.mac.to_string().as_str()), ("a", "02:00:00:00:00:03"));
}

#[test]
fn every_node_of_a_list_gets_the_links() {
    let experiment = parse(
        "[hosts]\na = { team = 't' }\nb = { team = 't' }\n[teams.t]\n[switches]\ns = {}\n\
         [[links]]\nbetween = [['a', 'b'], 's']\ncount = 2\n[[links]]\nbetween = ['s', 'a']\nrate = '1gbit'\n",
    );
    let cables: Vec<_> = experiment.runs[0]
        .topology
        .cables
        .iter()
        .map(|c| format!("{}:{} {}:{}", c.a.node, c.a.device, c.b.node, c.b.device))
        .collect();
    assert_eq!(cables, ["a:eth0 s:a-0", "a:eth1 s:a-1", "b:eth0 s:b-0", "b:eth1 s:b-1", "s:a-2 a:eth2"],);
    // No `spread`: no groups.
    assert!(experiment.runs[0].topology.teams.iter().all(|team| team.node != "s"));
}

#[test]
fn impairments_hold_for_both_directions_unless_the_way_back_has_its_own_and_a_run_changes_them() {
    let text = format!(
        "title = 'test'\n[defaults]\nseed = 7\n[hosts]\na = {{ team = 't' }}\nb = {{ team = 't' }}\n[teams.t]\n\
         [impairments]\nfar = {{ delay = '5ms', jitter = '0.2ms', jitter_order = 'free', reorder = '25%', reorder_gap = 5 }}\n\
         lossy = {{ gemodel = {{ p = '1%', r = '10%' }}, duplicate = '0.5%', seed = 3 }}\n\
         [[links]]\nbetween = ['a', 'b']\ncount = 2\nimpair = 'far'\n\
         [[links]]\nbetween = ['a', 'b']\nimpair = 'far'\nimpair_back = 'lossy'\n\
         [[links]]\nbetween = ['a', 'b']\nimpair_back = 'lossy'\n\
         [[links]]\nbetween = ['a', 'b']\n{TRAFFIC}[runs.impairments.far]\ndelay = '8ms'\nreorder = '0%'\n"
    );
    let cables = &parse_with(&text, &Overrides::default()).runs[0].topology.cables;
    let names = cables.iter().map(|cable| {
        let name = |way: &Way| way.name.clone().unwrap_or_default();
        cable.impaired.as_ref().map(|impaired| [name(&impaired.a_to_b), name(&impaired.b_to_a)])
    });
    let names: Vec<_> = names.collect();
    let both = |there: &str, back: &str| Some([there.to_owned(), back.to_owned()]);
    assert_eq!(names, [both("far", "far"), both("far", "far"), both("far", "lossy"), both("", "lossy"), None]);

    let Some(impaired) = &cables[2].impaired else { panic!() };
    let far = impaired.a_to_b.impairments;
    assert_eq!((far.delay, far.jitter.amount), (Duration::from_millis(8), Duration::from_micros(200)));
    assert!(far.jitter.may_reorder && far.reorder.is_none());
    let lossy = impaired.b_to_a.impairments;
    assert!((lossy.loss.mean() - 0.01 / 0.11).abs() < 1e-9);
    assert_eq!(lossy.duplicate.parts(), 5_000_000);
    assert_eq!((impaired.a_to_b.seed, impaired.b_to_a.seed), (7, 3));
}

#[test]
fn two_switches_that_spread_have_a_group_between_them() {
    let experiment = parse(
        "[hosts]\na = {}\nb = {}\n[switches]\ns = { spread = 'src-mac' }\nt = { spread = 'src-dst-ip' }\n\
         [[links]]\nbetween = ['a', 's']\n[[links]]\nbetween = ['s', 't']\ncount = 2\n[[links]]\nbetween = ['t', 'b']\n",
    );
    let groups: Vec<_> = experiment.runs[0]
        .topology
        .teams
        .iter()
        .map(|team| {
            format!("{} {} {} {}", team.node, team.device, team.config.xmit_hash_policy, team.members.join(" "))
        })
        .collect();
    assert_eq!(groups, ["s t src-mac t-0 t-1", "t s src-dst-ip s-0 s-1"]);
}

#[test]
fn the_command_line_overrides_and_is_noted() {
    let overrides = Overrides {
        rate_bps: Some(1_000_000_000),
        duration: Some(Duration::from_secs(60)),
        only: Some(vec!["one-connection".to_owned()]),
        ..Overrides::default()
    };
    let source = experiment::find("t3").unwrap();
    let t3 = experiment::parse(&source.name, &source.path, &source.text, &overrides).unwrap();
    assert_eq!(t3.runs.len(), 1);
    assert_eq!(t3.runs[0].duration, Duration::from_secs(60));
    assert!(t3.runs[0].topology.cables.iter().all(|cable| cable.rate_bps == 1_000_000_000));
    assert_eq!(t3.overrides, ["rate=1gbit", "duration=60s", "only=one-connection"]);
}

/// Two hosts with a team that every engine can run, and a run in which one engine alone can.
const ENGINES: &str = r#"
title = "Engines"
links = [{ between = ["a", "sw"], count = 2 }, { between = ["b", "sw"], count = 2 }]
teams.t.mode = "active-backup"
hosts.a.team = "t"
hosts.b.team = "t"
switches.sw.spread = "src-dst-mac"
[workloads.w]
kind = "tcp"
from = "a"
to = "b"
[[runs]]
name = "first"
workloads = "w"
[[runs]]
name = "striped"
workloads = "w"
teams.t = { mode = "stripe" }
"#;

fn with_engines(engines: &[&str], only: &str) -> Result<Experiment, experiment::Diagnostics> {
    let engines = engines.iter().map(|engine| (*engine).to_owned()).collect();
    let overrides = Overrides { engines, only: Some(vec![only.to_owned()]), ..Overrides::default() };
    experiment::parse("t", "t.toml", ENGINES, &overrides)
}

#[test]
fn an_engine_of_the_command_line_runs_the_hosts_teams() {
    let one = with_engines(&["ovs"], "first").unwrap();
    let [run] = &one.runs[..] else { panic!("{:?}", one.runs) };
    assert_eq!((run.name.as_str(), &run.variant), ("first", &None));
    assert!(run.topology.teams.iter().all(|team| team.engine == "ovs"), "{:?}", run.topology.teams);
    assert_eq!(one.overrides, ["only=first", "engine=ovs"]);
    let several = with_engines(&["nicteam", "ovs", "kernel"], "first").unwrap();
    let named: Vec<_> = several.runs.iter().map(|run| (run.name.as_str(), run.variant.as_ref().unwrap())).collect();
    let names: Vec<_> = named.iter().map(|(name, variant)| (*name, &*variant.of, &*variant.engine)).collect();
    let expected =
        [("first.nicteam", "first", "nicteam"), ("first.ovs", "first", "ovs"), ("first.kernel", "first", "kernel")];
    assert_eq!(names, expected);
}

#[test]
fn what_an_engine_of_the_command_line_cannot_do_is_an_error_at_its_line() {
    let refused = with_engines(&["nicteam", "ovs"], "striped").unwrap_err().to_string();
    assert!(refused.contains("engine `ovs` has no mode stripe") && refused.contains("teams.t = {"), "{refused}");
    assert!(refused.ends_with("1 error in t.toml\n"), "{refused}");
    let unknown = with_engines(&["ovz"], "first").unwrap_err().to_string();
    assert!(unknown.contains("no engine `ovz`") && unknown.contains("did you mean `ovs`?"), "{unknown}");
    let twice = with_engines(&["ovs", "ovs"], "first").unwrap_err().to_string();
    assert!(twice.contains("engine `ovs` is named twice"), "{twice}");
}

#[test]
fn a_run_may_give_a_team_to_another_engine() {
    let text = ENGINES.replace("{ mode = \"stripe\" }", "{ engine = \"ovs\" }");
    let experiment = parse_with(&text, &Overrides::default());
    let engines = |run: usize| experiment.runs[run].topology.teams.iter().map(|team| &*team.engine).collect::<Vec<_>>();
    assert_eq!((engines(0), engines(1)), (vec!["nicteam"; 2], vec!["ovs"; 2]));
}

#[test]
fn a_run_alone_is_fitted_as_among_the_others() {
    let text = format!(
        "title = 'x'\n[hosts]\na = {{}}\nb = {{}}\n[[links]]\nbetween = ['a', 'b']\n{TRAFFIC}\
         [workloads.both]\nkind = 'tcp'\nfrom = 'a'\nto = 'b'\ndirection = 'both'\n\
         [[runs]]\nname = 'both'\nworkloads = 'both'\n"
    );
    let all = parse_with(&text, &Overrides::default());
    let one = parse_with(&text, &Overrides { only: Some(vec!["r".to_owned()]), ..Overrides::default() });
    let limit = |number: usize| experiment::limit(&all.runs[number]).bps;
    assert!(limit(0) < limit(1));
    assert_eq!((all.highest_limit_bps, one.highest_limit_bps), (limit(1), limit(1)));
}

#[test]
fn a_congestion_control_that_the_machine_lacks_is_refused_at_its_place() {
    let text = |congestion| {
        format!(
            "title = 'x'\n[hosts]\na = {{}}\nb = {{}}\n[[links]]\nbetween = ['a', 'b']\n{TRAFFIC}\
             [workloads.other]\nkind = 'tcp'\nfrom = 'a'\nto = 'b'\n{congestion}\n"
        ) + "[[runs]]\nname = 'other'\nworkloads = 'other'\n"
    };
    let available = ["reno", "cubic"];
    let check = |text: &str, overrides: &Overrides, available: &[&str]| {
        let checked = experiment::check_congestion(&parse_with(text, overrides), available, |n| available.contains(&n));
        checked.map_err(|errors| errors.entries())
    };
    let all = Overrides::default();
    assert_eq!(check(&text("congestion = 'reno'"), &all, &available), Ok(()));
    let cubik = text("congestion = 'cubik'");
    let line = 1 + cubik.lines().position(|line| line.contains("cubik")).unwrap();
    let [entry] = check(&cubik, &all, &available).unwrap_err().try_into().unwrap();
    assert_eq!((entry.line, entry.column), (Some(line), Some(14)));
    assert_eq!(entry.hint.as_deref(), Some("did you mean `cubic`? this kernel has `reno` and `cubic`"));
    // Runs that are left out need nothing.
    let only = Overrides { only: Some(vec!["r".to_owned()]), ..Overrides::default() };
    assert_eq!(check(&cubik, &only, &available), Ok(()));
    // What the file does not name has no place in it.
    let [entry] = check(&text(""), &all, &["reno"]).unwrap_err().try_into().unwrap();
    assert_eq!(entry.line, None);
    assert!(entry.hint.unwrap().contains("`[defaults]`"));
}

#[test]
fn an_override_that_cannot_hold_is_refused() {
    let bad = |overrides: &Overrides, text: &str| {
        experiment::parse("x", "x.toml", text, overrides).unwrap_err().entries()[0].clone()
    };
    let only = Overrides { only: Some(vec!["one-conection".to_owned()]), ..Overrides::default() };
    let entry = bad(&only, &experiment::find("t3").unwrap().text);
    assert_eq!((entry.line, entry.hint.as_deref()), (None, Some("did you mean `one-connection`?")));

    let rate = Overrides { rate_bps: Some(1_000_000_000), ..Overrides::default() };
    let text = format!(
        "title = 'x'\n[hosts]\na = {{}}\nb = {{}}\n[[links]]\nbetween = ['a', 'b']\nrate = '10mbit'\n{TRAFFIC}"
    );
    assert!(bad(&rate, &text).message.contains("would change nothing"));
}

#[test]
fn experiments_are_found_by_name_beginning_and_path() {
    assert_eq!(experiment::find("t3-four-links").unwrap().name, "t3-four-links");
    assert_eq!(experiment::find("t3").unwrap().name, "t3-four-links");
    assert!(matches!(experiment::find("t"), Err(FindError::Ambiguous { .. })));
    let error = experiment::find("t4-four-links").unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("did you mean `t3-four-links`?"));
    let error = experiment::find("").unwrap_err();
    assert!(error.hint().unwrap().contains("two-hosts"), "{:?}", error.hint());
    assert!(matches!(experiment::find("./t3"), Err(FindError::Read { .. })));

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/two-hosts.toml");
    let source = experiment::find(path).unwrap();
    assert_eq!((source.name.as_str(), source.path.as_str()), ("two-hosts", path));
    assert!(matches!(experiment::find(env!("CARGO_MANIFEST_DIR")), Err(FindError::Read { .. })));
    assert!(matches!(experiment::find("/dev/zero"), Err(FindError::TooLarge { .. })));
}

#[test]
fn drawings_fit_and_name_everything() {
    for shipped in experiment::builtin() {
        let experiment = builtin(shipped.name);
        let drawing = show(&experiment);
        for line in drawing.lines() {
            assert!(line.chars().count() <= 100, "{}: {line}", shipped.name);
        }
        let hosts = experiment.runs[0].topology.hosts.iter().map(|host| &host.name);
        let runs = experiment.runs.iter().map(|run| &run.name);
        for name in hosts.chain(runs) {
            assert!(drawing.contains(name.as_str()), "{name} is missing:\n{drawing}");
        }
    }
}

#[test]
fn a_drawing_is_as_it_was_reviewed() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiment_show.txt");
    let mut drawing: Vec<_> = experiment::builtin()
        .iter()
        .map(|shipped| format!("$ nicteam lab show {}\n{}", shipped.name, show(&builtin(shipped.name))))
        .collect();
    let wide = "[hosts]\na = { team = 't', address = 'fd00:1234:5678:9abc:def0::1/64' }\nb = { team = 't' }\n[teams.t]\nmode = 'active-backup'\n\
         [switches]\ns = { spread = 'src-mac' }\nt = { spread = 'src-mac' }\n[[links]]\nbetween = [['a', 'b'], ['s', 't']]\ncount = 2\nmtu = 9000\nrate = '2.5gbit'\n\
         [[links]]\nbetween = ['s', 't']\ncount = 2\n";
    drawing.push(format!("two switches, long addresses\n{}", show(&parse(wide))));
    let drawing = drawing.join("\n\n");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(golden, &drawing).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(golden).unwrap_or_default(),
        drawing,
        "UPDATE_GOLDEN=1 cargo test rewrites {golden}"
    );
}

/// Thirty-two hosts by two links each at one switch; the first half connects to the second.
fn thirty_two() -> String {
    let hosts = |range: std::ops::Range<usize>| {
        let names: Vec<String> = range.map(|number| format!("'h{number}'")).collect();
        format!("[{}]", names.join(", "))
    };
    let sections: String = (0..32).map(|number| format!("h{number} = {{ team = 't' }}\n")).collect();
    format!(
        "[teams]\nt = {{ mode = 'balance-alb' }}\n[switches]\ns = {{}}\n[hosts]\n{sections}[[links]]\nbetween = [{}, 's']\n\
         count = 2\n[workloads.w]\nkind = 'tcp'\npattern = 'pairwise'\nfrom = {}\nto = {}\n[[runs]]\nname = 'r'\nworkloads = 'w'\n",
        hosts(0..32),
        hosts(0..16),
        hosts(16..32)
    )
}

#[test]
fn like_hosts_are_drawn_and_named_as_one() {
    let file = format!("title = 'Many'\n{}", thirty_two());
    let experiment = experiment::parse("many", "many.toml", &file, &Default::default()).unwrap();
    let drawing = show(&experiment);
    let picture = drawing.split("\nhosts\n").next().unwrap();
    assert!(picture.contains("h0 to h15 ") && picture.contains("h16 to h31 "), "{drawing}");
    assert!(picture.contains("16 hosts") && picture.contains("2 plain ports each"), "{drawing}");
    assert!(picture.lines().count() < 10, "{picture}");
    assert!(drawing.contains("h0 -> h16, h1 -> h17") && drawing.contains(" and 8 more"), "{drawing}");
    assert!(drawing.contains("all 32 links of h0 to h15\n"), "{drawing}");
    assert!(drawing.lines().all(|line| line.chars().count() <= 100), "{drawing}");
    // One that differs stands alone.
    let other = file.replace("h5 = { team = 't' }", "h5 = { team = 't', processor = '50mbit' }");
    let drawing = show(&experiment::parse("many", "many.toml", &other, &Default::default()).unwrap());
    assert!(drawing.contains("h0 to h4 and h6 to h15") && drawing.contains("\nh5 "), "{drawing}");
}
