//! The ARP monitor under virtual time: a team, a switch, and targets that answer.
//!
//! `world` is switch and targets, `scenarios` the rules one by one.

mod scenarios;
mod world;
