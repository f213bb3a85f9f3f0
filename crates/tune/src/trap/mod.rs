//! What is often wrong: one file a trap, and one line in [`TRAPS`], in the order in which they are looked at. The
//! network below comes before what runs over it.

mod kind;
mod mtu;
mod offloads;
mod outstanding;
mod policy;
mod segments;
mod switches;
#[cfg(test)]
mod tests;
mod unequal;
mod write_cache;

pub use kind::Trap;

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
