//! Expectations as a record has them.

use nicteam_record::{Expected, Record};
use nicteam_statistics::Scale;

use crate::bound::Bound;
use crate::expectation::{Beside, Expectation, What};
use crate::figures::{Figure, Part};

/// The expectations of a record, without those of figures that this version does not know.
pub fn expectations(record: &Record) -> Vec<Expectation> {
    record.experiment.expect.iter().filter_map(read).collect()
}

impl Expectation {
    /// As a record has it.
    pub fn recorded(&self) -> Expected {
        let place = Expected { run: self.run.clone(), line: self.line, ..Expected::default() };
        match &self.what {
            What::Finding { cause, wanted: true } => Expected { finding: Some(cause.clone()), ..place },
            What::Finding { cause, wanted: false } => Expected { no_finding: Some(cause.clone()), ..place },
            What::Figure { figure, part, beside, bound } => {
                let to =
                    |scale| beside.as_ref().filter(|beside| beside.scale == scale).map(|beside| beside.run.clone());
                Expected {
                    figure: Some(figure.name.to_owned()),
                    workload: part.workload.clone(),
                    host: part.host.clone(),
                    ratio_to: to(Scale::Ratio),
                    difference_to: to(Scale::Difference),
                    against: self.against().map(str::to_owned),
                    at_least: bound.at_least,
                    at_most: bound.at_most,
                    ..place
                }
            }
        }
    }
}

fn read(expected: &Expected) -> Option<Expectation> {
    let Expected { run, line, figure, finding, no_finding, .. } = expected;
    let what = match (figure, finding, no_finding) {
        (Some(figure), ..) => {
            let ratio = expected.ratio_to.clone().map(|run| (Scale::Ratio, run));
            let difference = expected.difference_to.clone().map(|run| (Scale::Difference, run));
            let beside = ratio.or(difference);
            let against = expected.against.clone();
            What::Figure {
                figure: Figure::named(figure)?,
                part: Part { workload: expected.workload.clone(), host: expected.host.clone() },
                beside: beside.map(|(scale, run)| Beside { scale, run, against }),
                bound: Bound { at_least: expected.at_least, at_most: expected.at_most },
            }
        }
        (None, Some(cause), _) => What::Finding { cause: cause.clone(), wanted: true },
        (None, None, Some(cause)) => What::Finding { cause: cause.clone(), wanted: false },
        (None, None, None) => return None,
    };
    Some(Expectation { run: run.clone(), what, line: *line })
}
