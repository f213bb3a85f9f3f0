//! `xtask accept --against OLD_BINARY`: two programs, interleaved. The new one is no worse if it is at least 0.97
//! of the old one with 95 % probability, takes no instruction more, and loses no more.

mod comparison;
mod instructions;
mod stall;
mod stripe;
mod throughput;

use crate::part::Part;

pub(super) use comparison::Comparison;

/// The parts, in the order in which they are measured.
pub(super) const PARTS: [&Part<Comparison>; 4] = [&throughput::PART, &stripe::PART, &stall::PART, &instructions::PART];
