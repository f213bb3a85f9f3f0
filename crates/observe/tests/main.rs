//! Tests of this crate.

mod live;
