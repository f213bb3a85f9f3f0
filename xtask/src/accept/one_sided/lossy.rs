//! A member that loses one frame in 330, beside balance-alb on the other three: its best is a host on each of them.

use super::compared::{delivered, sent_again};
use crate::accept::stripe::bundles::Bundles;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};

/// One connection to a host with a link of the sum, and one to each of four hosts.
const RUNS: [(&str, &str); 2] = [("lossy-one-stripe", "lossy-one-alb"), ("lossy-hosts-stripe", "lossy-hosts-alb")];

/// No less than on the other three.
const LEAST: Bound = Bound::AtLeast(1.0);

/// Each load by stripe, of the same by balance-alb.
pub(super) fn figures(bundles: &Bundles) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for runs in RUNS {
        figures.push(delivered(bundles, runs, LEAST)?);
        figures.push(sent_again(bundles, runs, Bound::None)?);
    }
    Ok(figures)
}
