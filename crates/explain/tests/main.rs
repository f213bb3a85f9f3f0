//! Tests of this crate.

mod any;
mod causes;
mod common;
mod faults;
mod good;
