//! Lines of the files that are made of sections and settings: systemd's, NetworkManager's, ifcfg's.

use nicteam_formats::{Place, Source};

/// A line `key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// The name between brackets; empty ahead of the first.
    pub(super) section: String,
    /// Which section of the file it is in, counted from 1: two may have one name.
    pub(super) block: usize,
    pub(super) key: String,
    pub(super) value: String,
    pub(super) place: Place,
}

/// The settings of a file, in their order. Lines that are none are left out, as their programs do (they say so in their logs).
pub(super) fn settings(source: &Source) -> Vec<Setting> {
    let (mut section, mut block) = (String::new(), 0);
    let mut settings = Vec::new();
    for (line, text) in joined(&source.text) {
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.to_owned();
            block += 1;
        } else if let Some((key, value)) = trimmed.split_once('=') {
            let column = text.chars().take_while(|of| of.is_whitespace()).count() + 1;
            settings.push(Setting {
                section: section.clone(),
                block,
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
                place: Place { path: source.path.clone(), line, column },
            });
        }
    }
    settings
}

/// Lines with the number of the first, joined where one ends with a backslash (systemd.syntax(7)); a comment among them is
/// left out.
fn joined(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in text.lines().enumerate() {
        if goes_on && line.trim_start().starts_with(['#', ';']) {
            continue;
        }
        let is_comment = line.trim_start().starts_with(['#', ';']);
        let (part, more) = match line.strip_suffix('\\') {
            Some(part) if !is_comment => (part, true),
            _ => (line, false),
        };
        match lines.last_mut().filter(|_| goes_on) {
            Some((_, before)) => *before = format!("{before} {part}"),
            None => lines.push((number + 1, part.to_owned())),
        }
        goes_on = more;
    }
    lines
}

/// True for what systemd and NetworkManager take for yes.
pub(super) fn is_yes(value: &str) -> bool {
    ["1", "yes", "y", "true", "t", "on"].iter().any(|yes| yes.eq_ignore_ascii_case(value))
}

/// True for what they take for no.
pub(super) fn is_no(value: &str) -> bool {
    ["0", "no", "n", "false", "f", "off"].iter().any(|no| no.eq_ignore_ascii_case(value))
}
