//! Teams on hosts: in namespaces of the tests' own, over time.

mod common;
mod corpus;
mod teamdctl;

/// Measures a ratio or a time: nothing beside it.
mod alone {
    mod redundant;
}

/// Mostly waits: many at once.
mod live {
    mod aggregation;
    mod arp_monitor;
    mod balance;
    mod blocked;
    mod bonds;
    mod changes;
    mod device;
    mod failover;
    mod filtered;
    mod inherit;
    mod links;
    mod members;
    mod one_sided;
    mod openvswitch;
    mod openvswitch_faults;
    mod options;
    mod ownership;
    mod partners;
    mod proc;
    mod stripe;
    mod unplugged;
    mod upper_devices;
}

/// Counts lost frames at moments that a busy machine would move: a few at once, and nothing that computes beside them.
mod quiet {
    mod flood;
    mod repairs;
    mod stripe_liveness;
}
