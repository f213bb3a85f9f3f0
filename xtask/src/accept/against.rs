//! Instructions that two programs' teams take for a packet: what `lab check --against` cannot count.

use std::fs;

use super::arguments::Arguments;
use crate::bench::instructions::{self, Compared};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};
use crate::side;
use nicteam_statistics::Estimate;

pub(super) const PART: Part<Arguments> = Part {
    tools: &side::TOOLS,
    ..Part::new("instructions", "new and old: instructions per packet, in a guest that counts them", measure)
};

/// Half an instruction: counts are means of many packets.
const MORE: Bound = Bound::AtMost(0.5);

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let Arguments { against, repeats, .. } = context.arguments;
    let old = against.as_ref().ok_or_else(|| Failure::Missing("no other program; hint: --against".to_owned()))?;
    let before = context.scratch.path().join(side::BEFORE);
    fs::copy(old, &before)
        .map_err(|error| Failure::failed(format!("cannot copy {} to {}: {error}", old.display(), before.display())))?;
    let counts = instructions::compared(context.product, before, *repeats)?;
    let figure = |Compared { setting, new, old }: Compared| {
        let words = |of: &[f64]| Estimate::of(of).map_or_else(String::new, |of| format!("{:.1}", of.median));
        let more = Estimate::of_differences(&new, &old);
        Figure::ratio(format!("{setting}: new - old"), more, MORE).peer(format!("{} and {}", words(&new), words(&old)))
    };
    Ok(counts.into_iter().map(figure).collect())
}
