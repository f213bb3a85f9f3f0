//! Runs beside each other: what differs, by how much, and what does not.
//!
//! Figures of one run carried out several times are compared with those of another. Times of the same record belong
//! together in pairs, since they were carried out in turn; those of two records do not. What counts as different is decided
//! once for payload ([`Comparison::HEADLINE`]) and once for all other figures together ([`Comparison::BESIDE`]), so that a
//! comparison of a run with itself says "no difference shown" 94 times of 100.

mod compared;
mod environment;
mod figures;
mod json;
mod text;

use nicteam_record::Run;
use nicteam_statistics::{Comparison, Verdict, hold_together};

pub use compared::{Compared, Row, Side, run_names};
pub use figures::Figure;
pub(crate) use text::{beside, summary, verdict_words};

use crate::repeated;
use crate::terminal::Style;
use environment::environment;

/// Compares two sides.
///
/// # Errors
/// Why they cannot be compared, in words.
pub fn compare<'a>(first: Side<'a>, second: Side<'a>) -> Result<Compared<'a>, String> {
    let runs = [first.runs(), second.runs()];
    for (side, runs) in [&first, &second].into_iter().zip(&runs) {
        if runs.is_empty() {
            return Err(format!("{} has no run `{}`", side.label, side.run));
        }
    }
    let environment = environment(&first, &second, &runs)?;
    let is_paired =
        std::ptr::eq(first.record, second.record) && runs[0].len() == runs[1].len() && first.run != second.run;
    let of_both = figures::of_both(&runs, &environment.leaves_out);
    let compared = of_both.into_iter().filter_map(|(figure, values)| {
        let [one, other] = &values;
        let comparison = if is_paired { Comparison::of_pairs(one, other)? } else { Comparison::of_sets(one, other)? };
        Some((figure, values, comparison))
    });
    let compared: Vec<(Figure, [Vec<f64>; 2], Comparison)> = compared.collect();
    let beside: Vec<f64> = compared.iter().skip(1).map(|(_, _, comparison)| comparison.chance).collect();
    let holds = hold_together(&beside, Comparison::BESIDE);
    let figures: Vec<Row> = compared
        .into_iter()
        .enumerate()
        .map(|(place, (figure, values, comparison))| {
            let verdict = match place.checked_sub(1).map(|place| holds[place]) {
                None => comparison.verdict(Comparison::HEADLINE),
                Some(true) => comparison.verdict(1.0),
                // Every time points the same way, and there are too few of them beside so many figures.
                Some(false) if comparison.chance <= comparison.least_chance => Verdict::TooFew,
                Some(false) => Verdict::NotShown,
            };
            Row { figure, values, comparison, verdict }
        })
        .collect();
    let mut notes = environment.notes;
    notes.extend(few(&figures, is_paired));
    for (side, runs) in [&first, &second].into_iter().zip(&runs) {
        notes.extend(apart(side, runs));
    }
    if !is_paired && runs.iter().all(|runs| runs.len() > 1) {
        notes.push(
            "The two were not carried out in turn: what the machine did meanwhile is in the difference.".to_owned(),
        );
    }
    Ok(Compared { first, second, figures, notes })
}

impl Compared<'_> {
    /// As a table for a terminal, at most so wide.
    pub fn text(&self, style: &Style) -> String {
        text::text(self, style)
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        json::json(self)
    }
}

/// So few times cannot show a difference, whatever they are.
fn few(figures: &[Row], is_paired: bool) -> Option<String> {
    let headline = figures.first().filter(|row| row.verdict == Verdict::TooFew)?;
    let [one, other] = &headline.values;
    let needed = Comparison::fewest_pairs(Comparison::HEADLINE);
    let how = if is_paired { "in pairs" } else { "of each" };
    Some(format!(
        "{} and {} times {how} cannot show a difference, however large: `--repeat {needed}` can, `--repeat 10` shows 5 %.",
        one.len(),
        other.len()
    ))
}

/// Times that stand apart from the others of their side.
fn apart(side: &Side<'_>, runs: &[&Run]) -> Option<String> {
    let found = repeated::apart(runs);
    (!found.is_empty()).then(|| format!("Apart from the other times of {}: {}.", side.label, found.join(", ")))
}
