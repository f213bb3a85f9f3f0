//! Verdicts as a table.

use std::collections::BTreeSet;

use nicteam_expect::{Bound, Certainty, Found, Interval, Judged, Scale, Unit, Verdict, What};
use nicteam_findings::units::{bytes, percent, rate, ratio};

use crate::Style;
use crate::terminal::{cut, put, shown, wrap};

/// A line for each expectation, and what they come to; nothing if nothing was expected.
pub fn verdicts(judged: &[Judged<'_>], style: &Style) -> String {
    let style = Style { width: style.width.max(60), ..*style };
    let mut out = String::new();
    if judged.is_empty() {
        return out;
    }
    let rows: Vec<[String; 6]> = judged.iter().map(|one| cells(one).map(|cell| shown(&cell, &style))).collect();
    let head = ["run", "expected", "median", "95 %", "bound", "verdict"].map(str::to_owned);
    let width = |column: usize| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    for row in std::iter::once(&head).chain(&rows) {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        put(&mut out, &cut(cells.join("  ").trim_end(), style.width.max(widths.iter().sum::<usize>() + 10), &style));
    }
    for note in notes(judged) {
        wrap(&shown(&note, &style), style.width).iter().for_each(|line| put(&mut out, line));
    }
    out
}

pub(crate) fn cells(judged: &Judged<'_>) -> [String; 6] {
    let (middle, interval) = match &judged.found {
        Found::Figure { interval: found, .. } => (value(judged, found.middle), self::interval(judged, found)),
        Found::Finding(with, of) => (format!("in {with} of {of}"), String::new()),
        Found::Nothing(_) => ("-".to_owned(), String::new()),
    };
    let subject = judged.expectation.subject();
    [judged.run.clone(), subject, middle, interval, bound(judged), judged.verdict.name().to_owned()]
}

/// The ends; a star: they are the lowest and the highest value.
fn interval(judged: &Judged<'_>, found: &Interval) -> String {
    let ends = || format!("{} to {}", value(judged, found.low), value(judged, found.high));
    match found.certainty {
        Certainty::OneValue => "one value".to_owned(),
        Certainty::LowestAndHighest => ends() + " *",
        Certainty::NinetyFive => ends(),
    }
}

/// What is expected, in words.
pub(super) fn bound(judged: &Judged<'_>) -> String {
    let of = |number: f64| value(judged, number);
    match &judged.expectation.what {
        What::Figure { bound: Bound { at_least: Some(low), at_most: Some(high) }, .. } => {
            format!("{} to {}", of(*low), of(*high))
        }
        What::Figure { bound: Bound { at_least: Some(low), .. }, .. } => format!("at least {}", of(*low)),
        What::Figure { bound: Bound { at_most: Some(high), .. }, .. } => format!("at most {}", of(*high)),
        What::Figure { .. } => String::new(),
        What::Finding { wanted: true, .. } => "there".to_owned(),
        What::Finding { wanted: false, .. } => "not there".to_owned(),
    }
}

/// Sentences below the table.
pub(crate) fn notes(judged: &[Judged<'_>]) -> Vec<String> {
    let why = judged.iter().filter_map(|one| match &one.found {
        Found::Nothing(why) => Some(format!("{} of {}: {why}.", one.expectation.subject(), one.run)),
        _ => None,
    });
    let mut notes: Vec<String> = why.collect();
    let held = judged.iter().filter(|one| one.verdict != Verdict::Holds && one.by_machine > 0);
    let held: BTreeSet<(&str, usize)> = held.map(|one| (one.run.as_str(), one.by_machine)).collect();
    notes.extend(held.iter().map(|(run, times)| {
        let times = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
        format!("{run}: the processors of this machine held it back {times}, not the network alone. Lower the rate of its links.")
    }));
    let are_few = |one: &Judged<'_>| matches!(&one.found, Found::Figure { interval: found, .. } if found.certainty == Certainty::LowestAndHighest);
    if judged.iter().any(are_few) {
        notes.push("* Lowest and highest value: fewer than six repetitions have no interval of 95 %.".to_owned());
    }
    let count = |verdict| judged.iter().filter(|one| one.verdict == verdict).count();
    let (holds, missed, undecided) = (count(Verdict::Holds), count(Verdict::Missed), count(Verdict::Undecided));
    notes.push(format!("Expectations: {holds} held, {missed} missed, {undecided} undecided."));
    notes
}

/// A value of the figure in words; of two runs as their ratio or difference.
fn value(judged: &Judged<'_>, value: f64) -> String {
    let What::Figure { figure, beside, .. } = &judged.expectation.what else { return String::new() };
    if let Some(Scale::Ratio) = beside.as_ref().map(|beside| beside.scale) {
        return format!("x{value:.3}");
    }
    let words = words(figure.unit, value.abs());
    // What is rounded to nothing has no sign.
    let sign = if value < 0.0 && words.contains(|digit: char| matches!(digit, '1'..='9')) { "-" } else { "" };
    format!("{sign}{words}")
}

fn words(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Bps => rate(value),
        Unit::Part => ratio(value),
        Unit::Share => percent(value),
        Unit::Us => format!("{:.2} ms", value / 1e3),
        Unit::Ms => format!("{value:.1} ms"),
        Unit::Seconds => format!("{value:.2} s"),
        Unit::Bytes => bytes(value as u64),
        Unit::PerSecond => format!("{value:.1} /s"),
        Unit::Count => format!("{value}"),
    }
}
