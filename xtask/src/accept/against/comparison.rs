//! What two programs are compared with.

use std::path::Path;

use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::Bound;
use crate::part::Context;
use crate::product::Product;

/// What two programs are compared with.
pub(crate) struct Comparison {
    /// The program of before.
    pub(super) old: Product,
    /// How often both are measured.
    pub(super) rounds: u32,
    /// How long each run is measured, whole seconds.
    pub(super) seconds: u32,
}

impl Comparison {
    /// With this program.
    pub(crate) fn with(binary: &Path, arguments: &Arguments) -> Result<Comparison, Failure> {
        let Arguments { rounds, seconds, .. } = *arguments;
        Ok(Comparison { old: Product::at(binary)?, rounds, seconds })
    }
}

/// What is no worse, new / old.
pub(super) const NO_WORSE: Bound = Bound::LowerEnd(0.97);

/// The new program and the old one.
pub(super) fn programs<'a>(context: &'a Context<'_, Comparison>) -> [&'a Product; 2] {
    [context.product, &context.arguments.old]
}
