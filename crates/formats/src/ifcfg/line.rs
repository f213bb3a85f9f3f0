//! A line of a file.

use nicteam_syntax::At;

/// A line without its white space.
#[derive(Clone, Debug)]
pub(super) struct Line<'s> {
    pub(super) text: &'s str,
    pub(super) at: At,
}
