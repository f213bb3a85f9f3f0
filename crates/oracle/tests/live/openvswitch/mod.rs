//! Open vSwitch as the reference implementation: a real `ovs-vswitchd`, asked over one connection.

mod events;
mod flow;
mod hash;
mod rebalance;
mod reflections;
mod theirs;
