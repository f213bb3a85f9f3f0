//! One program beside another: what the file bounds must be no worse than by the other one.

use nicteam_statistics::Scale;

use crate::bound::Bound;
use crate::expectation::{Beside, Expectation, What};
use crate::figures::{Figure, Part};
use crate::unit::Unit;

/// A figure may be worse by this part.
const PART: f64 = 0.03;
/// A share of segments may be higher by this.
const SHARE: f64 = 0.0005;

/// Each figure that is expected, once a run: by the record `against` of the other program it must not be worse in the direction
/// in which the file bounds it. Findings are not compared.
pub fn no_worse(expectations: &[Expectation], against: &str) -> Vec<Expectation> {
    let mut found: Vec<(&Expectation, &'static Figure, &Part, Bound)> = Vec::new();
    for expectation in expectations {
        let What::Figure { figure, part, bound, .. } = &expectation.what else { continue };
        let same =
            found.iter_mut().find(|(other, its, of, _)| other.run == expectation.run && *its == *figure && *of == part);
        match same {
            Some((.., both)) => {
                both.at_least = both.at_least.or(bound.at_least);
                both.at_most = both.at_most.or(bound.at_most);
            }
            None => found.push((expectation, figure, part, *bound)),
        }
    }
    let beside = |(expectation, figure, part, bound): (&Expectation, &'static Figure, &Part, Bound)| {
        let (scale, low, high) = margin(figure);
        Expectation {
            run: expectation.run.clone(),
            what: What::Figure {
                figure,
                part: part.clone(),
                beside: Some(Beside { scale, run: expectation.run.clone(), against: Some(against.to_owned()) }),
                bound: Bound { at_least: bound.at_least.map(|_| low), at_most: bound.at_most.map(|_| high) },
            },
            line: expectation.line,
        }
    };
    found.into_iter().map(beside).collect()
}

/// How figures are compared, and from where to where they are the same. What is often 0 has no ratio.
fn margin(figure: &Figure) -> (Scale, f64, f64) {
    match figure.unit {
        Unit::Count => (Scale::Difference, 0.0, 0.0),
        Unit::Share if figure.name == "retransmitted" => (Scale::Difference, -SHARE, SHARE),
        _ => (Scale::Ratio, 1.0 - PART, 1.0 + PART),
    }
}
