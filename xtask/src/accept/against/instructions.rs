//! Instructions that two programs' teams take for a packet.

use std::fs;

use super::comparison::Comparison;
use crate::bench::instructions::{self, Compared};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};
use crate::side;
use nicteam_statistics::Estimate;

pub(super) const PART: Part<Comparison> = Part {
    tools: &side::TOOLS,
    ..Part::new("instructions", "new and old: instructions per packet, in a guest that counts them", measure)
};

/// Half an instruction: counts are means of many packets.
const MORE: Bound = Bound::AtMost(0.5);

fn measure(context: &Context<'_, Comparison>) -> Result<Vec<Figure>, Failure> {
    let before = context.scratch.path().join(side::BEFORE);
    fs::copy(&context.arguments.old.binary, &before)
        .map_err(|error| Failure::failed(format!("cannot copy the old program to {}: {error}", before.display())))?;
    let counts = instructions::compared(context.product, before, context.arguments.rounds)?;
    let figure = |Compared { setting, new, old }: Compared| {
        let words = |of: &[f64]| Estimate::of(of).map_or_else(String::new, |of| format!("{:.1}", of.median));
        let more = Estimate::of_differences(&new, &old);
        Figure::ratio(format!("{setting}: new - old"), more, MORE).peer(format!("{} and {}", words(&new), words(&old)))
    };
    Ok(counts.into_iter().map(figure).collect())
}
