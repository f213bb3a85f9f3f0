//! Values of labels as both formats want them.

use std::fmt::Write;

/// A label's value is cut behind so many bytes.
const LONGEST: usize = 256;

/// A label's value: quotes, backslashes and line ends as the formats want it; other control characters written out, so
/// that a name steers no terminal; not longer than a name can be.
pub(super) fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        if text.len() >= LONGEST {
            text.push('…');
            break;
        }
        match character {
            '\\' => text += "\\\\",
            '"' => text += "\\\"",
            '\n' => text += "\\n",
            steers if steers.is_control() => {
                let _ = write!(text, "\\\\u{{{:x}}}", u32::from(steers));
            }
            other => text.push(other),
        }
    }
    text
}
