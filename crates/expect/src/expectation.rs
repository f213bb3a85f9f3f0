//! What must come out of a run.

use nicteam_statistics::Scale;

use crate::bound::Bound;
use crate::figures::{Figure, Part};

/// Something that must come out of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The run of the file.
    pub run: String,
    /// What must come out.
    pub what: What,
    /// Line of the file, from 1.
    pub line: usize,
}

/// What must come out.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A figure within a bound.
    Figure {
        /// The figure.
        figure: &'static Figure,
        /// Of which part of the run.
        part: Part,
        /// The run that it is expressed by, if it is not taken alone.
        beside: Option<Beside>,
        /// Where it must lie.
        bound: Bound,
    },
    /// A finding.
    Finding {
        /// Its cause.
        cause: String,
        /// Whether it must be there; else it must not.
        wanted: bool,
    },
}

/// The run that another one is expressed by.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// As its multiple, or as what it has more.
    pub scale: Scale,
    /// The run.
    pub run: String,
    /// The bundle of a former record that has this run, as the file names it; none: it is of the same experiment.
    pub against: Option<String>,
}

impl Expectation {
    /// The runs of the file that have to be carried out for it.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        let other = self.beside().filter(|beside| beside.against.is_none()).map(|beside| beside.run.as_str());
        std::iter::once(self.run.as_str()).chain(other)
    }

    /// The run that it is expressed by.
    pub fn beside(&self) -> Option<&Beside> {
        match &self.what {
            What::Figure { beside, .. } => beside.as_ref(),
            What::Finding { .. } => None,
        }
    }

    /// The bundle of a former record that it needs.
    pub fn against(&self) -> Option<&str> {
        self.beside()?.against.as_deref()
    }

    /// What is expected of the run, without its bound: `of_limit`, `p99 of browsing, as a multiple of plain`.
    pub fn subject(&self) -> String {
        let (figure, part, beside) = match &self.what {
            What::Figure { figure, part, beside, .. } => (figure, part, beside),
            What::Finding { cause, .. } => return format!("finding `{cause}`"),
        };
        let of = part.workload.as_ref().or(part.host.as_ref()).map_or_else(String::new, |name| format!(" of {name}"));
        let by = beside.as_ref().map_or_else(String::new, |Beside { scale, run, against }| {
            let how = if *scale == Scale::Ratio { " / " } else { " - " };
            let of = against.as_ref().map_or_else(String::new, |bundle| format!(" of {bundle}"));
            format!("{how}{run}{of}")
        });
        format!("{}{of}{by}", figure.name)
    }
}
