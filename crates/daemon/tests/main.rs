//! Teams on hosts: in namespaces of the tests' own, over time.

mod above;
mod aggregation;
mod arp_monitor;
mod balance;
mod blocked;
mod changes;
mod common;
mod corpus;
mod failover;
mod inherit;
mod live;
mod members;
mod openvswitch;
mod openvswitch_faults;
mod options;
mod ownership;
mod partners;
mod proc;
mod redundant;
mod stripe;
mod stripe_liveness;
mod teamdctl;
