//! LACP under virtual time.
//!
//! `system` is what speaks LACP (and a `twin` of it, a team that is recorded), `net` systems and cables; `world` drives it and shows every
//! observation to the checkers, which hold one property each. `pairs` brings
//! two systems up and down, `stall` stops and replaces them, `cases` and `peers` go through the rules one by
//! one, `markers` moves flows, `explore` goes through every short sequence of
//! events, `random` through long ones.

mod cases;
mod checkers;
mod explore;
mod markers;
mod net;
mod pairs;
mod peers;
mod random;
mod stall;
mod system;
mod twin;
mod world;
