//! Traffic. One file a kind: what it needs, how it runs, what it yields.

pub(crate) mod tcp;
