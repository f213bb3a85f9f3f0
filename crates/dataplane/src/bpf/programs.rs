//! Which of a team's programs there are.

/// What the programs are made for: the verifier's walk through what a team does
/// not do would take most of the time in which the team is set up, and the maps of stripe most of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Programs {
    /// Every mode but stripe.
    WithoutStripe,
    /// Every mode.
    WithStripe,
}
