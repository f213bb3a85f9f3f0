//! Many hosts, runs that form a grid, and what two engines have in common.

use nicteam_record::{Expected, Finding, Record, Run, Variant};
use nicteam_report::{Style, explain, findings, page, table};

use crate::common::net::{FULL, HostSpec, Traffic, net};
use crate::common::{record, samples};

/// `h0`, `h1`, ... which live as long as the tests.
fn host(number: usize) -> &'static str {
    format!("h{number}").leak()
}

/// Thirty-two hosts with two links each at one switch: the first half sends to the second, and both are full.
fn thirty_two() -> Run {
    let hosts: Vec<HostSpec> = (0..32).map(|number| (host(number), 2, 1.0, "balance-rr")).collect();
    let traffic: Vec<Traffic> = (0..16).map(|number| (host(number), host(number + 16), 2, FULL)).collect();
    let mut run = net(&hosts, "", &traffic);
    run.limit_bps = run.delivered_bps / FULL;
    run.of_limit = FULL;
    run
}

fn page_of(record: &Record) -> String {
    page(record, |run| Ok::<_, std::convert::Infallible>(samples(run))).unwrap()
}

/// What a page says, without tags, styles and the experiment file.
fn text(page: &str) -> String {
    let body = page.split("</style>").nth(1).unwrap_or_default();
    let body = body.split("<pre>").map(|part| part.split("</pre>").last().unwrap_or_default()).collect::<String>();
    body.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect::<Vec<_>>().join("\n")
}

/// Hosts that a sentence names.
fn hosts_in(sentence: &str) -> usize {
    let words = sentence.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_host = |word: &&str| word.strip_prefix('h').is_some_and(|digits| digits.parse::<u32>().is_ok());
    words.filter(is_host).count()
}

#[track_caller]
fn check_sentences(text: &str) {
    for sentence in text.lines().flat_map(|line| line.split(". ")) {
        assert!(sentence.len() <= 200 || hosts_in(sentence) <= 8, "{sentence}");
    }
}

#[test]
fn like_hosts_are_drawn_and_named_as_one() {
    let record = record(vec![thirty_two()]);
    let page = page_of(&record);
    let drawing = page.split("<figure class=\"map\">").nth(1).unwrap().split("</figure>").next().unwrap();
    for name in ["h0 to h15", "h16 to h31"] {
        assert_eq!(drawing.matches(&format!(">{name}</text>")).count(), 1, "{drawing}");
    }
    assert_eq!(drawing.matches("class=\"box\"").count(), 2, "{drawing}");
    assert!(drawing.contains(">16 hosts</text>") && drawing.contains("32 hosts, 1 switches"), "{drawing}");
    assert!(text(&page).contains("h0 to h15"));
    check_sentences(&text(&page));
    assert!(page.len() < 600_000, "{} bytes", page.len());
}

#[test]
fn members_of_like_hosts_are_a_heat_map() {
    let page = page_of(&record(vec![thirty_two()]));
    assert!(page.contains("class=\"heat\"") && page.contains("h0 to h15, sent, the load of each member over time"));
    // The values of each link, for the pointer.
    assert!(page.contains("data-loads=\"0|") && page.contains("|h0 eth0\n"));
    assert!(!page.contains("each member over time\"><rect class=\"warm\""), "no lanes");
}

#[test]
fn a_terminal_names_ranges() {
    let text = table(&record(vec![thirty_two()]), &Style::default());
    assert!(text.contains("h0 to h15 ") && text.contains("h16 to h31 "), "{text}");
    assert!(text.lines().count() < 20, "{text}");
    check_sentences(&text);
}

/// A host that differs in one thing stands alone.
#[test]
fn what_is_unlike_is_drawn_alone() {
    let mut run = thirty_two();
    run.topology.links.iter_mut().find(|link| link.a.node == "h3").unwrap().rate_bps /= 2;
    run.topology.teams.iter_mut().find(|team| team.node == "h20").unwrap().mode = "active-backup".into();
    let page = page_of(&record(vec![run]));
    for name in ["h0 and 14 more", "h3", "h16 and 14 more", "h20"] {
        assert!(page.contains(&format!(">{name}</text>")), "{name}");
    }
    assert!(page.contains("<b>h0 to h2 and h4 to h15</b>"), "the traffic has room for ranges");
}

#[test]
fn few_hosts_stand_one_by_one() {
    let hosts: Vec<HostSpec> = (0..8).map(|number| (host(number), 2, 1.0, "balance-rr")).collect();
    let page = page_of(&record(vec![net(&hosts, "", &[("h0", "h1", 2, FULL)])]));
    assert!(page.contains(">h7</text>") && !page.contains("class=\"heat\""));
}

