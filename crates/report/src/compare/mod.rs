//! Runs beside each other: what differs, by how much, and what does not.
//!
//! Figures of one run carried out several times are compared with those of another. Times of the same record belong
//! together in pairs, since they were carried out in turn; those of two records do not. What counts as different is decided
//! once for payload ([`Comparison::HEADLINE`]) and once for all other figures together ([`Comparison::BESIDE`]), so that a
//! comparison of a run with itself says "no difference shown" 94 times of 100.

mod figures;
mod json;
mod text;

use std::collections::BTreeMap;

use nicteam_record::{Record, Run};
use nicteam_statistics::{Comparison, Verdict, hold_together};

pub use figures::Figure;
pub(crate) use text::{beside, says, summary};

use crate::repeated::{self, repeated};

/// One side of a comparison: a run of a record.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// What it is called: `results/a#one`.
    pub label: String,
    /// The record.
    pub record: &'a Record,
    /// The run of the file, by [`Run::base_name`].
    pub run: &'a str,
}

/// Two sides and what they say beside each other.
#[derive(Clone, Debug)]
pub struct Compared<'a> {
    /// The first one, with which the second is compared.
    pub first: Side<'a>,
    /// The second one.
    pub second: Side<'a>,
    /// Payload first, then the others.
    pub figures: Vec<Row>,
    /// What is not compared, and why, in sentences; and what a reader should know.
    pub notes: Vec<String>,
}

/// A figure of both sides.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is.
    pub figure: Figure,
    /// Of each time, in the order of the times.
    pub values: [Vec<f64>; 2],
    /// The two beside each other.
    pub comparison: Comparison,
    /// What they say, all figures of this comparison taken together.
    pub verdict: Verdict,
}

impl<'a> Side<'a> {
    /// Each time that the run was carried out.
    pub(crate) fn runs(&self) -> Vec<&'a Run> {
        repeated(self.record).into_iter().find(|group| group.name == self.run).map_or_else(Vec::new, |group| group.runs)
    }
}

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
    pub fn text(&self, style: &crate::Style) -> String {
        text::text(self, style)
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        json::json(self)
    }

    /// True if no figure differs.
    pub fn shows_nothing(&self) -> bool {
        self.figures.iter().all(|row| matches!(row.verdict, Verdict::NotShown | Verdict::TooFew))
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

/// What two records' environments allow.
struct Environment {
    /// Kinds of figures that are not compared.
    leaves_out: Vec<figures::Kind>,
    notes: Vec<String>,
}

/// What can be compared where the two were carried out.
fn environment(first: &Side<'_>, second: &Side<'_>, runs: &[Vec<&Run>; 2]) -> Result<Environment, String> {
    let (one, other) = (&first.record.environment, &second.record.environment);
    let (mut leaves_out, mut notes) = (Vec::new(), Vec::new());
    if one.frames() != other.frames() {
        return Err(format!(
            "{} had {}, {} had {}: what is lost and what is shared depends on it; run one of them again with `granularity` of the other",
            first.label,
            one.frames(),
            second.label,
            other.frames()
        ));
    }
    let limits = runs.each_ref().map(|runs| runs.first().map_or(0.0, |run| run.limit_bps));
    if (limits[0] / limits[1] - 1.0).abs() > 0.001 && limits.iter().all(|limit| *limit > 0.0) {
        notes.push(format!(
            "The links could carry {} and {}: utilisation is the part of that.",
            crate::units::rate(limits[0]),
            crate::units::rate(limits[1])
        ));
    }
    let machine = |of: &nicteam_record::Environment| format!("{} x {}", of.cpus, of.cpu_model);
    if machine(one) != machine(other) {
        leaves_out.extend([figures::Kind::Processor, figures::Kind::Latency]);
        notes.push(format!(
            "Processor time and latency are not compared: they were measured on other processors ({} and {}).",
            machine(one),
            machine(other)
        ));
    }
    let mut differs = BTreeMap::new();
    for (what, one, other) in [
        ("kernel", &one.kernel, &other.kernel),
        ("dataplane", &one.dataplane, &other.dataplane),
        ("nicteam", &first.record.nicteam, &second.record.nicteam),
    ] {
        if one != other {
            differs.insert(what, format!("{what} {one} and {other}"));
        }
    }
    if !differs.is_empty() {
        let differs: Vec<String> = differs.into_values().collect();
        notes.push(format!("What else differs: {}.", differs.join("; ")));
    }
    let busy = |runs: &[&Run]| runs.iter().filter(|run| run.cpu.busy > BUSY).count();
    for (side, runs) in [first, second].into_iter().zip(runs) {
        let busy = busy(runs);
        if busy > 0 && machine(one) != machine(other) {
            notes.push(format!(
                "In {busy} of {} times of {} its machine's processors were the limit: payload is the machine's there.",
                runs.len(),
                side.label
            ));
        }
    }
    Ok(Environment { leaves_out, notes })
}

/// From this part on processors count as busy.
const BUSY: f64 = 0.9;
