//! Two sides and their figures.

use nicteam_record::{Record, Run};
use nicteam_statistics::{Comparison, Verdict};

use super::figures::Figure;
use crate::repeated::repeated;

/// One side of a comparison: a run of a record.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// Its name: `results/a#one`.
    pub label: String,
    /// The record.
    pub record: &'a Record,
    /// The run of the file, by [`Run::base_name`].
    pub run: &'a str,
}

/// Two sides and their comparison.
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

/// Names of a record's runs, each once, however often it was carried out.
pub fn run_names(record: &Record) -> Vec<&str> {
    repeated(record).into_iter().map(|group| group.name).collect()
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
    /// The verdict, all figures of this comparison taken together.
    pub verdict: Verdict,
}

impl<'a> Side<'a> {
    /// Each time that the run was carried out.
    pub(crate) fn runs(&self) -> Vec<&'a Run> {
        repeated(self.record).into_iter().find(|group| group.name == self.run).map_or_else(Vec::new, |group| group.runs)
    }
}

impl Compared<'_> {
    /// True if no figure differs.
    pub fn shows_nothing(&self) -> bool {
        self.figures.iter().all(|row| matches!(row.verdict, Verdict::NotShown | Verdict::TooFew))
    }
}
