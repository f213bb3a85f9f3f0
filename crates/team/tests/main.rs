//! Teams under virtual time.

mod arp;
mod control;
mod corpus;
mod failover;
mod lacp;
mod openvswitch;
mod replays;
mod sources;
mod stripe;
