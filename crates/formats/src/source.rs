//! Texts that are read, and places in them.

use std::fmt;

/// A text to be read: a file, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its path as it is shown; `-` for standard input.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A place in a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The path of its source.
    pub path: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path, self.line, self.column)
    }
}
