//! Both dataplanes beside the plan, and each other.

mod common;
mod layout;

/// Mostly waits: many at once.
mod live {
    mod bpf;
    mod buckets;
    mod carrier;
    mod differential;
    mod failover;
    mod gaps;
    mod gso;
    mod lease;
    mod others;
    mod packet;
    mod peers;
    mod plain;
    mod queue;
    mod redundant;
    mod retransmissions;
    mod stripe;
    mod vlan;
}
