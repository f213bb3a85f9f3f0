//! The control side of a team under virtual time.
//!
//! `shell` is a host whose team is checked, `world` drives it, `checks` holds what must be true
//! after every change, one property a function. `scenarios` goes through the
//! rules one by one, `balance` through those of balance-tlb and balance-alb, `aggregate` through
//! those of 802.3ad, `openvswitch` through Open vSwitch's, `change` through what a user changes, `failover` through what follows a
//! failover, `explore` through every short sequence of events, `random` through long ones.

mod aggregate;
mod balance;
mod change;
mod checks;
mod explore;
mod failover;
mod openvswitch;
mod pagp;
pub mod pair;
mod random;
mod scenarios;
mod shell;
pub mod world;
