//! What a rule is.

use crate::finding::Finding;
use crate::view::View;

/// A rule.
pub trait Rule: Sync {
    /// What it finds; nothing where the facts do not say.
    fn find(&self, view: &View<'_>) -> Vec<Finding>;
}
