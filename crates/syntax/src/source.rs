//! Texts that are read, and places in them.

use std::fmt;
use std::sync::OnceLock;

use nicteam_diagnostics::Problem;

use crate::shell::{self, Command};

/// A text to be read: a file, or standard input. To change the text, make a new value: its commands are cached.
#[derive(Clone)]
pub struct Source {
    /// Its path as it is shown; `-` for standard input.
    pub path: String,
    /// Its text.
    pub text: String,
    /// What a shell would carry out of it: several formats ask, to recognise it and to read it.
    commands: OnceLock<Result<Vec<Command>, Problem>>,
}

impl Source {
    /// A text of this path.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Source {
        Source { path: path.into(), text: text.into(), commands: OnceLock::new() }
    }

    /// Its commands, if it is a script.
    ///
    /// # Errors
    /// It is none: a quote that is not closed, loops without end.
    pub fn commands(&self) -> Result<&[Command], &Problem> {
        self.commands.get_or_init(|| shell::commands(&self.text)).as_deref()
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Source) -> bool {
        (&self.path, &self.text) == (&other.path, &other.text)
    }
}

impl Eq for Source {}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("path", &self.path).field("text", &self.text).finish_non_exhaustive()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_carried_out_once() {
        let source = Source::new("-", "for i in 0 1; do ip link set eth$i master bond0; done\n");
        let (first, second) = (source.commands().unwrap(), source.commands().unwrap());
        assert_eq!(first.len(), 2);
        assert!(std::ptr::eq(first, second));
    }
}
