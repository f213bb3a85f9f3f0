//! One program beside another.

use std::collections::BTreeMap;

use nicteam_expect::{Bound, Expectation, Figure, Part, Scale, Verdict, What, judge, no_worse};

use crate::common::{at_least, record, repetition};

fn bounded(run: &str, figure: &str, bound: Bound) -> Expectation {
    let figure = Figure::named(figure).unwrap();
    let what = What::Figure { figure, part: Part::default(), beside: None, bound };
    Expectation { what, ..at_least(run, "of_limit", 0.9) }
}

#[test]
fn a_figure_is_compared_once_in_the_directions_of_its_bounds() {
    let at_most = |most: f64| Bound { at_least: None, at_most: Some(most) };
    let finding =
        Expectation { what: What::Finding { cause: "hash".into(), wanted: true }, ..at_least("a", "of_limit", 0.9) };
    let of_file = [
        at_least("a", "of_limit", 0.9),
        bounded("a", "of_limit", at_most(1.0)),
        bounded("a", "fault_lost", at_most(0.0)),
        bounded("a", "retransmitted", at_most(0.01)),
        finding,
    ];
    let compared = no_worse(&of_file, "old");
    let said: Vec<(String, Scale, Bound)> = compared
        .iter()
        .map(|one| match &one.what {
            What::Figure { beside: Some(beside), bound, .. } => (one.subject(), beside.scale, *bound),
            other => panic!("{other:?}"),
        })
        .collect();
    let bound = |at_least, at_most| Bound { at_least, at_most };
    assert_eq!(
        said,
        [
            ("of_limit / a of old".to_owned(), Scale::Ratio, bound(Some(0.97), Some(1.03))),
            ("fault_lost - a of old".to_owned(), Scale::Difference, bound(None, Some(0.0))),
            ("retransmitted - a of old".to_owned(), Scale::Difference, bound(None, Some(0.0005))),
        ]
    );
}

#[test]
fn a_slower_program_is_found() {
    let verdict = |old_bps: f64| {
        let new = record((1..=6).map(|number| repetition("a", number, 9e8 + f64::from(number) * 1e5)).collect());
        let old = record((1..=6).map(|number| repetition("a", number, old_bps + f64::from(number) * 1e5)).collect());
        let expected = no_worse(&[at_least("a", "delivered_bps", 1e6)], "old");
        let judged = judge(&expected, &[new], &BTreeMap::from([("old".to_owned(), old)]));
        judged[0].verdict
    };
    assert_eq!((verdict(9e8), verdict(9.5e8)), (Verdict::Holds, Verdict::Missed));
}
