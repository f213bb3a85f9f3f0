//! Figures and their table.

use std::fmt;

use crate::failure::Failure;
use crate::noise::Noise;
use nicteam_statistics::Estimate;

/// How to read the tables.
pub const LEGEND: &str = "measured: the median of the repeats; in brackets, of 6 repeats or more the interval that holds it with 95 %, else lowest and highest
`?`: the median decides, but the interval reaches over the bound
noise: share of all processors busy before it began, and share that a hypervisor took while it ran; of several, the highest";

/// What a figure must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// Less than this.
    Below(f64),
    /// More than this.
    Above(f64),
    /// From the one to the other.
    Within(f64, f64),
    /// Anything: the figure is reported, not checked.
    None,
}

/// A measured figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What is measured.
    pub name: String,
    /// The measured value in words, as the table shows it.
    pub measured: String,
    /// The measured value as numbers, if it is a median of repeats.
    pub estimate: Option<Estimate>,
    /// What the numbers count: a share of the limit, `ms`; empty if the name says it.
    pub unit: &'static str,
    /// What it must be, in words.
    pub bound: String,
    /// `None`: it has no bound.
    pub holds: Option<bool>,
    /// False if the interval reaches over the bound.
    pub clear: bool,
    /// What else the machine did.
    pub noise: Option<Noise>,
    /// What it is compared with.
    pub peer: String,
}

/// Figures measured together.
#[derive(Clone, Debug)]
pub struct Section {
    /// What stands above them.
    pub title: String,
    /// The figures.
    pub figures: Vec<Figure>,
    /// Why the figures are not all there.
    pub failure: Option<Failure>,
}

impl Bound {
    /// True if the value keeps to it.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Bound::AtLeast(bound) => value >= bound,
            Bound::AtMost(bound) => value <= bound,
            Bound::Below(bound) => value < bound,
            Bound::Above(bound) => value > bound,
            Bound::Within(low, high) => (low..=high).contains(&value),
            Bound::None => true,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::AtLeast(bound) => write!(f, ">= {bound:.2}"),
            Bound::AtMost(bound) => write!(f, "<= {bound:.2}"),
            Bound::Below(bound) => write!(f, "< {bound:.2}"),
            Bound::Above(bound) => write!(f, "> {bound:.2}"),
            Bound::Within(low, high) => write!(f, "{low:.2} to {high:.2}"),
            Bound::None => f.write_str("-"),
        }
    }
}

impl Figure {
    /// A ratio, judged by its median; without samples it is missed.
    pub fn ratio(name: impl Into<String>, estimate: Option<Estimate>, bound: Bound) -> Figure {
        let measured = match estimate {
            Some(Estimate { median, low, high, .. }) => format!("{median:.3} [{low:.3}, {high:.3}]"),
            None => "no samples".to_owned(),
        };
        let judged = estimate.is_some_and(|Estimate { median, .. }| bound.holds(median));
        let ends_agree = |Estimate { low, high, .. }: Estimate| [low, high].map(|end| bound.holds(end)) == [judged; 2];
        let clear = estimate.is_none_or(ends_agree);
        let holds = (bound != Bound::None).then_some(judged);
        Figure { clear, estimate, ..Figure::text(name, measured, &bound.to_string(), holds) }
    }

    /// Something else than a ratio. `holds`: `None` if there is no bound.
    pub fn text(name: impl Into<String>, measured: String, bound: &str, holds: Option<bool>) -> Figure {
        let (name, bound) = (name.into(), bound.to_owned());
        Figure { name, measured, estimate: None, unit: "", bound, holds, clear: true, noise: None, peer: String::new() }
    }

    /// Losses, of which there may be none. `measured`: the same in words.
    pub fn count(name: impl Into<String>, losses: u64, measured: String) -> Figure {
        Figure::text(name, measured, "0", Some(losses == 0))
    }

    /// What its numbers count.
    pub fn unit(self, unit: &'static str) -> Figure {
        Figure { unit, ..self }
    }

