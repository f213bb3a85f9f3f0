//! What faults broke, from records.

use nicteam_chaos::{broken, promised_ms};
use nicteam_record::{Cpu, Datagrams, Fault, Resources, Run, Team};
use serde_json::json;

/// Two hosts with a team of this mode each, and a connection.
pub(crate) fn run(mode: &str, options: &[(&str, &str)]) -> Run {
    let options: serde_json::Value = options.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let team = |node: &str| {
        json!({ "node": node, "device": "team0", "peer": "sw", "mode": mode, "xmit_hash_policy": "",
        "options": options, "members": ["eth0", "eth1"], "engine": "nicteam", "dataplane": "bpf" })
    };
    let host =
        |name: &str| json!({ "name": name, "device": "team0", "address": "10.0.0.1", "mac": "02:00:00:00:00:01" });
    let connection = json!({ "workload": "w", "index": 0, "from": "a", "to": "b", "src": "", "dst": "",
        "delivered_bps": 1e6, "retransmits": 0, "segments": 0, "rtt_us": 0.0, "congestion": "",
        "datagrams": { "sent": 100, "received": 100, "lost": 0, "reordered": 0, "duplicated": 0 } });
    let cpu = serde_json::to_value(Cpu::default()).unwrap();
    let run = json!({ "name": "r", "description": null, "published": null, "published_of_limit": null,
        "topology": { "hosts": [host("a"), host("b")], "switches": [], "links": [], "teams": [team("a"), team("b")] },
        "delivered_bps": 1e6, "limit_bps": 1e6, "of_limit": 1.0, "limit_reason": "", "members": [],
        "connections": [connection], "cpu": cpu, "measured_ms": 9000.0, "warmup_ms": 0.0, "delivered_counted_at": "",
        "members_counted_at": "", "samples": "", "samples_sha256": "" });
    serde_json::from_value(run).unwrap()
}

fn fault(kind: &str, silence_ms: f64) -> Fault {
    let [before_bps, after_bps] = [Some(1e6); 2];
    let (t_ms, over_ms, until_ms) = (1000.0, Some(3000.0), 9000.0);
    let (silence_ms, team) = (Some(silence_ms), Some("team0".to_owned()));
    Fault {
        team,
        t_ms,
        over_ms,
        until_ms,
        kind: kind.to_owned(),
        silence_ms,
        before_bps,
        after_bps,
        ..Fault::default()
    }
}

fn what(run: &Run) -> Vec<&'static str> {
    broken(run).iter().map(|it| it.what).collect()
}

/// A run with these datagrams and faults.
fn with(mode: &str, datagrams: Datagrams, faults: Vec<Fault>) -> Run {
    let mut run = run(mode, &[]);
    run.connections[0].datagrams = Some(datagrams);
    Run { faults, ..run }
}

#[test]
fn what_holds_is_not_broken() {
    let whole = Datagrams { sent: 9, received: 9, ..Datagrams::default() };
    assert_eq!(what(&with("active-backup", whole, vec![fault("cable", 20.0)])), [] as [&str; 0]);
}

#[test]
fn each_thing_that_must_hold_is_missed_where_it_does_not() {
    let of = |mode: &str, datagrams: Datagrams| what(&with(mode, datagrams, vec![fault("cable", 20.0)]));
    let twice = Datagrams { duplicated: 1, ..Datagrams::default() };
    assert_eq!((of("balance-xor", twice), of("broadcast", twice)), (vec!["duplicates"], vec![]));
    let late = |reordered| Datagrams { reordered, ..Datagrams::default() };
    assert_eq!((of("active-backup", late(9)), of("active-backup", late(8))), (vec!["order"], vec![]));
    assert_eq!((of("balance-rr", late(9)), of("stripe", late(9))), (vec![], vec![]));
    // In 30 s each of the two teams gives its links other loads three times.
    let long = |mode: &str, reordered| {
        what(&Run { measured_ms: 30_000.0, ..with(mode, late(reordered), vec![fault("cable", 20.0)]) })
    };
    assert_eq!((long("balance-tlb", 33), long("balance-tlb", 32)), (vec!["order"], vec![]));
    assert_eq!(long("balance-xor", 9), ["order"]);
    let none = Datagrams::default();
    assert_eq!(what(&with("active-backup", none, vec![fault("cable", 1500.0)])), ["blackhole"]);
    let weak = Fault { after_bps: Some(0.8e6), ..fault("cable", 0.0) };
    assert_eq!(what(&with("active-backup", none, vec![weak])), ["share"]);
    let mut run = with("active-backup", none, vec![fault("cable", 0.0)]);
    let node = "a".to_owned();
    run.resources = vec![Resources { node, descriptors: [10, 19], memory_bytes: [1 << 20, 1 << 27] }];
    assert_eq!(what(&run), ["leak", "leak"]);
    run.resources[0] =
        Resources { descriptors: [10, 18], memory_bytes: [1 << 20, 1 << 25], ..run.resources[0].clone() };
    assert_eq!(what(&run), [] as [&str; 0]);
}

