//! Sources -> files, of which several may stand in one source, and their lines.

use nicteam_syntax::At;
use nicteam_syntax::Source;
use nicteam_syntax::shell::line_end;

use super::assignment::{Assignment, Earlier, Stray};
use super::line::Line;

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `ifcfg-bond0`: of this device, if it does not say another.
    Interface(String),
    /// `route-bond0`, `route6-bond0`.
    Routes(String),
    /// SUSE's `routes`, and `ifroute-bond0` of this device.
    Table(Option<String>),
    /// `rule-bond0`, `rule6-bond0`.
    Rules(String),
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

/// What a file of this path is.
pub(super) fn kind(path: &str) -> Option<Kind> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let of = |prefix: &str| name.strip_prefix(prefix).filter(|device| !device.is_empty()).map(str::to_owned);
    if let Some(device) = of("ifcfg-") {
        Some(Kind::Interface(device))
    } else if let Some(device) = of("route-").or_else(|| of("route6-")) {
        Some(Kind::Routes(device))
    } else if let Some(device) = of("rule-").or_else(|| of("rule6-")) {
        Some(Kind::Rules(device))
    } else if let Some(device) = of("ifroute-") {
        Some(Kind::Table(Some(device)))
    } else if name == "routes" {
        Some(Kind::Table(None))
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
        // `routes` is a word of its own.
        kind(word.trim_end_matches(':')).filter(|kind| *kind != Kind::Table(None) || word.contains('/'))
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

    /// The same, where a value that has its quotes over several lines is one.
    pub(super) fn statements(&self) -> Vec<Line<'s>> {
        let mut found = Vec::new();
        let mut next = 0;
        while let Some(rest) = self.text.get(next..).filter(|rest| !rest.is_empty()) {
            let raw = &rest[..line_end(rest)];
            let text = raw.trim();
            let start = self.start + next + (raw.len() - raw.trim_start().len());
            next += raw.len() + 1;
            if !text.is_empty() && !text.starts_with('#') {
                found.push(Line { text, at: At::new(self.source, start..start + text.len()) });
            }
        }
        found
    }

    /// What it assigns, and what in it is no assignment.
    pub(super) fn assignments(&self) -> (Vec<Assignment>, Vec<Stray>) {
        let (mut entries, mut strays, mut earlier) = (Vec::new(), Vec::new(), Earlier::default());
        for line in self.statements() {
            match earlier.assignment(&line) {
                Ok(entry) => entries.push(entry),
                Err(stray) => strays.push(stray),
            }
        }
        (entries, strays)
    }
}
