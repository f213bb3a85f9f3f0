//! What the machine has and does: its processors, its memory, and what they were busy with in a measured window.
#![forbid(unsafe_code)]

pub mod cpu;
mod load;

pub use load::{Load, share};
