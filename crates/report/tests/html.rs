//! The page: well formed, self-contained, escaped, whole.

use std::fs;
use std::path::PathBuf;

use crate::common::{TestBundle, t3};
use nicteam_record::{
    BundleError, Event, EventKind, Histogram, Host, Link, LinkEnd, Operations, Probes, Record, Topology, Transfer,
};
use nicteam_report::html;

fn page(name: &str, record: Record) -> String {
    html(&TestBundle::write(name, record).bundle).unwrap()
}

/// Elements without an end tag.
const VOID: [&str; 3] = ["meta", "br", "hr"];

/// Walks the tags; says what does not balance.
fn check_balance(page: &str) -> Result<usize, String> {
    let body = page.strip_prefix("<!DOCTYPE html>").ok_or("no doctype")?;
    let (mut open, mut count): (Vec<&str>, usize) = (Vec::new(), 0);
    for (number, part) in body.split('<').enumerate().skip(1) {
        let (tag, _) = part.split_once('>').ok_or_else(|| format!("tag {number} has no end: {part}"))?;
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
        count += 1;
        match () {
            () if tag.starts_with('/') => match open.pop() {
                Some(opened) if opened == name => {}
                other => return Err(format!("</{name}> closes {other:?}")),
            },
            () if tag.ends_with('/') || VOID.contains(&name) => {}
            () => open.push(name),
        }
    }
    if open.is_empty() { Ok(count) } else { Err(format!("still open: {open:?}")) }
}

#[test]
fn the_checker_can_fail() {
    assert!(check_balance("<!DOCTYPE html><p><b></p></b>").is_err());
    assert!(check_balance("<!DOCTYPE html><p>").is_err());
    assert_eq!(check_balance("<!DOCTYPE html><p><br><i/></p>"), Ok(4));
}

#[test]
fn the_page_is_well_formed_and_loads_nothing() {
    let page = page("whole", t3());
    assert!(check_balance(&page).unwrap() > 500);
    for banned in ["http://", "https://", "<link", "<img", "@import", "url(", "src=", "NaN", "inf"] {
        let place = page.find(banned).map(|at| page[at..].chars().take(60).collect::<String>());
        assert_eq!(place, None, "{banned}");
    }
    assert_eq!(page.matches("id=\"run-").count(), 10, "a section and a heading each of five runs");
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
    assert_eq!(page.matches("<script").count(), 1, "our own");
}

