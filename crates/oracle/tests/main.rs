//! The kernel's own bonding driver, in a guest, as the reference implementation.

/// The guest burns a processor: one at a time, beside what waits.
mod guest {
    mod boot;
    mod cables;
    mod choose;
    mod counted;
    mod options;
    mod shares;
}

/// The guest mostly waits, for the timers of its driver: several at once.
mod live {
    mod lacp;
    mod members;
    mod proc;
    mod traces;
}
