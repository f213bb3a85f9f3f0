//! Logical lines -> stanzas.

use nicteam_drafts::Reading;
use nicteam_drafts::names::shown;
use nicteam_syntax::At;

use super::lines::{Line, lines};
use super::sourced::Given;

/// A definition of a device: `iface bond0 inet static` and its options.
#[derive(Clone, Debug)]
pub(super) struct Stanza {
    pub(super) device: String,
    /// `inet`, `inet6`; empty where the stanza names none, as ifupdown2 and ifupdown-ng have it.
    pub(super) family: String,
    /// `static`, `manual`, `dhcp`.
    pub(super) method: String,
    /// True for what others alone inherit from.
    pub(super) is_template: bool,
    pub(super) head: Line,
    /// Those of its template, then its own.
    pub(super) options: Vec<Line>,
}

/// All of the sources.
#[derive(Debug, Default)]
pub(super) struct File {
    /// Those of devices, and while they are read those of templates, too.
    pub(super) stanzas: Vec<Stanza>,
    /// `auto`, `allow-hotplug` and their kin.
    pub(super) selections: Vec<Line>,
    /// `source`, `source-directory`.
    pub(super) sourced: Vec<Line>,
    /// `mapping`, `rename`.
    pub(super) names: Vec<Line>,
    /// Sources that ifupdown does not read.
    pub(super) unread: Vec<usize>,
}

impl Stanza {
    /// True for an option of the stanza that has this name, `-` and `_` being one.
    pub(super) fn has(&self, wanted: &str) -> bool {
        self.options.iter().any(|line| line.key() == wanted)
    }

    /// From its first line to its last.
    pub(super) fn at(&self) -> At {
        let own = self.options.iter().filter(|line| line.at.source == self.head.at.source);
        let end = own.map(|line| line.at.end).max();
        At { end: end.map_or(self.head.at.end, |end| end.max(self.head.at.end)), ..self.head.at.clone() }
    }

    /// The number of its last line.
    pub(super) fn last_line(&self, reading: &Reading<'_>) -> usize {
        let at = self.at();
        reading.line(&At { start: at.end.saturating_sub(1), ..at })
    }

    /// `iface bond0 inet static`.
    pub(super) fn title(&self) -> String {
        match self.family.as_str() {
            "" => format!("iface {}", self.device),
            family => format!("iface {} {family} {}", self.device, self.method),
        }
    }
}

/// Reads every source that ifupdown would read, each where it is named.
pub(super) fn read(reading: &mut Reading<'_>) -> File {
    let mut file = File::default();
    let mut given = Given::new(reading.sources());
    for root in given.roots() {
        read_source(reading, &mut file, &mut given, root);
    }
    file.stanzas.retain(|stanza| !stanza.is_template);
    file.unread = given.unread();
    file
}

fn read_source(reading: &mut Reading<'_>, file: &mut File, given: &mut Given<'_>, source: usize) {
    let Some(text) = given.open(source) else { return };
    let mut place = Inside::Nothing;
    for line in lines(source, text) {
        let named = given.named_by(&line);
        place = read_line(reading, file, line, place);
        named.into_iter().for_each(|named| read_source(reading, file, given, named));
    }
}

/// What the line before belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Stanza,
    /// A mapping, or a stanza whose first line is wrong: its lines are not looked at.
    Skipped,
}

fn read_line(reading: &mut Reading<'_>, file: &mut File, line: Line, inside: Inside) -> Inside {
    match line.name.as_str() {
        "iface" | "template" => return read_head(reading, file, line),
        "mapping" => {
            file.names.push(line);
            return Inside::Skipped;
        }
        "rename" => file.names.push(line),
        "source" | "source-directory" | "source-dir" => file.sourced.push(line),
        "auto" | "no-auto-down" | "no-scripts" => file.selections.push(line),
        name if name.starts_with("allow-") => file.selections.push(line),
        _ if inside == Inside::Stanza && line.value.is_empty() => {
            let hint = "a value follows; if the line goes on one above, that one ends with `\\`, and nothing behind it";
            reading.wrong(&line.at, format!("`{}` has no value", shown(&line.name)), hint);
            return inside;
        }
        _ if inside == Inside::Stanza => {
            if let Some(stanza) = file.stanzas.last_mut() {
                stanza.options.push(line);
            }
            return inside;
        }
        _ if inside == Inside::Skipped => return inside,
        _ => reading.wrong(
            &line.at,
            format!("`{}` stands in no stanza", shown(&line.name)),
            "options follow the line `iface NAME inet static` that they are of",
        ),
    }
    Inside::Nothing
}

/// `iface bond0 inet static`, `iface bond0 inherits fast`; ifupdown-ng's `template fast`.
fn read_head(reading: &mut Reading<'_>, file: &mut File, line: Line) -> Inside {
    match head(&line, &file.stanzas) {
        Ok(stanza) => {
            file.stanzas.push(stanza);
            Inside::Stanza
        }
        Err((message, at)) => {
            let hint = "a stanza begins with the device, the family and the method: `iface bond0 inet static`";
            reading.wrong(&at, message, hint);
            Inside::Skipped
        }
    }
}

/// A stanza with the options of its template, which stands ahead of it and is of the same family.
fn head(line: &Line, ahead: &[Stanza]) -> Result<Stanza, (String, At)> {
    let all = line.words();
    let word = |at: usize| all.get(at).map(|(word, _)| word.as_str());
    let Some(device) = word(0) else {
        return Err((format!("too few words behind `{}`", line.name), line.at.clone()));
    };
    let (family, behind) = match word(1) {
        None | Some("inherits") => ("", 1),
        Some(family) => (family, 2),
    };
    if !matches!(family, "" | "inet" | "inet6" | "ipx" | "can" | "x25" | "link" | "tunnel") {
        return Err((format!("`{}` is no family of addresses", shown(family)), all[1].1.clone()));
    }
    let (method, behind) = match word(behind) {
        None | Some("inherits") => (None, behind),
        Some(method) => (Some(method), behind + 1),
    };
    let template = match (word(behind), word(behind + 1)) {
        (Some("inherits"), Some(name)) => {
            let is_it = |of: &&Stanza| of.device == name && (family.is_empty() || of.family == family);
            let missing =
                || (format!("no stanza `{}` to inherit from stands ahead", shown(name)), all[behind + 1].1.clone());
            Some(ahead.iter().find(is_it).ok_or_else(missing)?)
        }
        (Some("inherits"), None) => return Err(("nothing follows `inherits`".to_owned(), all[behind].1.clone())),
        _ => None,
    };
    // Without any, of both families, by what stands in it.
    let otherwise = if family.is_empty() { "static" } else { "manual" };
    Ok(Stanza {
        device: device.to_owned(),
        family: template.map_or(family, |of| &of.family).to_owned(),
        method: method.unwrap_or_else(|| template.map_or(otherwise, |of| &of.method)).to_owned(),
        is_template: line.name == "template",
        head: line.clone(),
        options: template.map(|of| of.options.clone()).unwrap_or_default(),
    })
}
