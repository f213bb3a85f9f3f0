//! How the refusals of a check are printed.

use nicteam_host::Refusal;

use crate::say;

/// What is in the way, each with its cure.
pub(super) fn refused(refusals: &[Refusal]) -> String {
    let one = |refusal: &Refusal| format!("{}\nhint: {}", say::visible(&refusal.what), say::visible(&refusal.hint));
    refusals.iter().map(one).collect::<Vec<_>>().join("\n")
}
