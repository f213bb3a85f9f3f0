//! The states of a member's link, in the kernel's words.

use std::fmt;

use nicteam_machine::state;

/// A member's state as the team sees it (the kernel's `MII Status` words).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// Carrier is there and `updelay` has passed.
    Up,
    /// Carrier is gone, `downdelay` has not passed: still used (`going down`).
    Fail,
    /// No carrier.
    Down,
    /// Carrier is back, `updelay` has not passed: not yet used (`going back`).
    Back,
}

state!(
    enum LinkState {
        Up,
        Fail,
        Down,
        Back,
    }
);

impl fmt::Display for LinkState {
    /// As `MII Status` in `/proc/net/bonding/NAME`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LinkState::Up => "up",
            LinkState::Fail => "going down",
            LinkState::Down => "down",
            LinkState::Back => "going back",
        })
    }
}
