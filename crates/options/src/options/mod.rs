//! The options by name: what each takes, where it is kept, and which go together.

mod arp;
mod balance;
mod check;
mod failover;
mod lacp;
mod openvswitch;
mod option;
mod stripe;
mod table;
mod text;

pub use option::ConfigOption;
