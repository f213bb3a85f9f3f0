//! Tests of a host's network around its teams.

mod common;
mod managers;

/// Mostly waits: many at once.
mod live {
    mod networkd;
}
