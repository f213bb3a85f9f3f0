//! Sections of `key=value`, with places: as systemd writes them, and as GLib's key files.

use crate::at::At;
use crate::unescaped::Unescaped;

/// Whose rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// systemd 252 (`systemd.syntax(7)`): comments begin with `#` or `;`, a `\` at its end continues a line with a space,
    /// also over comments; a line that makes no sense is ignored.
    Systemd,
    /// GLib's `GKeyFile`: comments begin with `#`, lines are not continued, values have escapes (`\s`, `\n`, `\t`, `\r`, `\\`).
    KeyFile,
    /// The same, with values as they stand.
    RawKeyFile,
}

/// A section. One of the same name may follow: it is another.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name, without the brackets.
    pub name: String,
    /// Its header.
    pub at: At,
    /// Its lines, in their order.
    pub entries: Vec<Entry>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The word ahead of `=`.
    pub key: String,
    /// Where the key stands.
    pub key_at: At,
    /// What stands behind `=`.
    pub value: String,
    /// Where the value stands.
    pub value_at: At,
    /// Both.
    pub at: At,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Ini {
    /// Its sections, in their order.
    pub sections: Vec<Section>,
    /// Lines that are neither, and why.
    pub strays: Vec<(At, &'static str)>,
}

impl Ini {
    /// Every entry of the sections of this name, in their order.
    pub fn entries<'i>(&'i self, section: &'i str) -> impl DoubleEndedIterator<Item = &'i Entry> {
        self.sections.iter().filter(move |of| of.name == section).flat_map(|of| &of.entries)
    }

    /// The last entry of this key: it holds.
    pub fn last<'i>(&'i self, section: &'i str, key: &str) -> Option<&'i Entry> {
        self.entries(section).rfind(|entry| entry.key == key)
    }
}

/// Reads a source.
pub fn read(source: usize, text: &str, flavour: Flavour) -> Ini {
    let mut ini = Ini::default();
    for line in lines(text, flavour) {
        let at = At::new(source, line.start..line.end);
        let content = line.text.trim();
        if let Some(header) = content.strip_prefix('[') {
            match header.strip_suffix(']') {
                Some(name) => ini.sections.push(Section { name: name.to_owned(), at, entries: Vec::new() }),
                None => ini.strays.push((at, "the header of a section ends with `]`")),
            }
            continue;
        }
        let Some((key, value)) = content.split_once('=') else {
            ini.strays.push((at, "a line is `KEY=VALUE` or `[SECTION]`"));
            continue;
        };
        let entry = entry(source, &line, key.trim_end(), value.trim_start(), flavour);
        match ini.sections.last_mut() {
            Some(_) if entry.key.is_empty() => ini.strays.push((at, "there is no key before `=`")),
            Some(section) => section.entries.push(entry),
            None => ini.strays.push((at, "it stands before the first section")),
        }
    }
    ini
}

/// A logical line.
struct Logical {
    text: String,
    /// Bytes of the source: from the first character that is no white space to the last one.
    start: usize,
    end: usize,
}

fn lines(text: &str, flavour: Flavour) -> Vec<Logical> {
    let is_comment = |line: &str| line.starts_with('#') || flavour == Flavour::Systemd && line.starts_with(';');
    let mut found = Vec::new();
    let mut open: Option<Logical> = None;
    let mut next = 0;
    for raw in text.split_inclusive('\n') {
        let start = next + (raw.len() - raw.trim_start().len());
        let content = raw.trim();
        let end = start + content.len();
        next += raw.len();
        if is_comment(content) || content.is_empty() && open.is_none() {
            continue;
        }
        let continued = content.strip_suffix('\\').filter(|_| flavour == Flavour::Systemd);
        let mut line = open.take().unwrap_or(Logical { text: String::new(), start, end });
        line.end = end.max(line.start);
        line.text.push_str(continued.unwrap_or(content));
        match continued {
            Some(_) => {
                line.text.push(' ');
                open = Some(line);
            }
            None => found.push(line),
        }
    }
    found.extend(open);
    found
}

fn entry(source: usize, line: &Logical, key: &str, value: &str, flavour: Flavour) -> Entry {
    let raw_value = value.trim_end();
    // White space around `=` is of both; what is continued is longer in the source than here.
    let value_start = (line.start + (line.text.trim_end().len() - raw_value.len())).min(line.end);
    Entry {
        key: key.to_owned(),
        key_at: At::new(source, line.start..(line.start + key.len()).min(line.end)),
        value: if flavour == Flavour::KeyFile { unescaped(raw_value, 0).text } else { raw_value.to_owned() },
        value_at: At::new(source, value_start..line.end),
        at: At::new(source, line.start..line.end),
    }
}

/// The value that stands so in a key file, at this byte of it.
pub fn unescaped(value: &str, at: usize) -> Unescaped {
    let mut out = Unescaped::default();
    let mut characters = value.char_indices();
    while let Some((start, c)) = characters.next() {
        let escaped = value[start + c.len_utf8()..].chars().next().filter(|_| c == '\\');
        let meant = match escaped {
            Some('s') => Some(' '),
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('\\') => Some('\\'),
            _ => None,
        };
        if meant.is_some() {
            characters.next();
        }
        out.push(meant.unwrap_or(c), at + start..at + start + c.len_utf8() + usize::from(meant.is_some()));
    }
    out
}

/// `yes` and `no` in systemd's words, which NetworkManager takes, too.
pub fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "yes" | "y" | "true" | "t" | "on" => Some(true),
        "0" | "no" | "n" | "false" | "f" | "off" => Some(false),
        _ => None,
    }
}

/// True and false in GLib's words, which are fewer; others it leaves out.
pub fn key_file_flag(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Words as systemd splits them: by white space; quotes, single or double, keep it.
pub fn words(value: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in value.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, flavour: Flavour) -> Vec<String> {
        let ini = read(0, text, flavour);
        let entries = ini.sections.iter().flat_map(|section| section.entries.iter().map(move |entry| (section, entry)));
        let own = |entry: &Entry| text.get(entry.at.span()).unwrap_or("?").starts_with(&entry.key);
        entries
            .map(|(section, entry)| format!("{} {}={} {}", section.name, entry.key, entry.value, own(entry)))
            .collect()
    }

    #[test]
    fn systemd_continues_lines_and_takes_semicolons_for_comments() {
        let text = "; no\n[A]\n K = a \\\n# between\n   b\n[A]\nK=\n;K=2\n";
        assert_eq!(shown(text, Flavour::Systemd), ["A K=a  b true", "A K= true"]);
    }

    #[test]
    fn key_files_have_escapes() {
        let text = "# no\n[a b]\nk=\\s1\\n\\\\ \\x\r\n;k=2\n";
        assert_eq!(shown(text, Flavour::KeyFile), ["a b k= 1\n\\ \\x true", "a b ;k=2 true"]);
    }

    #[test]
    fn values_have_places() {
        let text = "[A]\nKey =  value \n";
        let ini = read(0, text, Flavour::Systemd);
        let entry = &ini.sections[0].entries[0];
        assert_eq!((&text[entry.key_at.span()], &text[entry.value_at.span()]), ("Key", "value"));
    }

    #[test]
    fn quotes_keep_white_space() {
        assert_eq!(words("a  \"b c\" 'd'e \"\""), ["a", "b c", "de", ""]);
        assert_eq!(words("\"open"), ["open"]);
    }

    #[test]
    fn what_is_neither_is_told() {
        let ini = read(0, "a=1\n[x\n[y]\nb\n=2\n", Flavour::Systemd);
        assert_eq!(ini.strays.len(), 4);
    }
}
