//! Tests of this crate.

mod common;

/// Mostly waits: many at once.
mod live {
    mod explained;
    mod planted;
    mod read;
}
