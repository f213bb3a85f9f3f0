//! What the rules find, as the record carries it, and what becomes of findings that a record brings.

use crate::common::{record, t3};
use nicteam_record::{Finding, Run};
use nicteam_report::{RULES, Side, Style, add_findings, explain, findings, table};
use serde_json::json;

/// T3's last run: a policy of the switch, two links full and two idle.
fn unlucky() -> Run {
    t3().runs.swap_remove(4)
}

/// The run with its findings, as a record brings it.
fn recorded(run: &Run) -> Run {
    let run = Run { findings: findings(run), ..run.clone() };
    serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap()
}

#[test]
fn a_finding_says_who_chose_by_what_where_and_what_it_cost() {
    let run = unlucky();
    let findings = findings(&run);
    let [finding] = findings.as_slice() else { panic!("{findings:#?}") };
    assert_eq!((finding.cause.as_str(), finding.side), ("hash", Side::Receiving));
    assert_eq!((finding.node.as_deref(), finding.policy.as_deref()), (Some("sw"), Some("src-dst-mac")));
    assert_eq!(finding.connections, (0..8).collect::<Vec<u32>>());
    assert!((finding.lost - (1.0 - run.of_limit)).abs() < 1e-9, "{}", finding.lost);
    let [hop] = finding.hops.as_slice() else { panic!("{finding:#?}") };
    assert_eq!((hop.node.as_str(), hop.peer.as_str()), ("sw", "a"));
    let full: Vec<u32> = hop.links.iter().filter(|link| link.load > 0.9).map(|link| link.place).collect();
    assert_eq!(full, [0, 2]);
    let details = serde_json::to_value(&finding.details).unwrap();
    let first = json!({ "place": 0, "from": "b", "to": "a", "connections": 2 });
    assert_eq!(details["predictions"][0]["placed"][0], first);
    assert_eq!(details["predictions"][0]["agrees"], true);
}

#[test]
fn full_links_cost_nothing() {
    let found = findings(&t3().runs[2]);
    assert_eq!((found[0].cause.as_str(), found[0].side, found[0].lost), ("full", Side::Nowhere, 0.0));
}

#[test]
fn a_recorded_finding_reads_as_one_found_now() {
    for run in t3().runs {
        assert_eq!(explain(&recorded(&run)), explain(&run));
    }
}

#[test]
fn what_the_record_says_is_what_is_told() {
    let mut run = recorded(&unlucky());
    run.findings[0].node = Some("another".into());
    assert!(explain(&run).sentence.contains("another spreads by MAC address"), "{}", explain(&run).sentence);
}

#[test]
fn findings_without_words_are_found_anew() {
    let run = unlucky();
    let unknown = Finding { cause: "moon".into(), ..findings(&run)[0].clone() };
    let broken = Finding { details: serde_json::Map::new(), ..findings(&run)[0].clone() };
    let nested = Finding { as_narrow: vec![unknown.clone()], ..findings(&run)[0].clone() };
    for finding in [unknown, broken, nested] {
        let foreign = Run { findings: vec![finding], ..run.clone() };
        assert_eq!(explain(&foreign), explain(&run));
    }
}

#[test]
fn forged_findings_harm_nobody() {
    let mut run = recorded(&unlucky());
    let mut other = run.findings[0].clone();
    other.connections = vec![u32::MAX];
    other.hops.iter_mut().flat_map(|hop| &mut hop.links).for_each(|link| link.place = u32::MAX);
    run.findings.push(other);
    assert!(!explain(&run).sentence.is_empty());
    for rule in RULES {
        run.findings[1].cause = rule.cause().to_owned();
        run.findings[1].hops.clear();
        assert!(!explain(&run).sentence.is_empty(), "{}", rule.cause());
    }
}

#[test]
fn causes_have_names_of_their_own() {
    let mut names: Vec<&str> = RULES.iter().map(|rule| rule.cause()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), RULES.len());
}

#[test]
fn older_records_get_findings_and_print_as_before() {
    let before = record(t3().runs);
    let mut after = before.clone();
    add_findings(&mut after);
    assert!(after.runs.iter().all(|run| !run.findings.is_empty()));
    assert_eq!(table(&after, &Style::default()), table(&before, &Style::default()));
}
