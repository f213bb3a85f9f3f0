//! The text -> logical lines.

use std::sync::OnceLock;

use nicteam_scripts::commands;
use nicteam_syntax::At;

/// A line, with those that continue it.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Its first word.
    pub(super) name: String,
    pub(super) name_at: At,
    /// The rest, in one line.
    pub(super) value: String,
    pub(super) value_at: At,
    /// The whole.
    pub(super) at: At,
    /// What it does, if it runs commands.
    does: OnceLock<commands::Line>,
}

impl Line {
    /// The words behind the first, each with its place; of a line that is continued all have the place of the rest.
    pub(super) fn words(&self) -> Vec<(String, At)> {
        let is_whole = self.value_at.end - self.value_at.start == self.value.len();
        let mut from = 0;
        let word = |word: &str| {
            let start = self.value.get(from..).and_then(|rest| rest.find(word)).map_or(from, |found| from + found);
            from = start + word.len();
            let start = self.value_at.start + start;
            let at = At { source: self.at.source, start, end: start + word.len() };
            (word.to_owned(), if is_whole { at } else { self.value_at.clone() })
        };
        self.value.split_whitespace().map(word).collect()
    }

    /// True if it runs a command when the device comes up.
    pub(super) fn runs(&self) -> bool {
        matches!(self.name.as_str(), "up" | "post-up" | "pre-up")
    }

    /// True if it runs one when the device goes.
    pub(super) fn undoes(&self) -> bool {
        matches!(self.name.as_str(), "down" | "pre-down" | "post-down")
    }

    /// What its commands do, with this device for `$IFACE`.
    pub(super) fn does(&self, device: &str) -> &commands::Line {
        self.does.get_or_init(|| commands::read(&self.value, device))
    }

    /// The name as the hooks see it: without case, and with `_` for `-`.
    pub(super) fn key(&self) -> String {
        self.name.to_ascii_lowercase().replace('-', "_")
    }
}

/// Lines that say something, in their order. A `#` begins a comment at the beginning of a line alone.
pub(super) fn lines(source: usize, text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut parts: Vec<(usize, &str)> = Vec::new();
    for raw in text.split_inclusive('\n') {
        let (at, content) = (start, raw.strip_suffix('\n').unwrap_or(raw));
        start += raw.len();
        let is_first = parts.is_empty();
        if is_first && (content.trim_start().is_empty() || content.trim_start().starts_with('#')) {
            continue;
        }
        // Behind white space it is a word.
        match content.strip_suffix('\\') {
            Some(goes_on) => parts.push((at, goes_on)),
            None => {
                parts.push((at, content.trim_end()));
                found.extend(line(source, &std::mem::take(&mut parts)));
            }
        }
    }
    found.extend(line(source, &parts));
    found
}

fn line(source: usize, parts: &[(usize, &str)]) -> Option<Line> {
    let (first_at, first) = *parts.first()?;
    let (last_at, last) = *parts.last()?;
    let indent = first.len() - first.trim_start().len();
    let name = first.split_whitespace().next()?;
    let name_start = first_at + indent;
    let behind = &first[indent + name.len()..];
    let value_start = name_start + name.len() + (behind.len() - behind.trim_start().len());
    let end = (last_at + last.trim_end().len()).max(name_start + name.len());
    let joined: String = std::iter::once(behind).chain(parts[1..].iter().map(|(_, part)| *part)).collect();
    Some(Line {
        name: name.to_owned(),
        name_at: At::new(source, name_start..name_start + name.len()),
        value: joined.trim().to_owned(),
        value_at: At::new(source, value_start.min(end)..end),
        at: At::new(source, name_start..end),
        does: OnceLock::new(),
    })
}
