//! What is often wrong: one file a trap, and one line in [`TRAPS`], in the order in which they are looked at. The network below comes
//! before what runs over it.

mod mtu;
mod offloads;
mod outstanding;
mod policy;
mod segments;
mod switches;
mod unequal;
mod write_cache;

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

/// All of them.
pub static TRAPS: [&dyn Trap; 8] = [
    &mtu::Mtu,
    &switches::Switches,
    &write_cache::WriteCache,
    &outstanding::Outstanding,
    &segments::Segments,
    &policy::PathPolicy,
    &unequal::UnequalPaths,
    &offloads::Offloads,
];
