//! Tests of a host's network around its teams.

mod common;
mod doctor;
mod managers;
mod service;

/// Mostly waits: many at once.
mod live {
    mod crashes;
    mod listening;
    mod networkd;
    mod objects;
}
