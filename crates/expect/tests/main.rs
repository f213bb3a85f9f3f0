//! Figures, verdicts and records together.

mod common;
mod figures;
mod judge;
mod no_worse;
mod verdicts;
