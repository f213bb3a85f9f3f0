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
        "Missing 0.77 of the limit: 0.75 by hash (sw, src-dst-mac); 0.02 unexplained. Predicted for this network: 0.25."
    );
    assert_eq!(missing_in_words(&Missing::default()), None);
}

#[test]
fn a_run_without_connections_is_not_predicted() {
    let run = serde_json::json!({
        "name": "x", "description": null, "published": null, "published_of_limit": null,
        "topology": { "hosts": [], "switches": [], "links": [], "teams": [] },
        "delivered_bps": 0.0, "limit_bps": 1.0, "of_limit": 0.0, "limit_reason": "", "members": [], "connections": [],
        "cpu": { "busy": 0.0, "stolen": 0.0, "seconds": [] }, "measured_ms": 1.0, "warmup_ms": 0.0,
        "delivered_counted_at": "", "members_counted_at": "", "samples": "", "samples_sha256": ""
    });
    let run = serde_json::from_value(run).unwrap();
    assert_eq!(Scene::of(&run).unwrap_err(), "no connection is recorded");
}
