//! A comparison for a terminal.

use nicteam_statistics::{Comparison, Scale, Verdict};

use super::compared::{Compared, Row};
use crate::terminal::{Style, cut, put, shown, wrap};

/// Two lines of head, a line a figure, and a sentence a note.
pub(super) fn text(compared: &Compared<'_>, style: &Style) -> String {
    let style = Style { width: style.width.max(60), ..*style };
    let mut out = String::new();
    let [one, other] = [&compared.first, &compared.second].map(|side| shown(&side.label, &style));
    put(&mut out, &cut(&format!("A  {one}"), style.width, &style));
    put(&mut out, &cut(&format!("B  {other}"), style.width, &style));
    let rows: Vec<[String; 5]> = compared.figures.iter().map(|row| cells(row, &style)).collect();
    let head = ["", "A", "B", "B beside A (95 %)", ""].map(str::to_owned);
    let widths: Vec<usize> = (0..4)
        .map(|column| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    for row in std::iter::once(&head).chain(&rows) {
        let [name, a, b, beside, verdict] = row;
        let (w0, w1, w2, w3) = (widths[0], widths[1], widths[2], widths[3]);
        let line = format!("{name:w0$}  {a:>w1$}  {b:>w2$}  {beside:w3$}  {verdict}");
        put(&mut out, &cut(line.trim_end(), style.width, &style));
    }
    for line in wrap(&shown(&summary(compared), &style), style.width) {
        put(&mut out, &line);
    }
    for note in &compared.notes {
        for line in wrap(&shown(note, &style), style.width) {
            put(&mut out, &line);
        }
    }
    out
}

fn cells(row: &Row, style: &Style) -> [String; 5] {
    let [a, b] = row.values.each_ref().map(|values| row.figure.words(nicteam_statistics::median(values)));
    [shown(&row.figure.name, style), a, b, beside(row), mark(row.verdict).to_owned()]
}

/// `1.05 (1.03 to 1.07)`, or a difference where there is no ratio.
pub(crate) fn beside(row: &Row) -> String {
    let Comparison { scale, middle, low, high, .. } = row.comparison;
    let value = |value: f64| match scale {
        Scale::Ratio => format!("{value:.3}"),
        Scale::Difference => row.figure.difference(value),
    };
    let times = if scale == Scale::Ratio { "x" } else { "" };
    match low.zip(high) {
        Some((low, high)) => format!("{times}{} ({} to {})", value(middle), value(low), value(high)),
        None => times.to_owned() + &value(middle),
    }
}

/// What differs, or that nothing does.
pub(crate) fn summary(compared: &Compared<'_>) -> String {
    let named = |wanted: &[Verdict]| {
        let rows = compared.figures.iter().filter(|row| wanted.contains(&row.verdict));
        rows.map(|row| row.figure.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let differ = named(&[Verdict::Higher, Verdict::Lower]);
    if differ.is_empty() {
        "No difference shown.".to_owned()
    } else {
        format!("B differs in {differ}; no difference shown elsewhere.")
    }
}

/// A verdict where there is little room.
fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NotShown => "-",
        Verdict::TooFew => "?",
        shown => verdict_words(shown),
    }
}

/// A verdict in words.
pub(crate) fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::NotShown => "no difference shown",
        Verdict::TooFew => "too few times",
    }
}
