//! Tests of this crate.

mod any;
mod common;
mod faults;
mod good;
