//! Words of a command line.

use std::fmt;

/// A word, and where it stood. Two are equal if they read the same.
#[derive(Clone, Debug)]
pub struct Word {
    /// What it says.
    pub text: String,
    /// Its place among all words of the line, from 0.
    pub place: usize,
}

impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        self.text == other.text
    }
}

impl Eq for Word {}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A word as a shell reads it as one: in quotes where it needs them.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=:,.@%+/[]".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
