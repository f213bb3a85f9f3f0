//! Repeated measurements: their middle and how far it can be trusted ([`Estimate`]), whether two sets of them
//! differ ([`Comparison`]), which of them stand apart ([`outliers`]), and how evenly rates are shared
//! ([`jain_index`]). And how often a hash does by chance what was seen ([`part_by_chance`]).
//!
//! Nothing here assumes how samples scatter: a machine that others use spoils single ones, always to one side. So
//! there are medians instead of means, and tests by ranks instead of tests by variances.
//!
//! ```
//! use nicteam_statistics::{Comparison, Verdict};
//!
//! let before = [94.1, 94.0, 94.2, 94.1, 93.9, 94.0, 94.1, 94.2];
//! let after: Vec<f64> = before.iter().map(|mbps| mbps * 1.05).collect();
//! let comparison = Comparison::of_pairs(&before, &after).unwrap();
//! assert_eq!(comparison.verdict(Comparison::HEADLINE), Verdict::Higher);
//! assert!((comparison.middle - 1.05).abs() < 1e-9);
//! ```
#![forbid(unsafe_code)]

mod chance;
mod comparison;
mod estimate;
mod fairness;
mod outliers;
mod ranks;

pub use chance::{all_by_chance, odds, part_by_chance};
pub use comparison::{Comparison, Scale, Verdict, hold_together};
pub use estimate::{Estimate, median};
pub use fairness::jain_index;
pub use outliers::outliers;
