//! Values as teamd takes them, and keys that it does not know.

use nicteam_diagnostics::{Problem, list, nearest};
use nicteam_syntax::tree::{Entry, Node, Value};

pub(super) fn unknown(entry: &Entry, key: &str, known: &[&str]) -> Problem {
    let problem = Problem::at(&entry.key_span, format!("teamd has no `{key}` here"));
    match nearest(key, known.iter().copied()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(format!("there is {}", list(known.iter().copied()))),
    }
}

/// `true` or `false`.
pub(super) fn boolean(entry: &Entry) -> Result<bool, Problem> {
    match entry.value.text(&entry.key)? {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(Problem::at(&entry.value.span, format!("`{other}` is no value for `{}`", entry.key))
            .hint("`true` or `false`")),
    }
}

/// The runner's mode; teamd's own default is `roundrobin`.
/// The elements of a value that may be one, or a list of them.
pub(super) fn one_or_more(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(elements) => elements,
        _ => std::slice::from_ref(node),
    }
}
