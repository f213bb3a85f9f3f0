//! Teams under virtual time.

mod arp;
mod buckets;
mod common;
mod control;
mod corpus;
mod drawn;
mod failover;
mod hash;
mod hash_kernel;
mod lacp;
mod openvswitch;
mod plan;
mod replays;
mod sources;
mod stripe;
