//! `xtask accept --against OLD_BINARY`: two programs, interleaved. The new one is no worse if it is at least 0.97
//! of the old one with 95 % probability, takes no instruction more, and loses no more.

mod instructions;
mod stall;
mod stripe;
mod throughput;

use std::path::Path;

use super::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Section};
use crate::part::{self, Context, Part};
use crate::product::Product;
use crate::results::Measured;

/// What two programs are compared with.
pub(super) struct Comparison {
    /// The program of before.
    old: Product,
    /// How often both are measured.
    rounds: u32,
    /// How long each run is measured, whole seconds.
    seconds: u32,
}

/// The parts, in the order in which they are measured.
pub(super) const PARTS: [&Part<Comparison>; 4] = [&throughput::PART, &stripe::PART, &stall::PART, &instructions::PART];

/// What is no worse, new / old.
const NO_WORSE: Bound = Bound::LowerEnd(0.97);

/// Measures, and prints each part as soon as it is there.
pub(super) fn run(binary: &Path, arguments: &Arguments) -> Result<Vec<Section>, Failure> {
    let Arguments { only, rounds, seconds, save, .. } = arguments;
    let comparison = Comparison { old: Product::at(binary)?, rounds: *rounds, seconds: *seconds };
    let measured = Measured { prefix: "against-", script: "scripts/accept.sh --against OLD_BINARY" };
    part::run(&PARTS, only, &comparison, &save.of(measured))
}

/// The new program and the old one.
fn programs<'a>(context: &'a Context<'_, Comparison>) -> [&'a Product; 2] {
    [context.product, &context.arguments.old]
}
