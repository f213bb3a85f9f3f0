//! Teams on hosts: in namespaces of the tests' own, over time.

mod common;
mod corpus;
mod teamdctl;

/// Measures a ratio or a time: nothing beside it.
mod alone {
    mod flood;
    mod redundant;
    mod stripe_liveness;
}

/// Mostly waits: many at once.
mod live {
    mod above;
    mod aggregation;
    mod arp_monitor;
    mod balance;
    mod blocked;
    mod changes;
    mod failover;
    mod inherit;
    mod links;
    mod members;
    mod openvswitch;
    mod openvswitch_faults;
    mod options;
    mod ownership;
    mod partners;
    mod proc;
    mod stripe;
}
