//! Tables, explanations and pages made from a record.
//!
//! Three views of one outcome: [`table()`] for the terminal, [`html()`] for a
//! browser, and [`explain()`], which both use: one plain sentence a run about
//! what set the limit, computed from the counters and the hash alone. Nothing
//! here measures anything, and no name of an experiment or run is looked at.
#![forbid(unsafe_code)]

mod bars;
mod explain;
mod fairness;
mod html;
mod series;
mod svg;
mod table;
mod units;
mod view;

pub use explain::{Explanation, Side, explain};
pub use fairness::jain_index;
pub use html::{html, page};
pub use table::{Style, table};
