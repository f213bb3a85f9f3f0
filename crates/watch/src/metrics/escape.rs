//! Values of labels as both formats want them.

use std::fmt::Write;

/// A label's value is cut behind so many bytes.
const LONGEST: usize = 256;

/// Appends a label's value: quotes, backslashes and line ends as the formats want it; other control characters written
/// out, so that a name steers no terminal; not longer than a name can be.
pub(super) fn escape(value: &str, text: &mut String) {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    if value.len() < LONGEST && value.bytes().all(is_plain) {
        return text.push_str(value);
    }
    let end = text.len() + LONGEST;
    for character in value.chars() {
        if text.len() >= end {
            text.push('…');
            break;
        }
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            steers if steers.is_control() => {
                let _ = write!(text, "\\\\u{{{:x}}}", u32::from(steers));
            }
            other => text.push(other),
        }
    }
}
