//! Which of a team's eBPF programs there are.

use nicteam_team::Mode;

/// What the programs are made for: the verifier's walk through what a team does
/// not do would take most of the time in which the team is set up, and the maps of stripe most of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Programs {
    /// Every mode but stripe.
    WithoutStripe,
    /// Every mode.
    WithStripe,
}

impl Programs {
    /// Those that the plans of a mode need.
    pub fn of(mode: Mode) -> Programs {
        if mode.stripes() { Programs::WithStripe } else { Programs::WithoutStripe }
    }
}
