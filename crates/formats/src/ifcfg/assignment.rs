//! `KEY=value`, as a shell reads it.

use std::iter::Peekable;
use std::str::CharIndices;

use super::parts::Line;
use crate::reading::At;
use crate::unescaped::Unescaped;

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

const NO_ASSIGNMENT: &str = "only a shell can say what this is: write `KEY=value`";
const NEEDS_A_SHELL: &str = "only a shell can tell this value: write the value itself";
const OPEN: &str = "the quote is not closed: end the value with the quote that it begins with";

/// The byte at which the first line ends; it goes on in the next one where a quote is open, and behind a `\`.
pub(super) fn end_of_statement(text: &str) -> usize {
    let first = text.find('\n').unwrap_or(text.len());
    let (mut quote, mut before) = (None, ' ');
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => quote = Some(c),
            ('\\', None | Some('"')) => drop(characters.next()),
            ('#', None) if before.is_whitespace() => return at + text[at..].find('\n').unwrap_or(text.len() - at),
            ('\n', None) => return at,
            _ => {}
        }
        before = c;
    }
    // A quote that nothing closes is of its line alone.
    if quote.is_some() { first } else { text.len() }
}

/// An assignment; its variables are those of the `earlier` ones.
pub(super) fn assignment(line: &Line<'_>, earlier: &[Assignment]) -> Result<Assignment, Stray> {
    let text = line.text.strip_prefix("export ").unwrap_or(line.text).trim_start();
    let is_name = |key: &&str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let Some((key, rest)) = text.split_once('=').filter(|(key, _)| is_name(key)) else {
        return Err(Stray { at: line.at.clone(), key: None, why: NO_ASSIGNMENT });
    };
    let start = line.at.end - rest.len();
    let mut value = Value { text: rest, at: start, earlier, characters: rest.char_indices().peekable() };
    match value.read() {
        Ok((Unescaped { text, spans }, length)) => Ok(Assignment {
            key: key.to_owned(),
            value: text,
            spans,
            value_at: At { source: line.at.source, start, end: start + length },
            at: line.at.clone(),
        }),
        Err(why) => Err(Stray { at: line.at.clone(), key: Some(key.to_owned()), why }),
    }
}

/// A value while it is read.
struct Value<'v> {
    text: &'v str,
    /// Where it begins in its source.
    at: usize,
    earlier: &'v [Assignment],
    characters: Peekable<CharIndices<'v>>,
}

impl Value<'_> {
    /// The word at the beginning, and its length with its quotes.
    fn read(&mut self) -> Result<(Unescaped, usize), &'static str> {
        let (mut out, mut quote, mut is_ansi, mut end) = (Unescaped::default(), None, false, self.text.len());
        while let Some((place, c)) = self.characters.next() {
            match (c, quote) {
                (c, Some(open)) if c == open => (quote, is_ansi) = (None, false),
                ('"' | '\'', None) => quote = Some(c),
                ('$', None) if self.characters.next_if(|(_, next)| *next == '\'').is_some() => {
                    (quote, is_ansi) = (Some('\''), true);
                }
                ('$', None | Some('"')) => self.variable(place, &mut out)?,
                ('`', None | Some('"')) => return Err(NEEDS_A_SHELL),
                ('\\', Some('\'')) if is_ansi => self.ansi(place, &mut out)?,
                ('\\', None | Some('"')) => self.escaped(place, quote.is_some(), &mut out),
                (c, None) if c.is_whitespace() || c == ';' => {
                    end = place;
                    break;
                }
                (c, _) => out.push(c, self.span(place, place + c.len_utf8())),
            }
        }
        let rest = self.text.get(end..).unwrap_or("").trim_start_matches(';').trim_start();
        match (quote, rest.is_empty() || rest.starts_with('#')) {
            (Some(_), _) => Err(OPEN),
            (None, true) => Ok((out, end)),
            (None, false) => Err(NO_ASSIGNMENT),
        }
    }

    fn span(&self, start: usize, end: usize) -> std::ops::Range<usize> {
        self.at + start..self.at + end
    }

    /// The byte at which what is not yet read begins.
    fn next_at(&mut self) -> usize {
        self.characters.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    /// What stands behind a `\`; between quotes most of it stands for itself.
    fn escaped(&mut self, place: usize, is_quoted: bool, out: &mut Unescaped) {
        let escapes = |c: char| !is_quoted || matches!(c, '$' | '`' | '"' | '\\' | '\n');
        match self.characters.next_if(|(_, next)| escapes(*next)) {
            Some((_, '\n')) => {}
            Some((at, c)) => out.push(c, self.span(place, at + c.len_utf8())),
            None => out.push('\\', self.span(place, place + 1)),
        }
    }

    /// What stands behind a `\` within `$'...'`, as NetworkManager writes lines.
    fn ansi(&mut self, place: usize, out: &mut Unescaped) -> Result<(), &'static str> {
        let (at, c) = self.characters.next().ok_or(OPEN)?;
        let meant = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '\\' | '\'' | '"' => c,
            _ => return Err(NEEDS_A_SHELL),
        };
        out.push(meant, self.span(place, at + c.len_utf8()));
        Ok(())
    }

    /// `$NAME` and `${NAME}`, if the file itself says what that is.
    fn variable(&mut self, place: usize, out: &mut Unescaped) -> Result<(), &'static str> {
        let braced = self.characters.next_if(|(_, next)| *next == '{').is_some();
        let start = self.next_at();
        while self.characters.next_if(|(_, c)| c.is_ascii_alphanumeric() || *c == '_').is_some() {}
        let end = self.next_at();
        if braced && self.characters.next_if(|(_, next)| *next == '}').is_none() {
            return Err(NEEDS_A_SHELL);
        }
        let name = &self.text[start..end];
        let known = self.earlier.iter().rfind(|earlier| earlier.key == name).ok_or(NEEDS_A_SHELL)?;
        let span = self.span(place, end + usize::from(braced));
        known.value.chars().for_each(|c| out.push(c, span.clone()));
        Ok(())
    }
}
