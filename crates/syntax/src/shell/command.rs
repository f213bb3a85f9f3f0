//! A command of a text, and its words.

use std::ops::Range;

use nicteam_diagnostics::Problem;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Without quotes, variables with their values.
    pub text: String,
    /// Bytes of the text, with them.
    pub span: Range<usize>,
    /// What the shell would put something for that is not known here: `$1`.
    pub unknown: Option<String>,
    /// True where the text sets it, to something else that is not known.
    pub is_set: bool,
}

/// A command with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Its words, one at least: the program's name first, without its folder; without `sudo` and its kin.
    pub words: Vec<Word>,
    /// Where its output goes, if that is a file.
    pub output: Option<Word>,
    /// True within `if`, `while` and `case`, and behind `||` and a test.
    pub is_conditional: bool,
    /// Its here-document, read as commands.
    pub input: Vec<Command>,
}

impl Command {
    /// The program.
    pub fn name(&self) -> &str {
        self.words.first().map_or("", |word| word.text.as_str())
    }

    /// Its arguments.
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// All of it in the text.
    pub fn span(&self) -> Range<usize> {
        let all = self.words.iter().chain(&self.output).map(|word| &word.span);
        let start = all.clone().map(|span| span.start).min().unwrap_or(0);
        start..all.map(|span| span.end).max().unwrap_or(start)
    }

    /// What stands in its words, in one piece: the names of devices that it is about.
    pub fn pieces(&self) -> Vec<String> {
        let parts = |word: &Word| -> Vec<String> {
            let parts = word.text.split(|c: char| !(c.is_alphanumeric() || "-_.:".contains(c)));
            // `net.ipv4.conf.bond0.rp_filter`.
            parts
                .flat_map(|part| std::iter::once(part).chain(part.split('.')))
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect()
        };
        self.words.iter().chain(&self.output).flat_map(parts).collect()
    }

    /// What the text does not say, if there is something: an error that names it, at its word.
    pub fn unknown(&self) -> Option<Problem> {
        let word = self.words.iter().chain(&self.output).find(|word| word.unknown.is_some())?;
        let unknown = word.unknown.as_deref()?;
        let problem = Problem::at(&word.span, format!("this text does not say what `{unknown}` is"));
        let name = unknown.trim_start_matches('$');
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        Some(match is_name {
            true if word.is_set => problem
                .hint("a condition, or what only a shell knows, decides its value: write it at the line that sets it"),
            true => problem.hint(format!("write its value there, or a line `{name}=VALUE` at the beginning")),
            false => problem.hint("write its value there"),
        })
    }
}
