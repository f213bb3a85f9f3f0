//! What Open vSwitch's own tests of bonds ask, asked of a team under virtual time: docs/ovs-cases.md has their names beside ours.
//! The cases are theirs, the code is ours.

mod active_backup;
mod balance_slb;
mod balance_tcp;
mod fallback;
mod net;
mod rebalancing;
