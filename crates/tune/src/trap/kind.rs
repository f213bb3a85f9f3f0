//! What a trap is.

use std::fmt;

use crate::finding::Finding;
use crate::seen::Seen;

/// Something that is often wrong.
pub trait Trap: fmt::Debug + Sync {
    /// Its name, a word: `mtu`.
    fn name(&self) -> &'static str;

    /// What it is, for a heading.
    fn title(&self) -> &'static str;

    /// What was looked at, and how it is, in a sentence.
    fn looked(&self, seen: &Seen<'_>) -> String;

    /// What is wrong; empty: nothing, or nothing is known yet.
    fn check(&self, seen: &Seen<'_>) -> Vec<Finding>;
}
