//! The experiments that come with nicteam, as a lab recorded them before records
//! carried findings: each record, without runs of more than 64 connections where it
//! would be large; what is printed of it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use nicteam_record::{Bundle, Finding, Record};
use nicteam_report::{Style, add_findings, explain, findings, html, table};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

/// The folders of the bundles, by name.
fn bundles() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(Path::new(TESTS).join("bundles")).unwrap();
    let mut bundles: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    bundles.sort();
    bundles
}

/// What `nicteam lab report` prints, below it what each run's page adds, and the findings behind both.
fn report(record: &Record) -> String {
    let mut text = table(record, &Style::default());
    for run in &record.runs {
        write!(text, "\nfacts of {}\n", run.name).unwrap();
        explain(run).facts.iter().for_each(|fact| writeln!(text, "  {fact}").unwrap());
    }
    for run in &record.runs {
        write!(text, "\nfindings of {}\n", run.name).unwrap();
        let found = if run.findings.is_empty() { findings(run) } else { run.findings.clone() };
        found.iter().for_each(|finding| list(&mut text, finding, "  "));
    }
    text
}

/// A finding in a line, and one for each that is as narrow; details beside what words are made of are left out.
fn list(text: &mut String, finding: &Finding, indent: &str) {
    let Finding { cause, side, node, policy, connections, lost, hops, as_narrow, .. } = finding;
    let chose = [node, policy].map(|name| name.as_deref().unwrap_or("-"));
    let hops: Vec<String> = hops.iter().map(|hop| format!("{}>{}", hop.node, hop.peer)).collect();
    writeln!(
        text,
        "{indent}{cause}, {side:?}, {}, connections {}, lost {lost:.3}, at {}",
        chose.join(" by "),
        connections.len(),
        hops.join(" "),
    )
    .unwrap();
    as_narrow.iter().for_each(|other| list(text, other, &format!("{indent}  as narrow: ")));
}

/// `tests/bundles/NAME` -> `golden/NAME.txt`; `UPDATE_GOLDEN=1` rewrites them, for review.
#[test]
fn every_shipped_experiment_is_reported_as_reviewed() {
    let bundles = bundles();
    assert!(bundles.len() >= 15, "only {} bundles", bundles.len());
    let mut different = String::new();
    for dir in bundles {
        let name = dir.file_name().unwrap().to_str().unwrap().to_owned();
        let now = report(&Bundle::open(&dir).unwrap().record);
        let golden = Path::new(TESTS).join("golden").join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&golden, &now).unwrap();
        }
        let reviewed = std::fs::read_to_string(&golden).unwrap_or_default();
        if reviewed != now {
            writeln!(different, "--- {name}: reviewed\n{reviewed}\n+++ {name}: now\n{now}").unwrap();
        }
    }
    assert!(different.is_empty(), "{different}\nUPDATE_GOLDEN=1 cargo test rewrites them");
}

#[test]
fn findings_that_a_record_carries_read_as_those_found_now() {
    for dir in bundles() {
        let older = Bundle::open(&dir).unwrap().record;
        let mut newer = older.clone();
        add_findings(&mut newer);
        let newer: Record = serde_json::from_str(&serde_json::to_string(&newer).unwrap()).unwrap();
        assert!(newer.runs.iter().all(|run| !run.findings.is_empty()));
        assert_eq!(report(&newer), report(&older), "{}", dir.display());
        for run in &newer.runs {
            let lost: f64 = run.findings.iter().map(|finding| finding.lost).sum();
            assert!(lost <= (1.0 - run.of_limit).max(0.0) + 1e-9, "{}: {lost}", run.name);
        }
    }
}

#[test]
fn bundles_with_samples_have_a_page() {
    let whole: Vec<_> = bundles().into_iter().filter(|dir| dir.join("samples").exists()).collect();
    assert!(!whole.is_empty());
    for dir in whole {
        let bundle = Bundle::open(&dir).unwrap();
        let page = html(&bundle).unwrap();
        let lanes = page.matches("<path class=\"fill ").count();
        let has_teams = bundle.record.runs.iter().any(|run| !run.topology.teams.is_empty());
        assert!(page.starts_with("<!DOCTYPE html>") && (lanes > 0) == has_teams, "{}: {lanes}", dir.display());
    }
}
