//! Two runs of an experiment, compared.

use crate::accept::stripe::bundles::{Bundles, Measured};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};

/// What two runs delivered: the one divided by the other.
pub(super) fn delivered(bundles: &Bundles, runs: (&str, &str), bound: Bound) -> Result<Figure, Failure> {
    bundles.compared(runs, "Mbit/s", bound, |run| Some(run.run.delivered_bps / 1e6))
}

/// What one run sent again more than another, percent of all segments.
pub(super) fn sent_again(bundles: &Bundles, runs: (&str, &str), bound: Bound) -> Result<Figure, Failure> {
    let name = format!("{} - {}: % sent again", runs.0, runs.1);
    Ok(bundles.pairs(runs.0, (bundles, runs.1), percent_sent_again)?.difference(name, bound))
}

pub(super) fn percent_sent_again(run: &Measured) -> Option<f64> {
    Some(run.retransmitted()? * 1e2)
}
