//! Paths with a wrong MTU somewhere, live.

/// Mostly waits: many at once.
mod live {
    mod path;
}
