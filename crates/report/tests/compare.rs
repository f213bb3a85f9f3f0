//! Runs beside each other: figures, verdicts, what is not compared, and how often a run differs from itself.

use nicteam_record::{Host, PublishedRates, Record, Repetition, Run, TrafficTest};
use nicteam_report::{ComparedSide, Style, compare, compared_page, page, table};
use nicteam_statistics::{Scale, Verdict};

use crate::common;

/// Payload of one TCP connection over one link of 100 Mbit/s, Mbit/s: forty times in turn, measured by the lab on a machine
/// that others use.
const MEASURED: &str = include_str!("measured.txt");

/// A record of two runs, each carried out so many times, with these payloads, bit/s.
fn record(one: &[f64], two: &[f64]) -> Record {
    let mut runs = Vec::new();
    for (name, values) in [("one", one), ("two", two)] {
        for (number, bps) in (1..).zip(values) {
            let spec = common::Spec {
                name: &format!("{name}@{number}"),
                published: None,
                hosts: &[("server", 0x10), ("main", 0x11), ("laptop", 0x12)],
                connections: &[("server", "main", 0), ("main", "server", 1), ("laptop", "server", 2)],
                each_bps: bps / 3.0,
                limit_bps: 1e9,
            };
            let repetition = Some(Repetition { of: name.into(), number });
            runs.push(Run { delivered_bps: *bps, repetition, ..common::run(&spec) });
        }
    }
    let mut record = common::record(runs);
    record.experiment.repeat = one.len() as u32;
    record
}

fn side<'r>(record: &'r Record, run: &'r str) -> ComparedSide<'r> {
    ComparedSide { label: format!("r#{run}"), record, run }
}

