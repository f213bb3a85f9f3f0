//! One link of the sum of the rates beside four links that stripe, at the same plain switch: what a stranger
//! understands is that nobody can tell the two apart.

mod latency;

use crate::accept::arguments::Arguments;
use crate::accept::stripe::bundles::{Bundles, Measured, Times};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};

/// One big link beside stripe.
pub(super) const PART: Part<Arguments> =
    Part::new("big-link", "stripe over four links beside one link of their sum, interleaved (bpf dataplane)", measure);

/// Beginnings of the names of the experiment's runs.
const ONE_WAY: [&str; 4] = ["one", "four", "sixteen", "many"];
const BOTH_WAYS: [&str; 2] = ["both", "sixteen-both"];

/// Least part of what the big link delivers, and most percent of the segments that are sent again beyond the big link's.
const DELIVERED: Bound = Bound::AtLeast(0.98);
const SENT_AGAIN: Bound = Bound::AtMost(0.05);

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let mut figures = throughput(context)?;
    figures.extend(latency::measure(context)?);
    Ok(figures)
}

/// GSO frames, 4 x 1 Gbit/s and 4 Gbit/s; runs of the same traffic follow each other.
fn throughput(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let times = Times { repeats: context.arguments.rounds, seconds: context.arguments.seconds };
    let [bundles] = Bundles::in_turn([context.product], context.scratch, "big-link", times)?;
    let mut figures = vec![bundles.about()?];
    for load in ONE_WAY.iter().chain(&BOTH_WAYS) {
        let runs = (format!("{load}-stripe"), format!("{load}-big"));
        let both = (runs.0.as_str(), runs.1.as_str());
        figures.push(bundles.compared(both, "Gbit/s", DELIVERED, |run| Some(run.run.delivered_bps / 1e9))?);
        if BOTH_WAYS.contains(load) {
            let slower = |run: &Measured| Some(run.each_way()?[0] * run.run.limit_bps / 2e9);
            figures.push(bundles.compared(both, "slower way, Gbit/s", DELIVERED, slower)?);
        }
        let again = bundles.pairs(both.0, (&bundles, both.1), |run| Some(run.retransmitted()? * 1e2))?;
        figures.push(again.difference(format!("{} - {}: % sent again", both.0, both.1), SENT_AGAIN));
        // Of one device TCP hears at once that its queue was full (NET_XMIT_DROP) and does not count it as sent.
        let dropped = bundles.pairs(both.0, (&bundles, both.1), |run| Some(run.dropped_when_sent() * 1e2))?;
        figures
            .push(dropped.difference(format!("{} - {}: % dropped by the sender's queue", both.0, both.1), Bound::None));
    }
    Ok(figures)
}
