//! The reference implementations: the kernel's own bonding driver, in a guest, and Open vSwitch's daemon.

/// The guest burns a processor: one at a time, beside what waits.
mod guest {
    mod boot;
    mod cables;
    mod counted;
    mod options;
    mod shares;
}

/// The guest mostly waits, for the timers of its driver and for frames: several at once.
mod live {
    mod choose;
    mod lacp;
    mod members;
    mod openvswitch;
    mod proc;
    mod traces;
}
