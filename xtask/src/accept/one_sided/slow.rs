//! Plain hosts of one member's rate: one, where there is nothing to gain, and four at once.

use super::compared::{delivered, sent_again};
use crate::accept::stripe::bundles::Bundles;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};

/// The run over four links, and the same over one link without a team.
const ONE: (&str, &str) = ("slow-stripe", "slow-bare");
/// Part of what one plain link gives.
const LEAST: Bound = Bound::AtLeast(0.99);
/// Percent of all segments more than there.
const SENT_AGAIN: Bound = Bound::AtMost(0.0);

/// A connection to each of four hosts.
const FOUR: &str = "hosts-stripe";
const OF_THE_SUM: Bound = Bound::AtLeast(0.97);
const JAIN: Bound = Bound::AtLeast(0.99);
/// Who sends to them.
const SERVER: &str = "server";

/// What one such host gets beside a plain link, and what four get.
pub(super) fn figures(bundles: &Bundles) -> Result<Vec<Figure>, Failure> {
    Ok(vec![
        delivered(bundles, ONE, LEAST)?,
        sent_again(bundles, ONE, SENT_AGAIN)?,
        bundles.figure(FOUR, "of limit", OF_THE_SUM, |run| run.of_limit())?,
        bundles.figure(FOUR, "Jain's index of the hosts", JAIN, |run| run.fairness_around(SERVER))?,
    ])
}
