//! Tests of this crate.

mod corpus;
mod read;
