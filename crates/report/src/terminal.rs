//! Text for terminals: lines of a width, colours, and nothing that steers.

use std::fmt::Write;

/// How a terminal wants its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colour by ANSI escapes.
    pub color: bool,
    /// ASCII alone, for terminals that do not speak UTF-8.
    pub ascii: bool,
    /// Columns to stay within, 60 or more.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { color: false, ascii: false, width: 100 }
    }
}

pub(crate) const BOLD: &str = "1";
pub(crate) const DIM: &str = "2";
pub(crate) const GREEN: &str = "32";
pub(crate) const YELLOW: &str = "33";
pub(crate) const RED: &str = "31";

impl Style {
    /// The text in a colour, where the terminal wants any.
    pub(crate) fn paint(&self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Text from a file as a terminal may see it: no control characters; in ASCII
/// mode nothing else, either.
pub(crate) fn shown(text: &str, style: &Style) -> String {
    text.chars().map(|c| if c.is_control() || (style.ascii && !c.is_ascii()) { '?' } else { c }).collect()
}

/// At most so many characters.
pub(crate) fn cut(text: &str, width: usize, style: &Style) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let more = if style.ascii { "~" } else { "…" };
    text.chars().take(width.saturating_sub(1)).chain(more.chars()).collect()
}

/// Breaks a text into lines of at most so many characters, at blanks; a longer word stays whole.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one from the start");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            let blank = if line.is_empty() { "" } else { " " };
            let _ = write!(line, "{blank}{word}");
        }
    }
    lines
}

/// Adds a line, without blanks at its end.
pub(crate) fn put(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_long_words_stay_whole() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("a bbbbbbbb c", 4), ["a", "bbbbbbbb", "c"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert_eq!(shown("a\x1b[2Jb\n", &Style::default()), "a?[2Jb?");
        assert_eq!(shown("über", &Style { ascii: true, ..Style::default() }), "?ber");
        assert_eq!(cut("abcdef", 4, &Style::default()), "abc…");
        assert_eq!(cut("abcdef", 4, &Style { ascii: true, ..Style::default() }), "abc~");
    }
}
