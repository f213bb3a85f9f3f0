//! Tests of this crate.

mod common;
mod faults;
mod good;