#[test]
fn a_mode_promises_what_it_looks_for() {
    let promised = |mode, options, kind| {
        let run = run(mode, options);
        promised_ms(&fault(kind, 0.0), &run.topology).unwrap()
    };
    let arp: &[(&str, &str)] = &[("arp_interval", "100"), ("arp_missed_max", "2")];
    let fast: &[(&str, &str)] = &[("lacp_rate", "fast")];
    assert!(promised("active-backup", &[], "silence") > 3000.0, "nobody looks: the fault lasts 2 s");
    assert_eq!(promised("active-backup", arp, "silence"), 1300.0);
    assert!(promised("stripe", &[], "silence") <= 2000.0);
    assert!(promised("802.3ad", &[], "silence") > promised("802.3ad", fast, "silence"));
    assert_eq!(promised("802.3ad", &[("miimon", "100")], "cable"), 1100.0);
    let alone = Fault { team: None, ..fault("cable", 0.0) };
    assert!(promised_ms(&alone, &run("active-backup", &[]).topology).unwrap() > 2000.0, "no member");
    assert_eq!(promised("active-backup", &[], "kill"), 1000.0, "the programs forward");
    let mut packets = run("active-backup", &[]);
    let of_packets = |team: &mut Team| team.dataplane = "packet".to_owned();
    packets.topology.teams.iter_mut().for_each(of_packets);
    assert!(promised_ms(&fault("kill", 0.0), &packets.topology).unwrap() > 3000.0);
    packets.topology.teams[0].engine = "ovs".to_owned();
    assert_eq!(promised_ms(&fault("kill", 0.0), &packets.topology), None, "another program promises nothing here");
}

#[test]
fn what_faults_take_together_is_no_ones_promise() {
    let after = |over_ms| {
        let first = Fault { until_ms: 2000.0, over_ms: Some(over_ms), ..fault("cable", 0.0) };
        let second = Fault { t_ms: 2000.0, over_ms: Some(4000.0), ..fault("cable", 1900.0) };
        what(&with("active-backup", Datagrams::default(), vec![first, second]))
    };
    assert_eq!((after(3000.0), after(2500.0)), (vec![], vec!["blackhole"]));
    // A fault that follows ends the time in which something is laid to the first one.
    let first = Fault { until_ms: 1900.0, ..fault("cable", 1500.0) };
    let second = Fault { t_ms: 1900.0, ..fault("restart", 1500.0) };
    assert_eq!(what(&with("active-backup", Datagrams::default(), vec![first, second])), [] as [&str; 0]);
}

#[test]
fn a_share_that_comes_back_late_is_full() {
    let none = Datagrams::default();
    let late = Fault { after_bps: Some(0.4e6), full_share_ms: Some(2500.0), ..fault("cable", 0.0) };
    assert_eq!(what(&with("active-backup", none, vec![late.clone()])), [] as [&str; 0]);
    // As much as before the last fault is not enough if that was less already.
    let weak = Fault { before_bps: Some(0.4e6), t_ms: 5000.0, ..late };
    assert_eq!(what(&with("active-backup", none, vec![fault("cable", 0.0), weak])), ["share"]);
}

#[test]
fn a_run_in_which_nothing_ever_arrives_is_broken() {
    let mut run = with("active-backup", Datagrams::default(), vec![fault("cable", 0.0)]);
    assert_eq!(what(&run), [] as [&str; 0]);
    (run.faults[0].before_bps, run.faults[0].after_bps) = (Some(0.0), Some(0.0));
    assert_eq!(what(&run), ["share"]);
    run.connections.clear();
    assert_eq!(what(&run), [] as [&str; 0]);
}

#[test]
fn the_share_of_a_copy_ends_with_it() {
    let whole = Datagrams { sent: 9, received: 9, ..Datagrams::default() };
    let done = Fault { after_bps: Some(0.0), ..fault("cable", 0.0) };
    let mut run = with("active-backup", whole, vec![done]);
    assert_eq!(what(&run), ["share"]);
    run.transfers.push(nicteam_record::Transfer::default());
    assert_eq!(what(&run), [] as [&str; 0]);
}

/// Open vSwitch takes what a switch with empty tables sends to both members.
#[test]
fn copies_from_a_switch_that_was_restarted_are_no_defect_in_balance_slb() {
    let doubled = Datagrams { sent: 9, received: 9, duplicated: 2, ..Datagrams::default() };
    let of = |mode, kind| what(&with(mode, doubled, vec![fault(kind, 0.0)]));
    assert_eq!(of("ovs-balance-slb", "restart"), [] as [&str; 0]);
    assert_eq!(of("ovs-balance-slb", "cable"), ["duplicates"]);
    assert_eq!(of("active-backup", "restart"), ["duplicates"]);
}

/// Links that were lost are agreed on again some seconds after a fault, and a fault meanwhile takes the others.
#[test]
fn a_fault_while_a_team_agrees_again_may_take_longer() {
    let whole = Datagrams { sent: 9, received: 9, ..Datagrams::default() };
    let second = |t_ms: f64| Fault { t_ms, over_ms: Some(t_ms + 2000.0), until_ms: 20_000.0, ..fault("cable", 3000.0) };
    let of = |mode, t_ms| what(&with(mode, whole, vec![fault("silence", 0.0), second(t_ms)]));
    assert_eq!(of("802.3ad", 4000.0), [] as [&str; 0]);
    assert_eq!(of("802.3ad", 9500.0), ["blackhole"]);
    assert_eq!(of("active-backup", 4000.0), ["blackhole"]);
}

#[test]
fn a_team_that_has_recovered_from_all_faults_has_its_share() {
    let whole = Datagrams { sent: 9, received: 9, ..Datagrams::default() };
    let last = |recovered_ms| Fault { before_bps: Some(0.0), after_bps: Some(0.0), recovered_ms, ..fault("stop", 0.0) };
    let of = |recovered_ms| what(&with("802.3ad", whole, vec![fault("kill", 0.0), last(recovered_ms)]));
    assert_eq!(of(Some(9000.0)), [] as [&str; 0]);
    assert_eq!(of(None), ["share"]);
}
