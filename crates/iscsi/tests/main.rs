//! Sessions with targets.

/// tgt, over the loopback device of a namespace of the test's own. Mostly waits: many at once.
mod live {
    mod broken;
    mod common;
    mod fence;
    mod impatient;
    mod transfer;
}
