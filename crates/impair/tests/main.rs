//! What a link does to frames, by numbers.

mod properties;
mod statistics;
