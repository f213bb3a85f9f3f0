//! Logical lines -> stanzas.

use super::lines::{Line, lines};
use crate::names::shown;
use crate::reading::{At, Reading};

/// A definition of a device: `iface bond0 inet static` and its options.
#[derive(Clone, Debug)]
pub(super) struct Stanza {
    pub(super) device: String,
    /// `inet`, `inet6`; empty where the stanza names none, as ifupdown2 and ifupdown-ng have it.
    pub(super) family: String,
    /// `static`, `manual`, `dhcp`.
    pub(super) method: String,
    /// The stanza whose options it has, too.
    inherits: Option<String>,
    pub(super) head: Line,
    pub(super) options: Vec<Line>,
}

/// All of the sources.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) stanzas: Vec<Stanza>,
    /// `auto`, `allow-hotplug` and their kin.
    pub(super) selections: Vec<Line>,
    /// `source`, `source-directory`.
    pub(super) sourced: Vec<Line>,
    /// `mapping`, `rename`.
    pub(super) names: Vec<Line>,
}

impl Stanza {
    /// True for an option of the stanza that has this name, `-` and `_` being one.
    pub(super) fn has(&self, wanted: &str) -> bool {
        self.options.iter().any(|line| line.key() == wanted)
    }

    /// From its first line to its last.
    pub(super) fn at(&self) -> At {
        let end =
            self.options.iter().filter(|line| line.at.source == self.head.at.source).map(|line| line.at.end).max();
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

/// Reads every source.
pub(super) fn read(reading: &mut Reading<'_>) -> File {
    let mut file = File::default();
    for (source, text) in reading.sources().iter().enumerate() {
        let mut place = Inside::Nothing;
        for line in lines(source, &text.text) {
            place = read_line(reading, &mut file, line, place);
        }
    }
    inherit(&mut file);
    file
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
        "iface" => match head(&line) {
            Some(stanza) => {
                file.stanzas.push(stanza);
                return Inside::Stanza;
            }
            None => {
                let hint = "a stanza begins with the device, the family and the method: `iface bond0 inet static`";
                let unknown = line.words().into_iter().nth(1);
                let (message, at) = match &unknown {
                    Some((family, at)) => (format!("`{}` is no family of addresses", shown(family)), at),
                    None => ("too few words behind `iface`".to_owned(), &line.at),
                };
                reading.wrong(at, message, hint);
                return Inside::Skipped;
            }
        },
        "mapping" => {
            file.names.push(line);
            return Inside::Skipped;
        }
        "rename" => file.names.push(line),
        "source" | "source-directory" | "source-dir" => file.sourced.push(line),
        "auto" | "no-auto-down" | "no-scripts" => file.selections.push(line),
        name if name.starts_with("allow-") => file.selections.push(line),
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

fn head(line: &Line) -> Option<Stanza> {
    let mut words = line.words().into_iter().map(|(word, _)| word);
    let device = words.next()?;
    let family = words.next().unwrap_or_else(|| "inherits".to_owned());
    if family == "inherits" {
        // Of both families, by what stands in it.
        let (family, method, inherits) = (String::new(), "static".to_owned(), words.next());
        return Some(Stanza { device, family, method, inherits, head: line.clone(), options: Vec::new() });
    }
    // The method may be left out in favour of a template, in later versions.
    let mut method = words.next().unwrap_or_else(|| "manual".to_owned());
    let mut inherits = None;
    if method == "inherits" {
        inherits = words.next();
        method = "manual".to_owned();
    } else if words.next().as_deref() == Some("inherits") {
        inherits = words.next();
    }
    let is_family = matches!(family.as_str(), "inet" | "inet6" | "ipx" | "can" | "x25" | "link" | "tunnel");
    is_family.then(|| Stanza { device, family, method, inherits, head: line.clone(), options: Vec::new() })
}

/// Options of templates, ahead of a stanza's own.
fn inherit(file: &mut File) {
    let templates = file.stanzas.clone();
    for stanza in &mut file.stanzas {
        let Some(template) = stanza.inherits.as_ref().and_then(|name| templates.iter().find(|of| of.device == *name))
        else {
            continue;
        };
        stanza.options.splice(0..0, template.options.iter().cloned());
    }
}
