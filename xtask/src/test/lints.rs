//! The lints: `scripts/test.sh` builds by their driver, so what they found stands among the build's messages.

use std::collections::BTreeSet;

use serde_json::Value;

/// What the lints, and the compiler, warn of; once each, though a crate is built with its tests and without.
pub(crate) fn found(messages: &str) -> BTreeSet<String> {
    messages.lines().filter_map(warning).collect()
}

/// The warning that a message is, as cargo would print it.
fn warning(message: &str) -> Option<String> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_warning = message["reason"] == "compiler-message" && message["message"]["level"] == "warning";
    // The count at a crate's end has no place of its own.
    let has_place = message["message"]["spans"].as_array().is_some_and(|spans| !spans.is_empty());
    (is_warning && has_place).then(|| message["message"]["rendered"].as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_found_once() {
        let message = |level: &str, spans: &str, rendered: &str| {
            format!(
                r#"{{"reason":"compiler-message","message":{{"level":"{level}","spans":{spans},"rendered":"{rendered}"}}}}"#
            )
        };
        let messages = [
            message("warning", "[{}]", "unused import"),
            message("warning", "[{}]", "unused import"),
            message("warning", "[]", "1 warning emitted"),
            message("note", "[{}]", "a note"),
            r#"{"reason":"compiler-artifact"}"#.to_owned(),
        ];
        assert_eq!(found(&messages.join("\n")), BTreeSet::from(["unused import".to_owned()]));
    }
}
