//! Paths with a wrong MTU somewhere, live.

mod imports;

/// Mostly waits: many at once.
mod live {
    mod path;
}
