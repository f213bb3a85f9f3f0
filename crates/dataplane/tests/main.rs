//! Both dataplanes beside the plan, and each other.

mod bpf;
mod carrier;
mod common;
mod differential;
mod gaps;
mod lease;
mod mending;
mod packet;
mod queue;
mod redundant;
mod stripe;
mod vlan;
