//! What ships: that it is right, and what the files say.

use std::collections::BTreeSet;
use std::time::Duration;

use nicteam_experiment::{self as experiment, Run, links_used, links_used_json, show_links_used};
use nicteam_team::{HashPolicy, Mode, hash};
use nicteam_wire::Frame;

use crate::experiment::{builtin, run};

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