#[test]
fn identifiers_are_unique() {
    let page = page("ids", t3());
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|part| part.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn sentences_figures_and_the_way_back_are_there() {
    let page = page("figures", t3());
    for text in [
        "both ends have one, so all 4 connections use link 3 of 4 towards b.",
        "Nothing held it back: all four links of a carried 0.98 of what they can.",
        "4 × 100 Mbit/s",
        "spreads by src-dst-mac",
        "Jain’s index 1.00",
        "nicteam lab run t3-four-links --rate 100mbit",
        "<b>0.98</b> up to 440 MB/s",
        "2026-11-21 21:12 UTC",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn a_rate_that_the_lab_lowered_is_told() {
    assert!(!page("as-asked", t3()).contains("lowered"));
    let mut record = t3();
    record.experiment.rate_lowered_bps = Some(20_000_000);
    assert!(page("lowered", record).contains("<p>The lab lowered the links to 20 Mbit/s, the most at which"));
}

#[test]
fn a_network_is_drawn_once_whoever_runs_its_teams() {
    let drawings = |record: Record| page("drawn", record).matches("<figure class=\"map\">").count();
    let mut record = t3();
    assert_eq!(drawings(record.clone()), 1);
    let team = &mut record.runs[1].topology.teams[0];
    (team.engine, team.engine_version) = ("ovs".into(), "ovs-vswitchd (Open vSwitch) 3.1.0".into());
    assert_eq!(drawings(record.clone()), 1);
    record.runs[1].topology.teams[0].mode = "802.3ad".into();
    assert_eq!(drawings(record), 2);
}

#[test]
fn what_happened_is_marked_in_its_lanes_and_listed() {
    let event = |t_ms: f64, member: Option<&str>, kind, text: &str| Event {
        t_ms,
        node: "a".into(),
        kind,
        team: Some("team0".into()),
        member: member.map(str::to_owned),
        text: text.into(),
    };
    assert!(!page("uneventful", t3()).contains("What happened"));
    let mut record = t3();
    record.runs[2].events = vec![
        event(-1e9, None, EventKind::Team, "long before"),
        event(4000.0, Some("eth1"), EventKind::Fault, "eth1 was <cut>"),
        event(4250.0, None, EventKind::Trouble, "two of four"),
    ];
    let page = page("eventful", record);
    check_balance(&page).unwrap();
    // What lies outside the run is listed alone; the others are in the panels of both directions.
    assert_eq!(page.matches("<g class=\"event ").count(), 4);
    let (one, all) = (LANE, 3.0 * PITCH + LANE);
    for (kind, title, height) in
        [("fault", "4.00 s: eth1 was &lt;cut&gt;", one), ("trouble", "4.25 s: two of four", all)]
    {
        let from = page.split_once(&format!("<g class=\"event {kind}\"><title>{title}</title>")).unwrap().1;
        let coordinate = |name: &str| -> f64 {
            from.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0.parse().unwrap()
        };
        assert_eq!(coordinate("y2") - coordinate("y1"), height, "{kind}");
    }
    assert!(page.contains("<td class=\"num\">4.25 s</td><td>a</td><td>trouble</td><td>two of four</td>"));
    assert!(page.contains("long before"));
}

#[test]
fn tasks_that_are_no_flow_of_bytes_have_tables() {
    assert!(!page("flows", t3()).contains("<h3>Operations</h3>"));
    let mut record = t3();
    let (workload, from, to) = ("<ask>".to_owned(), "a".to_owned(), "b".to_owned());
    let mut latency = Histogram::default();
    (1..=100).for_each(|number| latency.add(number * 100));
    record.runs[0].operations = vec![Operations {
        workload: workload.clone(),
        index: 0,
        from: from.clone(),
        to: to.clone(),
        completed: 100,
        rate_per_s: 12.5,
        errors: 2,
        latency,
        ..Operations::default()
    }];
    record.runs[0].transfers = vec![Transfer {
        workload: workload.clone(),
        index: 1,
        from: from.clone(),
        to: to.clone(),
        bytes: 1_000_000,
        sent_sha256: Some("aa".into()),
        received_sha256: Some("bb".into()),
        ..Transfer::default()
    }];
    record.runs[0].probes = vec![Probes {
        workload,
        index: 2,
        from,
        to,
        sent: 1000,
        lost: 20,
        longest_silence_ms: 41.5,
        ..Probes::default()
    }];
    let page = page("tasks", record);
    check_balance(&page).unwrap();
    for text in
        ["&lt;ask&gt;", "<td class=\"num\">10.00 ms</td>", "changed on the way", "did not end", "20 (2.0 %)", "41.5 ms"]
    {
        assert!(page.contains(text), "{text}");
    }
}

/// Height of a member's lane, and from one to the next.
const LANE: f64 = 22.0;
const PITCH: f64 = 29.0;

#[test]
fn text_from_files_is_shown_not_run() {
    const EVIL: &str = "<script>alert('1')</script>\"&";
    let mut record = t3();
    record.experiment.title = EVIL.into();
    record.experiment.name = EVIL.into();
    record.experiment.question = Some(EVIL.into());
    record.experiment.file = EVIL.into();
    record.experiment.overrides = vec![EVIL.into()];
    record.environment.kernel = EVIL.into();
    for run in &mut record.runs {
        run.name = EVIL.into();
        run.description = Some(EVIL.into());
        run.published = Some(EVIL.into());
        run.limit_reason = EVIL.into();
        run.samples_sha256 = EVIL.into();
        let text = serde_json::to_string(&run.topology)
            .unwrap()
            .replace(":\"a\"", ":\"<script>a'&\"")
            .replace("eth", "<script>");
        run.topology = serde_json::from_str(&text).unwrap();
        for connection in &mut run.connections {
            connection.workload = EVIL.into();
            connection.congestion = EVIL.into();
            connection.from = connection.from.replace('a', "<script>a'&");
            connection.to = connection.to.replace('a', "<script>a'&");
        }
    }
    let page = page("escaped", record);
    assert_eq!(page.matches("<script").count(), 1, "our own, at the end");
    assert!(page.contains("&lt;script&gt;"));
    check_balance(&page).unwrap();
}

#[test]
fn nothing_but_our_style_and_script_is_put_into_a_page_unescaped() {
    let mut folders = vec![
        concat!(env!("CARGO_MANIFEST_DIR"), "/src").into(),
        concat!(env!("CARGO_MANIFEST_DIR"), "/../tune/src").into(),
        concat!(env!("CARGO_MANIFEST_DIR"), "/../serve/src").into(),
    ];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir::<PathBuf>(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(end) if end == "rs" => {
                    let text = fs::read_to_string(&path).unwrap();
                    found.extend(
                        text.lines().filter(|line| line.contains("PreEscaped(")).map(|line| line.trim().to_owned()),
                    );
                }
                _ => {}
            }
        }
    }
    assert_eq!(found, ["style { (PreEscaped(STYLE)) }", "script { (PreEscaped(SCRIPT)) }"]);
}

#[test]
fn empty_samples_and_zero_limits_make_a_page() {
    let mut record = t3();
    let run = &mut record.runs[0];
    (run.limit_bps, run.of_limit, run.delivered_bps, run.measured_ms) = (0.0, f64::NAN, 0.0, 0.0);
    run.topology.links.clear();
    record.runs[1].connections.clear();
    record.runs[2].topology.teams.clear();
    // JSON has no NaN: the record is used as it stands in memory.
    let bundle = TestBundle::write("empty", record);
    for run in &bundle.bundle.record.runs {
        fs::write(bundle.dir().join(&run.samples), "").unwrap();
    }
    let page = html(&bundle.bundle).unwrap();
    check_balance(&page).unwrap();
    assert!(!page.contains("NaN") && !page.contains("inf"), "no number that is none");
}

#[test]
fn a_record_without_runs_makes_a_page() {
    let mut record = t3();
    record.runs.clear();
    check_balance(&page("no-runs", record)).unwrap();
}

#[test]
fn runs_on_other_topologies_have_their_own_drawing() {
    let mut record = t3();
    let hosts = record.runs[0].topology.hosts[..3].to_vec();
    let end = |node: &str, device: &str| LinkEnd { node: node.into(), device: device.into() };
    let link = |a, b| Link { a, b, rate_bps: 2_500_000_000, mtu: 9000, mtus: None, impaired: None, ..Link::default() };
    let links = vec![
        link(end("a", "eth0"), end("b", "eth0")),
        link(end("a", "eth1"), end("b", "eth1")),
        link(end("c", "eth0"), end("a", "eth2")),
    ];
    record.runs[4].topology = Topology { hosts, links, ..Topology::default() };
    let page = page("topologies", record);
    check_balance(&page).unwrap();
    assert_eq!(page.matches("<figure class=\"map\">").count(), 2);
    assert!(page.contains("2 × 2.5 Gbit/s") && page.contains("one link, no team"));
}

#[test]
fn guests_stand_below_their_host() {
    let mut record = t3();
    let guest = |number: usize| Host {
        name: format!("a/guest{number}"),
        address: format!("10.0.1.{number}/24"),
        parent: Some("a".into()),
        ..record.runs[0].topology.hosts[0].clone()
    };
    let guests: Vec<Host> = (1..=6).map(guest).collect();
    record.runs[0].topology.hosts.extend(guests);
    let page = page("guests", record);
    check_balance(&page).unwrap();
    assert!(page.contains("guest4 10.0.1.4/24") && page.contains("and 2 more") && page.contains(">bridge<"));
    assert!(page.contains("5 hosts, 1 switches"), "guests are no hosts of the drawing");
}

#[test]
fn samples_that_are_missing_or_broken_are_errors_with_their_place() {
    let bundle = TestBundle::write("missing", t3());
    let path = bundle.dir().join(&bundle.bundle.record.runs[1].samples);
    fs::write(&path, "{\"t_ms\": 1\n").unwrap();
    assert!(matches!(html(&bundle.bundle), Err(BundleError::Format { line: 1, .. })));
    fs::remove_file(&path).unwrap();
    assert!(matches!(html(&bundle.bundle), Err(BundleError::Io { operation: "read", .. })));
}
