//! Mode stripe of two programs: what it delivers and sends again.

use super::comparison::{Comparison, NO_WORSE, programs};
use crate::accept::stripe::bundles::{Bundles, Measured, Times};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};

pub(super) const PART: Part<Comparison> =
    Part::new("stripe", "new and old: stripe, four links through a plain switch (bpf dataplane)", measure);

const EXPERIMENTS: [&str; 2] = ["stripe-gigabit", "stripe"];
const ONE_WAY: [&str; 3] = ["one-connection", "four-connections", "sixteen-connections"];
const BOTH_WAYS: &str = "both-ways";
/// Percent of all segments: what is sent again scatters by more than it is.
const SENT_AGAIN: Bound = Bound::AtMost(0.05);

fn measure(context: &Context<'_, Comparison>) -> Result<Vec<Figure>, Failure> {
    let times = Times { repeats: context.arguments.rounds, seconds: context.arguments.seconds };
    let mut figures = Vec::new();
    for experiment in EXPERIMENTS {
        let [new, old] = Bundles::in_turn(programs(context), context.scratch, experiment, times)?;
        figures.push(new.about()?);
        for run in ONE_WAY.iter().chain([&BOTH_WAYS]) {
            let (what, delivered): (_, fn(&Measured) -> Option<f64>) = match *run {
                BOTH_WAYS => ("slower way, of limit", |run| Some(run.each_way()?[0])),
                _ => ("of limit", |run| run.of_limit()),
            };
            let delivered = new.pairs(run, (&old, run), delivered)?;
            figures.push(delivered.ratio(format!("{experiment}, {run}: {what}, new / old"), NO_WORSE));
            let again = new.pairs(run, (&old, run), |run| Some(run.retransmitted()? * 1e2))?;
            figures.push(again.difference(format!("{experiment}, {run}: % sent again, new - old"), SENT_AGAIN));
        }
    }
    Ok(figures)
}