#[test]
fn many_findings_of_a_kind_are_told_once() {
    let mut run = thirty_two();
    let base = findings(&run)[0].clone();
    let one = |number: u32| Finding { connections: vec![number * 2, number * 2 + 1], ..base.clone() };
    run.findings = (0..16).map(one).collect();
    let sentence = explain(&run).sentence;
    assert!(
        sentence.contains("15 more findings are of this kind: connections from h1 to h15, towards h17 to h31."),
        "{sentence}"
    );
    assert!(sentence.len() < 600, "{sentence}");
}

#[test]
fn what_happened_to_many_hosts_is_one_row() {
    let mut run = thirty_two();
    let event = |number: usize, text: &str| nicteam_record::Event {
        t_ms: number as f64,
        node: host(number).into(),
        kind: nicteam_record::EventKind::Team,
        team: Some("team0".into()),
        member: None,
        text: text.into(),
    };
    run.events = (0..32).map(|number| event(number, "carrier")).chain([event(40, "no carrier")]).collect();
    let page = page_of(&record(vec![run]));
    assert!(page.contains("0.00 s to 0.03 s</td><td>h0 to h31</td>"), "{}", text(&page));
    assert!(page.contains("<td>h40</td>") && !page.contains("<td>h7</td><td>team"));
}

/// T5's table by two engines, and a run beside it.
fn t5() -> Record {
    let base = thirty_two();
    let mut runs = Vec::new();
    for (mode, parts) in [("active-backup", [0.5; 4]), ("slb", [0.5, 0.5, 1.0, 1.0]), ("tcp-lacp", [1.0; 4])] {
        for (column, part) in ["1-send", "1-receive", "2-send", "2-receive"].into_iter().zip(parts) {
            for engine in ["nicteam", "ovs"] {
                let of = format!("{mode}-{column}");
                let variant = Some(Variant { of: of.clone(), engine: engine.into() });
                let name = format!("{of}.{engine}");
                let samples = format!("samples/{name}.jsonl");
                runs.push(Run {
                    variant,
                    name,
                    samples,
                    of_limit: part - 0.01,
                    published_of_limit: Some(part),
                    ..base.clone()
                });
            }
        }
    }
    runs.push(Run { name: "unlucky".into(), ..base });
    record(runs)
}

#[test]
fn runs_that_form_a_grid_are_a_matrix() {
    let text = table(&t5(), &Style { width: 100, ..Style::default() });
    let head = text.lines().next().unwrap();
    assert_eq!(
        head.split_whitespace().collect::<Vec<_>>().join(" "),
        "of limit 1 send 1 receive 2 send 2 receive",
        "{text}"
    );
    assert!(text.contains("each cell by nicteam, ovs; 1 run beside it"), "{text}");
    assert_eq!(text.lines().nth(2).unwrap().split_whitespace().next(), Some("slb"), "{text}");
    let page = page_of(&t5());
    assert_eq!(page.matches("<table class=\"matrix\">").count(), 1);
    assert!(page.contains("Runs that are not in this table: unlucky."));
    let few = record((0..5).map(|number| Run { name: format!("a-{number}"), ..thirty_two() }).collect());
    assert!(!page_of(&few).contains("<table class=\"matrix\">"));
}

#[test]
fn identical_findings_of_two_engines_are_told_once() {
    let text = table(&t5(), &Style { width: 100, ..Style::default() });
    assert_eq!(text.matches("\nslb-1-send by nicteam and ovs\n").count(), 1, "{text}");
    assert!(!text.contains("\nslb-1-send.ovs\n"), "{text}");
}

#[test]
fn a_page_has_the_verdicts_that_its_record_expects() {
    let mut record = crate::common::t3();
    assert!(!page_of(&record).contains("What was expected"));
    let expected = |run: &str, low: f64| Expected {
        run: run.into(),
        line: 7,
        figure: Some("of_limit".into()),
        at_least: Some(low),
        ..Expected::default()
    };
    record.experiment.expect = vec![
        expected("one-to-four", 0.9),
        expected("one-connection", 0.9),
        Expected { figure: Some("a-figure-of-the-future".into()), ..expected("one-to-four", 0.9) },
    ];
    let page = page_of(&record);
    assert!(page.contains("What was expected"));
    assert!(page.contains("class=\"holds\"") && page.contains("class=\"missed\""), "{page}");
    assert!(page.contains("Expectations: 1 held, 1 missed, 0 undecided."));
    let run = record.runs.iter().position(|run| run.name == "one-connection").unwrap();
    let machine = serde_json::json!({ "cause": "machine", "side": "unknown", "connections": [], "lost": 0.1 });
    record.runs[run].findings = vec![serde_json::from_value(machine).unwrap()];
    let told = "one-connection: the processors of this machine held it back once";
    assert!(!page.contains(told) && page_of(&record).contains(told));
}
