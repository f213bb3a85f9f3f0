//! Who hears of steps, and the changes that were made.

use std::fmt;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// How many steps were taken, those among them that found nothing to change.
    pub steps: usize,
    /// Each change, as a sentence; none if there was nothing to do.
    pub changes: Vec<String>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Whom steps are told.
pub struct Watch<'a>(pub &'a mut dyn FnMut(usize, &str));

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}
