//! Beside Open vSwitch: what it takes.

pub(super) mod cost;
mod network;
