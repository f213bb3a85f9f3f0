//! Changes in words, and what nobody can predict.

use nicteam_cures::{Scene, changes_in_words, missing_in_words};
use nicteam_record::{Change, Missing, MissingPart};

fn change(node: &str, what: &str, value: &str) -> Change {
    Change { node: node.to_owned(), what: what.to_owned(), value: value.to_owned() }
}

#[test]
fn what_nodes_have_in_common_stands_once() {
    let both =
        ["a", "b"].map(|node| [change(node, "mode", "802.3ad"), change(node, "xmit_hash_policy", "layer3+4")]).concat();
    let all = [both, vec![change("sw", "spread", "src-dst-port")]].concat();
    assert_eq!(
        changes_in_words(&all),
        "mode=802.3ad and xmit_hash_policy=layer3+4 at a and b, spread=src-dst-port at sw"
    );
    assert_eq!(changes_in_words(&[change("a", "without", "eth3")]), "eth3 taken out at a");
}

#[test]
fn a_missing_share_names_the_unexplained_part() {
    let part =
        MissingPart { cause: "hash".into(), node: Some("sw".into()), policy: Some("src-dst-mac".into()), lost: 0.75 };
    let missing = Missing { predicted_of_limit: Some(0.25), not_predicted: None, parts: vec![part], unexplained: 0.02 };
    assert_eq!(
        missing_in_words(&missing).unwrap(),
        "Missing share of the limit 0.77: 0.75 by hash (sw, src-dst-mac); 0.02 unexplained. Predicted for this network: 0.25."
    );
    assert_eq!(missing_in_words(&Missing::default()), None);
}

#[test]
fn a_run_without_connections_is_not_predicted() {
    let run = serde_json::json!({
        "name": "x", "description": null, "published": null, "published_of_limit": null,
        "topology": { "hosts": [], "switches": [], "links": [], "teams": [] },
        "delivered_bps": 0.0, "limit_bps": 1.0, "of_limit": 0.0, "limit_reason": "", "members": [], "connections": [],
        "cpu": nicteam_record::Cpu::default(), "measured_ms": 1.0, "warmup_ms": 0.0,
        "delivered_counted_at": "", "members_counted_at": "", "samples": "", "samples_sha256": ""
    });
    let run = serde_json::from_value(run).unwrap();
    assert_eq!(Scene::of(&run).unwrap_err(), "no connection is recorded");
}

/// Two hosts back to back by two cables, a team at each.
fn back_to_back() -> nicteam_record::Run {
    let host = |name: &str, number: u32| serde_json::json!({ "name": name, "address": format!("10.0.0.{number}/24"), "mac": format!("02:00:00:00:00:0{number}"), "device": "team0" });
    let link = |device: &str| serde_json::json!({ "a": { "node": "a", "device": device }, "b": { "node": "b", "device": device }, "rate_bps": 100_000_000, "mtu": 1500 });
    let team = |node: &str, peer: &str| {
        serde_json::json!({ "node": node, "device": "team0", "peer": peer, "mode": "balance-xor", "xmit_hash_policy": "layer2",
            "options": {}, "members": ["eth0", "eth1"], "engine": "nicteam" })
    };
    let connection = |index: u32| {
        serde_json::json!({ "workload": "w", "index": index, "from": "a", "to": "b", "src": format!("10.0.0.1:{}", 40_000 + index),
            "dst": "10.0.0.2:5001", "delivered_bps": 1e7, "retransmits": 0, "segments": 1, "rtt_us": 1.0, "congestion": "cubic" })
    };
    let run = serde_json::json!({
        "name": "x", "description": null, "published": null, "published_of_limit": null,
        "topology": { "hosts": [host("a", 1), host("b", 2)], "switches": [], "links": [link("eth0"), link("eth1")],
            "teams": [team("a", "b"), team("b", "a")] },
        "delivered_bps": 8e7, "limit_bps": 200e6 * 1448.0 / 1538.0, "of_limit": 0.42, "limit_reason": "", "members": [],
        "connections": (0..8).map(connection).collect::<Vec<_>>(),
        "cpu": nicteam_record::Cpu::default(), "measured_ms": 1.0, "warmup_ms": 0.0,
        "delivered_counted_at": "", "members_counted_at": "", "samples": "", "samples_sha256": ""
    });
    serde_json::from_value(run).unwrap()
}

#[test]
fn a_change_at_one_end_leaves_the_other_ends_team() {
    let run = back_to_back();
    let scene = Scene::of(&run).unwrap();
    let share = |changes: &[Change]| scene.changed(changes).unwrap().predict().of_limit();
    assert!((share(&[]) - 0.5).abs() < 1e-3, "by MAC address all take one link: {}", share(&[]));
    assert!((share(&[change("a", "xmit_hash_policy", "layer3+4")]) - 1.0).abs() < 1e-3);
    // Both ends stripe: that needs a team at both.
    assert!((share(&[change("a", "mode", "stripe"), change("b", "mode", "stripe")]) - 1.0).abs() < 1e-3);
    assert!(scene.changed(&[change("c", "mode", "stripe")]).is_none());
    let links = scene.predict().links("a", "b", &(0..8).collect::<Vec<u32>>());
    assert_eq!(links, Some([1, 2]));
}
