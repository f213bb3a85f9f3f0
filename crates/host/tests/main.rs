//! Tests of a host's network around its teams.

mod common;
mod doctor;
mod managers;

/// Mostly waits: many at once.
mod live {
    mod listening;
    mod networkd;
}
