//! The kernel's own bonding driver, in a guest, as the reference implementation.

mod boot;
mod cables;
mod choose;
mod counted;
mod lacp;
mod members;
mod options;
mod proc;
mod shares;
mod traces;
