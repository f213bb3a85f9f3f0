//! Sources -> files, of which several may stand in one source; and the assignments of a file.

use crate::Source;
use crate::reading::At;

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `ifcfg-bond0`: of this device, if it does not say another.
    Interface(String),
    /// `route-bond0`, `route6-bond0`.
    Routes(String),
    /// `/etc/modprobe.conf`, `/etc/modprobe.d/*.conf`.
    Modprobe,
    /// `rc.local`.
    Script,
    /// `/etc/sysconfig/network`.
    Global,
}

/// A file.
#[derive(Clone, Debug)]
pub(super) struct Part<'s> {
    pub(super) kind: Kind,
    source: usize,
    /// Byte of the source at which it begins.
    start: usize,
    text: &'s str,
}

/// A line without its white space.
#[derive(Clone, Debug)]
pub(super) struct Line<'s> {
    pub(super) text: &'s str,
    pub(super) at: At,
}

/// `KEY=value`, without quotes.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) value_at: At,
    pub(crate) at: At,
}

/// What a file of this path is.
pub(super) fn kind(path: &str) -> Option<Kind> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let of = |prefix: &str| name.strip_prefix(prefix).filter(|device| !device.is_empty()).map(str::to_owned);
    if let Some(device) = of("ifcfg-") {
        Some(Kind::Interface(device))
    } else if let Some(device) = of("route-").or_else(|| of("route6-")) {
        Some(Kind::Routes(device))
    } else if name == "modprobe.conf" || name == "modules.conf" || path.contains("modprobe.d/") {
        Some(Kind::Modprobe)
    } else if matches!(name, "rc.local" | "boot.local") {
        Some(Kind::Script)
    } else if path.ends_with("sysconfig/network") {
        Some(Kind::Global)
    } else {
        None
    }
}

/// The files of all sources.
pub(super) fn parts(sources: &[Source]) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    for (source, text) in sources.iter().enumerate() {
        match kind(&text.path) {
            Some(kind) => found.push(Part { kind, source, start: 0, text: &text.text }),
            None => split(&mut found, source, &text.text),
        }
    }
    found
}

/// A text of several files, each below `# NAME`.
fn split<'s>(found: &mut Vec<Part<'s>>, source: usize, text: &'s str) {
    let marker = |line: &str| {
        let comment = line.trim_start().strip_prefix('#')?;
        let word = comment.split_whitespace().next()?;
        kind(word.trim_end_matches(':'))
    };
    let mut open = (Kind::Interface(String::new()), 0);
    let mut next = 0;
    let mut close = |(kind, start): (Kind, usize), end: usize| {
        if let Some(text) = text.get(start..end).filter(|text| !text.trim().is_empty()) {
            found.push(Part { kind, source, start, text });
        }
    };
    for line in text.split_inclusive('\n') {
        if let Some(kind) = marker(line) {
            close(std::mem::replace(&mut open, (kind, next)), next);
        }
        next += line.len();
    }
    close(open, next);
}

impl<'s> Part<'s> {
    /// Its first byte.
    pub(super) fn at(&self) -> At {
        At::new(self.source, self.start..self.start)
    }

    /// Its lines that are neither empty nor comments.
    pub(super) fn lines(&self) -> Vec<Line<'s>> {
        let mut next = self.start;
        let mut found = Vec::new();
        for raw in self.text.split_inclusive('\n') {
            let text = raw.trim();
            let start = next + (raw.len() - raw.trim_start().len());
            next += raw.len();
            if !text.is_empty() && !text.starts_with('#') {
                found.push(Line { text, at: At::new(self.source, start..start + text.len()) });
            }
        }
        found
    }
}

/// `KEY=value` as a shell reads it; `None` if the line is something else, or needs a shell.
pub(super) fn assignment(line: &Line<'_>) -> Option<Assignment> {
    let text = line.text.strip_prefix("export ").unwrap_or(line.text);
    let (key, rest) = text.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if key.is_empty() || !key.chars().all(is_name) {
        return None;
    }
    let (value, length) = unquoted(rest)?;
    let start = line.at.end - rest.len();
    Some(Assignment {
        key: key.to_owned(),
        value,
        value_at: At { source: line.at.source, start, end: start + length },
        at: line.at.clone(),
    })
}

/// The word at the beginning, and its length with its quotes. `None` if more than a comment follows, or something that
/// only a shell can find out.
fn unquoted(text: &str) -> Option<(String, usize)> {
    let (mut out, mut quote, mut end) = (String::new(), None, text.len());
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => quote = Some(c),
            ('$' | '`', None | Some('"')) => return None,
            ('\\', None | Some('"')) => out.extend(characters.next().map(|(_, c)| c)),
            (c, None) if c.is_whitespace() || c == ';' => {
                end = at;
                break;
            }
            (c, _) => out.push(c),
        }
    }
    let rest = text.get(end..).unwrap_or("").trim_start_matches(';').trim_start();
    (quote.is_none() && (rest.is_empty() || rest.starts_with('#'))).then_some((out, end))
}