    /// The machine's noise while it was measured.
    pub fn noise(self, noise: Noise) -> Figure {
        Figure { noise: Some(noise), ..self }
    }

    /// What it is compared with.
    pub fn peer(self, peer: impl Into<String>) -> Figure {
        Figure { peer: peer.into(), ..self }
    }

    fn cells(&self) -> [String; COLUMNS] {
        let verdict = match (self.holds, self.clear) {
            (Some(true), true) => "ok",
            (Some(true), false) => "ok?",
            (Some(false), true) => "MISSED",
            (Some(false), false) => "MISSED?",
            (None, _) => "-",
        };
        let noise = self.noise.map_or_else(|| "-".to_owned(), |noise| noise.to_string());
        let peer = if self.peer.is_empty() { "-" } else { &self.peer };
        [&self.name, &self.measured, &self.bound, verdict, &noise, peer].map(str::to_owned)
    }
}

impl Section {
    /// Of what a measurement gave, figures or a reason why there are none.
    pub fn new(title: impl Into<String>, measured: Result<Vec<Figure>, Failure>) -> Section {
        let (figures, failure) = match measured {
            Ok(figures) => (figures, None),
            Err(failure) => (Vec::new(), Some(failure)),
        };
        Section { title: title.into(), figures, failure }
    }

    /// How many bounds hold, how many do not. What could not be measured is missed.
    pub fn count(&self) -> (usize, usize) {
        let held = self.figures.iter().filter(|figure| figure.holds == Some(true)).count();
        let missed = self.figures.iter().filter(|figure| figure.holds == Some(false)).count();
        (held, missed + usize::from(self.failure.is_some()))
    }
}

const COLUMNS: usize = 6;
const HEADER: [&str; COLUMNS] = ["figure", "measured", "bound", "", "noise", "peer"];

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n== {}", self.title)?;
        if let Some(failure) = &self.failure {
            writeln!(f, "MISSED, not measured: {failure}")?;
        }
        if self.figures.is_empty() {
            return Ok(());
        }
        let rows: Vec<[String; COLUMNS]> =
            std::iter::once(HEADER.map(str::to_owned)).chain(self.figures.iter().map(Figure::cells)).collect();
        let widths: [usize; COLUMNS] =
            std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
        for row in rows {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_kept_at_its_edge_or_not() {
        assert!(Bound::AtLeast(0.9).holds(0.9) && !Bound::AtLeast(0.9).holds(0.89));
        assert!(Bound::AtMost(0.55).holds(0.55) && !Bound::AtMost(0.55).holds(0.56));
        assert!(!Bound::Above(0.99).holds(0.99) && !Bound::Below(1.0).holds(1.0));
        assert!(Bound::Within(0.24, 0.26).holds(0.25) && !Bound::Within(0.24, 0.26).holds(0.261));
        assert!(!Bound::AtLeast(0.9).holds(f64::NAN));
    }

    #[test]
    fn what_was_not_measured_is_missed() {
        let failed = Section::new("a", Err(Failure::failed("no")));
        assert_eq!(failed.count(), (0, 1));
        let figures = vec![
            Figure::ratio("x", None, Bound::AtLeast(0.9)),
            Figure::ratio("y", Estimate::of(&[0.95]), Bound::AtLeast(0.9)),
            Figure::ratio("z", Estimate::of(&[0.95]), Bound::None),
            Figure::ratio("w", Estimate::of(&[0.8, 0.95, 1.1]), Bound::AtLeast(0.9)),
        ];
        let section = Section::new("b", Ok(figures));
        assert_eq!(section.count(), (2, 1));
        let table = section.to_string();
        assert!(table.contains("y       0.950 [0.950, 0.950]  >= 0.90  ok      -"), "{table}");
        assert!(table.contains("w       0.950 [0.800, 1.100]  >= 0.90  ok?     -"), "{table}");
    }
}
