//! Switches: their groups, models, and links between them.

use nicteam_experiment::{self as experiment, Experiment, Pagp, links_used, show};
use nicteam_team::lacp::LacpRate;
use nicteam_team::{HashPolicy, Mode};

use crate::experiment::parse;

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
