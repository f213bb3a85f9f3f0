//! The kernel's own bonding driver, in a guest, as the reference implementation.

/// Emulates a processor: one at a time, beside what waits.
mod guest {
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
}
