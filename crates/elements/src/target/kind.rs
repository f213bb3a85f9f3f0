//! What a kind of target says of itself.

use serde_json::Value;

use super::access::{Access, Medium, Target};
use crate::keys::Key;
use crate::record::{At, Record, Span};
use nicteam_diagnostics::Problem;

/// A kind of target in the file.
pub(super) struct Kind {
    /// As the file has it.
    pub name: &'static str,
    /// The keys that it adds to those that all targets have.
    pub keys: &'static [Key],
    /// How a target of this kind is served; none if something is wrong.
    pub resolve: fn(&mut Said<'_, '_>) -> Option<Service>,
}

/// What the file says of one target.
pub(super) struct Said<'a, 'p> {
    /// Its name.
    pub name: &'a At<String>,
    pub record: &'a Record,
    /// Those that its host serves already.
    pub beside: &'a [&'a Target],
    /// Where its kind stands.
    pub kind: &'a Span,
    pub problems: &'p mut Vec<Problem>,
}

/// How a target is served.
pub(super) struct Service {
    pub access: Access,
    pub medium: Medium,
    pub words: String,
    pub settings: Value,
}
