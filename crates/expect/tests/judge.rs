//! Verdicts on records.

use std::collections::BTreeMap;

use nicteam_expect::{Beside, Expectation, Found, Judged, Rounds, Scale, Verdict, What, judge};
use nicteam_record::{Finding, Record, Run};
use serde_json::json;

use crate::common::{at_least, by_engine, record, repetition, run};

fn of(expectations: &[Expectation], batches: &[Record]) -> Vec<(String, Verdict)> {
    judge(expectations, batches, &BTreeMap::new()).into_iter().map(|it| (it.run, it.verdict)).collect()
}

/// The same, expressed by another run.
fn beside(expectation: Expectation, scale: Scale, run: &str, against: Option<&str>) -> Expectation {
    let What::Figure { figure, part, bound, .. } = expectation.what else { panic!("it is a figure") };
    let beside = Some(Beside { scale, run: run.to_owned(), against: against.map(str::to_owned) });
    Expectation { what: What::Figure { figure, part, bound, beside }, ..expectation }
}

fn finding(run: &str, cause: &str, wanted: bool) -> Expectation {
    Expectation { run: run.to_owned(), what: What::Finding { cause: cause.to_owned(), wanted }, line: 1 }
}

fn with_finding(run: Run, cause: &str) -> Run {
    let value = json!({ "cause": cause, "side": "sending", "connections": [], "lost": 0.1 });
    Run { findings: vec![serde_json::from_value::<Finding>(value).unwrap()], ..run }
}

#[test]
fn one_run_is_judged_by_its_value_and_what_was_not_carried_out_is_left_out() {
    let expectations =
        [at_least("one", "of_limit", 0.9), at_least("one", "delivered_bps", 96e7), at_least("two", "of_limit", 0.1)];
    let judged = of(&expectations, &[record(vec![run("one", 95e7)])]);
    assert_eq!(judged, [("one".to_owned(), Verdict::Holds), ("one".to_owned(), Verdict::Missed)]);
}

#[test]
fn batches_are_one_set_and_pairs_are_of_one_batch() {
    let batch = |scale: f64| {
        let both = |number| {
            let bps = f64::from(number) * 1e8 * scale;
            [repetition("one", number, bps * 2.0), repetition("two", number, bps)]
        };
        record((1..=3).flat_map(both).collect())
    };
    let batches = [batch(1.0), batch(0.7)];
    let expectation = beside(at_least("one", "delivered_bps", 1.99), Scale::Ratio, "two", None);
    let judged = judge(std::slice::from_ref(&expectation), &batches, &BTreeMap::new());
    let Found::Figure { values, interval, .. } = &judged[0].found else { panic!("{judged:?}") };
    assert_eq!((values.len(), judged[0].verdict), (6, Verdict::Holds));
    assert!((interval.low - 2.0).abs() < 1e-9 && (interval.high - 2.0).abs() < 1e-9, "{interval:?}");
}

#[test]
fn each_engine_is_judged_and_compared_with_itself() {
    let runs = vec![
        by_engine("one", "nicteam", 4e8),
        by_engine("one", "ovs", 2e8),
        by_engine("two", "nicteam", 2e8),
        by_engine("two", "ovs", 2e8),
    ];
    let expectation = beside(at_least("one", "delivered_bps", 1.5), Scale::Ratio, "two", None);
    let judged = of(&[expectation], &[record(runs)]);
    assert_eq!(judged, [("one.nicteam".to_owned(), Verdict::Holds), ("one.ovs".to_owned(), Verdict::Missed)]);
}

#[test]
fn findings_must_be_in_all_repetitions_or_in_none() {
    let runs = |with: u32| {
        let one = |number| match number <= with {
            true => with_finding(repetition("one", number, 1.0), "hash"),
            false => repetition("one", number, 1.0),
        };
        [record((1..=4).map(one).collect())]
    };
    let verdicts = |with, wanted| of(&[finding("one", "hash", wanted)], &runs(with))[0].1;
    assert_eq!([0, 2, 4].map(|with| verdicts(with, true)), [Verdict::Missed, Verdict::Undecided, Verdict::Holds]);
    assert_eq!([0, 2, 4].map(|with| verdicts(with, false)), [Verdict::Holds, Verdict::Undecided, Verdict::Missed]);
}