#[test]
fn a_difference_is_shown_with_its_interval() {
    let before = [94.0, 94.2, 93.8, 94.1, 94.0, 93.9, 94.3, 94.0].map(|mbps| mbps * 1e6);
    let record = record(&before, &before.map(|bps| bps * 1.05));
    let compared = compare(side(&record, "one"), side(&record, "two")).unwrap();
    let payload = &compared.figures[0];
    assert_eq!((payload.figure.name.as_str(), payload.verdict), ("payload", Verdict::Higher));
    assert!(payload.comparison.is_paired && payload.comparison.scale == Scale::Ratio);
    assert!((payload.comparison.middle - 1.05).abs() < 1e-3 && payload.comparison.low.is_some());
    let names: Vec<&str> = compared.figures.iter().map(|row| row.figure.name.as_str()).collect();
    for name in ["main down", "main up", "laptop up", "Jain, clients", "segments sent again", "processors busy"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    let same = compared.figures.iter().find(|row| row.figure.name == "processors busy").unwrap();
    assert_eq!(same.verdict, Verdict::NotShown, "it is the same each time");
    let text = compared.text(&Style { width: 80, ..Style::default() });
    assert!(text.contains("x1.050 (1.0") && text.contains("higher") && text.contains("B differs in payload"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json = compared.json();
    assert_eq!((&json["a"], &json["figures"][0]["verdict"]), (&"r#one".into(), &"higher".into()));
    let page = compared_page(std::slice::from_ref(&compared));
    assert!(page.contains("<svg") && page.contains("whisker") && page.contains("B beside A"), "{page}");
}

#[test]
fn few_times_and_other_machines_are_said() {
    let few = record(&[1e8, 1.1e8], &[2e8, 2.1e8]);
    let compared = compare(side(&few, "one"), side(&few, "two")).unwrap();
    assert_eq!(compared.figures[0].verdict, Verdict::TooFew);
    assert!(compared.shows_nothing() && compared.notes[0].contains("`--repeat 6` can"), "{:?}", compared.notes);

    let values = [1e8, 1.01e8, 0.99e8, 1e8, 1.02e8, 0.98e8, 1e8, 1e8];
    let here = record(&values, &values);
    let mut there = here.clone();
    there.environment.cpu_model = "Another CPU".into();
    there.environment.kernel = "7.0".into();
    let compared = compare(side(&here, "one"), side(&there, "one")).unwrap();
    assert!(compared.shows_nothing() && !compared.figures[0].comparison.is_paired);
    assert!(compared.figures.iter().all(|row| row.figure.name != "processors busy"));
    let notes = compared.notes.join("\n");
    for said in ["Another CPU", "kernel 6.18.5 #1 SMP and 7.0", "not carried out in turn"] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
    there.environment.granularity = "super-frames".into();
    let refused = compare(side(&here, "one"), side(&there, "one")).unwrap_err();
    assert!(refused.contains("MTU-sized packets") && refused.contains("GSO frames"), "{refused}");
    assert!(compare(side(&here, "one"), side(&here, "three")).unwrap_err().contains("no run `three`"));
}

#[test]
fn a_run_seldom_differs_from_itself_and_five_per_cent_are_found() {
    let measured: Vec<f64> = MEASURED.lines().map(|line| line.parse::<f64>().unwrap() * 1e6).collect();
    assert!(measured.len() >= 40);
    let mut state = 7u64;
    let mut draw = |count: usize| {
        let mut left = measured.clone();
        let mut drawn = Vec::new();
        for _ in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            drawn.push(left.swap_remove((state >> 33) as usize % left.len()));
        }
        drawn
    };
    let (mut silent, mut found) = (0, 0);
    for time in 0..200 {
        let both = draw(20);
        let record_of_both = record(&both[..10], &both[10..]);
        let compared = compare(side(&record_of_both, "one"), side(&record_of_both, "two")).unwrap();
        silent += u32::from(compared.shows_nothing());
        if time < 20 {
            let better: Vec<f64> = both[10..].iter().map(|bps| bps * 1.05).collect();
            let record = record(&both[..10], &better);
            let compared = compare(side(&record, "one"), side(&record, "two")).unwrap();
            found += u32::from(compared.figures[0].verdict == Verdict::Higher);
        }
    }
    assert!(silent >= 185, "{silent} of 200 say that no difference is shown");
    assert!(found >= 18, "{found} of 20 find 5 %");
}

#[test]
fn repeated_runs_are_one_in_table_and_page() {
    let mut record = record(&[1e8, 3e8, 2e8], &[1e8, 1e8, 1e8]);
    for run in record.runs.iter_mut().filter(|run| run.base_name() == "two") {
        run.compared_with = Some("one".into());
        run.published_rates =
            vec![PublishedRates { host: "main".into(), download_bps: 173_000_000, upload_bps: 130_800_000 }];
    }
    let text = table(&record, &Style::default());
    assert!(text.contains("3 times: median 200.0 Mbit/s, lowest and highest: 100.0 Mbit/s to 300.0 Mbit/s"), "{text}");
    assert!(!text.contains('@'), "{text}");
    let page = page(&record, |_| Ok::<_, ()>(Vec::new())).unwrap();
    assert!(page.contains("Before and after") && page.contains("class=\"published\"") && !page.contains("one@1</a>"));
    assert!(page.contains("down + "), "sums as people write them");
}

#[test]
fn tests_in_softethers_scheme_are_shown_with_their_table_and_a_slow_host_is_named() {
    let mut run = record(&[1.2e8], &[1.2e8]).runs.remove(0);
    run.name = "only".into();
    run.repetition = None;
    run.traffic_tests = vec![TrafficTest {
        from: "main".into(),
        to: "server".into(),
        by: "nicteam".into(),
        connections: 32,
        ethernet_frames: true,
        span_ms: 1000.0,
        download_bytes: 39_062_500,
        upload_bytes: 14_350_000,
        ..TrafficTest::default()
    }];
    run.findings = Vec::new();
    let did = run
        .connections
        .iter()
        .filter(|it| it.from == "main" || it.to == "main")
        .map(|it| it.delivered_bps)
        .sum::<f64>();
    let slow = |host: &mut Host| host.processor_bps = (host.name == "main").then_some(did as u64);
    run.topology.hosts.iter_mut().for_each(slow);
    let mut record = common::record(vec![run]);
    nicteam_report::add_findings(&mut record);
    let text = table(&record, &Style::default());
    assert!(text.contains("main 427.3 = 312.5 down + 114.8 up Mbit/s; 32 connections, 1.0 s"), "{text}");
    assert!(text.contains("Average Throughput in Download Direction"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("ost main was the limit, not a link: its processor did"), "{text}");
}
