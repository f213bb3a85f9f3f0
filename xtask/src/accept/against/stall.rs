//! 802.3ad of two programs while their processes are stopped, killed and replaced.

use super::comparison::{Comparison, programs};
use crate::accept::stall;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::part::{Context, Part};

pub(super) const PART: Part<Comparison> =
    Part::new("stall", "new and old: 802.3ad while its process is stopped, killed, replaced (bpf dataplane)", measure);

/// Both at once: each case of each program has hosts of its own, and most of the time waits.
fn measure(context: &Context<'_, Comparison>) -> Result<Vec<Figure>, Failure> {
    let ([new, old], noise) = Noise::around(|| stall::at_once(programs(context), context.scratch))?;
    let compared = new.into_iter().zip(&old).map(|(new, old)| new.no_more_than(old).noise(noise));
    Ok(compared.collect())
}
