//! Keys without which an event of a kind says nothing.

use crate::record::{Record, Span};
use nicteam_diagnostics::Problem;

/// True if an event of a kind has a key; if not, the problems say so, with this hint.
pub(super) fn required(
    record: &Record,
    (key, hint): (&str, &str),
    (kind, span): (&str, &Span),
    problems: &mut Vec<Problem>,
) -> bool {
    let has = record.has(key);
    if !has {
        problems.push(Problem::at(span, format!("`{key}` is missing of an event of kind `{kind}`")).hint(hint));
    }
    has
}
