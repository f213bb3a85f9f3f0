//! Beside Open vSwitch: whether ours decides as it does, and what it takes.

pub(super) mod compared;
pub(super) mod cost;
mod network;
