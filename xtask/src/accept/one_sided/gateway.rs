//! A host behind a gateway, near and far, beside one link of the sum of the rates to the same gateway.

use super::compared::{delivered, sent_again};
use crate::accept::stripe::bundles::Bundles;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};

/// Beginnings of the names of runs: 5 and 50 ms behind the gateway, by congestion control.
const RUNS: [&str; 4] = ["near-cubic", "near-bbr", "far-cubic", "far-bbr"];

/// Part of what one link of the sum gives.
const LEAST: Bound = Bound::AtLeast(0.95);

/// Each way by stripe, of the same by one link.
pub(super) fn figures(bundles: &Bundles) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for run in RUNS {
        let (ours, big) = (format!("{run}-stripe"), format!("{run}-big"));
        figures.push(delivered(bundles, (&ours, &big), LEAST)?);
        figures.push(sent_again(bundles, (&ours, &big), Bound::None)?);
    }
    Ok(figures)
}