#[test]
fn a_run_that_the_machine_held_back_is_counted() {
    let held = with_finding(repetition("one", 1, 5e8), "machine");
    let batches = [record(vec![held, repetition("one", 2, 5e8)])];
    let expectations = [at_least("one", "of_limit", 0.9)];
    let judged = judge(&expectations, &batches, &BTreeMap::new());
    assert_eq!((judged[0].verdict, judged[0].by_machine), (Verdict::Missed, 1));
}

#[test]
fn what_cannot_be_judged_says_why_and_wants_no_more() {
    let runs = vec![run("one", 5e8), run("idle", 0.0)];
    let expectations = [
        at_least("one", "latency_p99_us", 1.0),
        beside(at_least("one", "delivered_bps", 1.0), Scale::Ratio, "idle", None),
        beside(at_least("one", "delivered_bps", 1.0), Scale::Ratio, "two", None),
        beside(at_least("one", "delivered_bps", 1.0), Scale::Ratio, "one", Some("before")),
    ];
    let batches = [record(runs)];
    let judged = judge(&expectations, &batches, &BTreeMap::new());
    let why: Vec<&str> = judged
        .iter()
        .map(|it| match &it.found {
            Found::Nothing(why) => why.as_str(),
            found => panic!("{found:?}"),
        })
        .collect();
    let expected = [
        "the record has no latency_p99_us",
        "there is no ratio: a value is not above zero",
        "run `two`: it was not carried out",
        "before was not read",
    ];
    assert_eq!(why, expected);
    assert!(judged.iter().all(|it| it.verdict == Verdict::Undecided && !it.wants_more()));
}

#[test]
fn a_former_record_is_another_set_of_the_same_frames() {
    let times = |bps: &[f64]| record((1..).zip(bps).map(|(number, bps)| repetition("one", number, *bps)).collect());
    let now = [times(&[1.2e8, 1.21e8, 1.19e8, 1.2e8])];
    let expectation = [beside(at_least("one", "delivered_bps", 1.1), Scale::Ratio, "one", Some("before"))];
    let against = |record: Record| {
        let former = BTreeMap::from([("before".to_owned(), record)]);
        judge(&expectation, &now, &former).remove(0)
    };
    let slower = against(times(&[1e8, 1.01e8, 1e8, 0.99e8]));
    assert_eq!(slower.verdict, Verdict::Holds, "{slower:?}");
    let scattered = against(times(&[0.3e8, 3e8, 1e8, 4e8, 0.2e8, 1e8]));
    assert!(scattered.verdict == Verdict::Undecided && scattered.wants_more(), "{scattered:?}");
    let mut other_frames = times(&[1e8]);
    other_frames.environment.granularity = "GSO frames".to_owned();
    let refused = against(other_frames);
    assert!(matches!(&refused.found, Found::Nothing(why) if why.contains("not compared")), "{refused:?}");
}

#[test]
fn there_are_more_rounds_while_something_is_undecided_up_to_the_limit() {
    let expectation = at_least("one", "of_limit", 0.5);
    let judged = |bps: &[f64]| -> Vec<Judged<'_>> {
        let runs = (1..).zip(bps).map(|(number, bps)| repetition("one", number, *bps)).collect();
        judge(std::slice::from_ref(&expectation), &[record(runs)], &BTreeMap::new())
    };
    let (decided, undecided) = (judged(&[6e8, 7e8]), judged(&[4e8, 6e8]));
    let next = |done, judged: &[Judged<'_>]| Rounds { done, most: 20 }.next(judged);
    assert_eq!((next(2, &decided), next(2, &undecided)), (0, 2));
    assert_eq!([6, 12, 20, 25].map(|done| next(done, &undecided)), [6, 8, 0, 0]);
}

#[test]
fn a_figure_that_is_missing_once_is_no_figure() {
    let batches = [record(vec![repetition("one", 1, 5e8), Run { limit_bps: 0.0, ..repetition("one", 2, 5e8) }])];
    let expectation = [at_least("one", "of_limit", 0.1)];
    let judged = judge(&expectation, &batches, &BTreeMap::new());
    assert_eq!(judged[0].found, Found::Nothing("1 of 2 repetitions have no of_limit".to_owned()));
}
