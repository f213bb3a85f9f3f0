//! `KEY=value`, as a shell reads it.

use std::collections::BTreeMap;

use nicteam_syntax::At;
use nicteam_syntax::shell::{self, NoValue};
use nicteam_syntax::unescaped::Unescaped;

use super::line::Line;

/// An assignment, without quotes.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) key: String,
    pub(crate) value: String,
    /// Of each byte of the value, where it stands.
    pub(crate) spans: Vec<std::ops::Range<usize>>,
    pub(crate) value_at: At,
    pub(crate) at: At,
}

/// A line that is no assignment, or one whose value is not in it.
#[derive(Clone, Debug)]
pub(super) struct Stray {
    pub(super) at: At,
    /// What it assigns, if it does.
    pub(super) key: Option<String>,
    pub(super) why: &'static str,
}

/// Bytes that variables may add to a file.
const MOST_EXPANDED: usize = 1 << 20;
const NO_ASSIGNMENT: &str = "only a shell can say what this is: write `KEY=value`";
const NEEDS_A_SHELL: &str = "only a shell can tell this value: write the value itself";
const LONG: &str = "variables make more than 1 MiB of this file: write the value itself";
const OPEN: &str = "the quote is not closed: end the value with the quote that it begins with";

/// What was assigned so far.
#[derive(Default)]
pub(super) struct Earlier {
    values: BTreeMap<String, String>,
    /// Bytes that variables have made.
    made: usize,
}

impl Earlier {
    /// An assignment; its variables are those of the earlier ones.
    pub(super) fn assignment(&mut self, line: &Line<'_>) -> Result<Assignment, Stray> {
        let text = line.text.strip_prefix("export ").unwrap_or(line.text).trim_start();
        let is_name = |key: &&str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let Some((key, rest)) = text.split_once('=').filter(|(key, _)| is_name(key)) else {
            return Err(Stray { at: line.at.clone(), key: None, why: NO_ASSIGNMENT });
        };
        let start = line.at.end - rest.len();
        let known = |name: &str| self.values.get(name).map(String::as_str);
        let read = shell::value(rest, known, rest.len() + MOST_EXPANDED.saturating_sub(self.made));
        let why = match read {
            Ok((value, length)) => {
                let Unescaped { text, spans } = value.moved(start);
                let value_at = At { source: line.at.source, start, end: start + length };
                self.made += text.len().saturating_sub(rest.len());
                self.values.insert(key.to_owned(), text.clone());
                return Ok(Assignment { key: key.to_owned(), value: text, spans, value_at, at: line.at.clone() });
            }
            Err(NoValue::More) => NO_ASSIGNMENT,
            Err(NoValue::Open) => OPEN,
            Err(NoValue::Unknown) => NEEDS_A_SHELL,
            Err(NoValue::Long) => LONG,
        };
        Err(Stray { at: line.at.clone(), key: Some(key.to_owned()), why })
    }
}
