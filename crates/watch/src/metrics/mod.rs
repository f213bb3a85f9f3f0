//! Metrics of bundles, for Prometheus and whatever reads its formats.
//!
//! [`registry`] names every metric; docs/metrics.md has the same table. [`collect()`] makes values from a snapshot, [`encode()`]
//! writes them, [`http`] hands them out.

mod collect;
mod encode;
mod escape;
pub mod http;
pub mod registry;
pub mod textfile;

pub use collect::{Exporter, Values, collect, kind_name};
pub use encode::{Format, encode};
pub use registry::{Metric, Type};
