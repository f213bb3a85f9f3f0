//! A shell's tokens (POSIX.1-2017, 2.3 Token Recognition, with bash's arrays): words and what stands between commands.

use std::ops::Range;

use nicteam_diagnostics::Problem;

use super::braces::{braces, sequence};
use crate::rest::Rest;
use crate::unescaped::Unescaped;

/// A word before anything in it is expanded.
#[derive(Clone, Debug, Default)]
pub(super) struct Raw {
    pub(super) parts: Vec<Part>,
    pub(super) span: Range<usize>,
}

/// Words of a script, and what parts them. Scripts that build bonds have a thousand.
const MOST_TOKENS: usize = 200_000;
/// What a word takes beside its text, bytes.
pub(super) const WORD: usize = 64;

/// A part of a word.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// It stands there as it is.
    Text(Unescaped),
    /// `$NAME`, `${NAME}`; in quotes its value is not split into words.
    Variable { name: String, is_quoted: bool, span: Range<usize> },
    /// `{a,b}`, `{0..3}`, `$(seq 0 3)`: a word for each.
    Each(Vec<String>, Range<usize>),
    /// Another expansion: `$(...)`, `${NAME:-x}`.
    Other(String),
}

impl Part {
    /// A text that these bytes of the source stand for.
    pub(super) fn text(text: &str, span: &Range<usize>) -> Part {
        let mut whole = Unescaped::default();
        text.chars().for_each(|c| whole.push(c, span.clone()));
        Part::Text(whole)
    }
}

impl Raw {
    /// Adds a character that these bytes of the source stand for.
    fn push(&mut self, c: char, span: Range<usize>) {
        self.begin();
        if let Some(Part::Text(text)) = self.parts.last_mut() {
            text.push(c, span);
        }
    }

    /// An empty text is a word, too.
    fn begin(&mut self) {
        if !matches!(self.parts.last(), Some(Part::Text(_))) {
            self.parts.push(Part::Text(Unescaped::default()));
        }
    }

    /// About what it takes, bytes.
    pub(super) fn size(&self) -> usize {
        let of = |part: &Part| match part {
            Part::Text(text) => text.text.len(),
            Part::Variable { name, .. } => name.len(),
            Part::Each(each, _) => each.iter().map(String::len).sum(),
            Part::Other(text) => text.len(),
        };
        WORD + self.parts.iter().map(of).sum::<usize>()
    }

    /// Its text, if nothing in it is expanded.
    pub(super) fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(&text.text),
            _ => None,
        }
    }
}

/// What ends a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// A new line, `;`, `&`.
    #[default]
    Plain,
    /// `|`.
    Pipe,
    /// `;;`.
    Branch,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `(`.
    Open,
    /// `)`.
    Close,
}

/// A command, or what a keyword begins.
#[derive(Clone, Debug, Default)]
pub(super) struct Item {
    pub(super) words: Vec<Raw>,
    pub(super) output: Option<Raw>,
    /// Where the text of its here-document stands.
    pub(super) input: Option<Range<usize>>,
    pub(super) end: End,
}

/// What stands between two lines of a text.
enum Token {
    Word(Raw),
    End(End),
    /// What follows names a file; true: this command writes its output there.
    Redirection(bool),
    /// What follows ends a here-document; true: tabs ahead of it are none of it.
    HereDocument(bool),
}

/// Why a text is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// Something else stands behind it.
    More,
    /// A quote in it is not closed.
    Open,
    /// Something in it follows from more than the text.
    Unknown,
    /// Its variables make more of it than may be.
    Long,
}

/// The value at the beginning of a text, what stands behind `NAME=` in a line, with the places of its bytes; and its length
/// with its quotes. `known` has the values of variables, and `most` is how many bytes it may have.
///
/// # Errors
/// It is none.
pub fn value<'v>(
    text: &str,
    known: impl Fn(&str) -> Option<&'v str>,
    most: usize,
) -> Result<(Unescaped, usize), NoValue> {
    let mut rest = Rest::of(text);
    let Token::Word(word) = rest.word().map_err(|_| NoValue::Open)? else { return Err(NoValue::More) };
    let mut value = Unescaped::default();
    for part in word.parts {
        match part {
            Part::Text(part) => value.append(part),
            // No words are made of braces in a value.
            Part::Each(_, span) if text[span.clone()].starts_with('{') => {
                let each = text[span.clone()].char_indices();
                each.for_each(|(at, c)| value.push(c, span.start + at..span.start + at + c.len_utf8()));
            }
            Part::Variable { name, span, .. } => {
                let known = known(&name).ok_or(NoValue::Unknown)?;
                if value.text.len() + known.len() > most {
                    return Err(NoValue::Long);
                }
                known.chars().for_each(|c| value.push(c, span.clone()));
            }
            Part::Each(..) | Part::Other(_) => return Err(NoValue::Unknown),
        }
    }
    let behind = text[rest.at..].trim_start_matches(';').trim_start();
    if behind.is_empty() || behind.starts_with('#') { Ok((value, rest.at)) } else { Err(NoValue::More) }
}

/// The byte at which the first line of a text ends; it goes on in the next one where a quote is open, and behind a `\`.
pub fn line_end(text: &str) -> usize {
    let mut rest = Rest::of(text);
    loop {
        match rest.token() {
            Ok(Some(Token::End(_))) if text.as_bytes().get(rest.at - 1) == Some(&b'\n') => return rest.at - 1,
            Ok(Some(_)) => {}
            Ok(None) => return text.len(),
            // A quote that nothing closes is of its line alone.
            Err(_) => return to_line_end(text),
        }
    }
}

/// The items of a part of a text.
///
/// # Errors
/// A quote that is not closed.
pub(super) fn items(text: &str, of: Range<usize>) -> Result<Vec<Item>, Problem> {
    let (mut items, mut pending) = (Vec::new(), Item::default());
    let (mut file, mut ends): (Option<bool>, Option<bool>) = (None, None);
    let mut documents: Vec<(usize, String, bool)> = Vec::new();
    let mut rest = Rest { text: text.get(..of.end).unwrap_or(text), at: of.start };
    let mut left = MOST_TOKENS;
    while let Some(token) = rest.token()? {
        left -= 1;
        if left == 0 {
            let problem = Problem::at(&(rest.at..rest.at), format!("this script has more than {MOST_TOKENS} words"));
            return Err(problem.hint("write the commands that build bonds into a script of their own"));
        }
        match token {
            Token::Word(word) => match (ends.take(), file.take()) {
                (Some(tabs), _) => documents.push((items.len(), word.literal().unwrap_or("").to_owned(), tabs)),
                (None, Some(true)) => pending.output = Some(word),
                (None, Some(false)) => {}
                (None, None) => pending.words.push(word),
            },
            Token::Redirection(writes) => file = Some(writes),
            Token::HereDocument(tabs) => ends = Some(tabs),
            Token::End(end) => {
                (file, ends) = (None, None);
                items.push(Item { end, ..std::mem::take(&mut pending) });
                if rest.text.as_bytes().get(rest.at - 1) == Some(&b'\n') {
                    for (of, end, tabs) in documents.drain(..) {
                        let body = rest.here_document(&end, tabs);
                        items[of].input = Some(body);
                    }
                }
            }
        }
    }
    items.push(pending);
    Ok(items)
}

impl Rest<'_> {
    fn skip(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.at += wanted.len_utf8();
        }
        is_there
    }

    /// Lines up to the one that ends them, which is read, too.
    fn here_document(&mut self, end: &str, tabs: bool) -> Range<usize> {
        let start = self.at;
        while self.at < self.text.len() {
            let line_at = self.at;
            let line = self.text[line_at..].split('\n').next().unwrap_or("");
            self.at = (line_at + line.len() + 1).min(self.text.len());
            let line = line.strip_suffix('\r').unwrap_or(line);
            if (if tabs { line.trim_start_matches('\t') } else { line }) == end {
                return start..line_at;
            }
        }
        start..self.text.len()
    }

    fn token(&mut self) -> Result<Option<Token>, Problem> {
        loop {
            match self.peek() {
                None => return Ok(None),
                Some(' ' | '\t' | '\r') => drop(self.next()),
                Some('\\') if self.text[self.at..].starts_with("\\\n") => self.at += 2,
                Some('\\') if self.text[self.at..].starts_with("\\\r\n") => self.at += 3,
                Some('#') => self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at),
                Some(c @ ('\n' | ';' | '(' | ')' | '&' | '|')) => {
                    self.next();
                    let end = match c {
                        '(' => End::Open,
                        ')' => End::Close,
                        '&' if self.skip('&') => End::And,
                        '&' if self.peek() == Some('>') => {
                            self.next();
                            self.skip('>');
                            return Ok(Some(Token::Redirection(true)));
                        }
                        '|' if self.skip('|') => End::Or,
                        '|' => {
                            self.skip('&');
                            End::Pipe
                        }
                        ';' if self.skip(';') => End::Branch,
                        _ => End::Plain,
                    };
                    return Ok(Some(Token::End(end)));
                }
                Some('>') => {
                    self.next();
                    self.skip('>');
                    self.skip('|');
                    return Ok(Some(Token::Redirection(!self.skip('&'))));
                }
                Some('<') => {
                    self.next();
                    if self.skip('<') && !self.skip('<') {
                        return Ok(Some(Token::HereDocument(self.skip('-'))));
                    }
                    self.skip('&');
                    return Ok(Some(Token::Redirection(false)));
                }
                Some(_) => return self.word().map(Some),
            }
        }
    }

    fn word(&mut self) -> Result<Token, Problem> {
        let start = self.at;
        let mut word = Raw::default();
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\r' | '\n' | ';' | '(' | ')' | '&' | '|' | '<' | '>' => break,
                '\\' => {
                    let start = self.at;
                    self.next();
                    match self.next() {
                        Some('\n') | None => {}
                        Some(escaped) => word.push(escaped, start..self.at),
                    }
                }
                '\'' | '"' => self.quoted(next, &mut word)?,
                '$' if self.text[self.at..].starts_with("$'") => self.ansi(&mut word)?,
                // To be translated, in no language here.
                '$' if self.text[self.at..].starts_with("$\"") => {
                    self.next();
                    self.quoted('"', &mut word)?;
                }
                '$' | '`' => self.expansion(false, &mut word),
                '{' if braces(&self.text[self.at..]).is_some() => {
                    let (length, each) = braces(&self.text[self.at..]).unwrap_or_default();
                    word.parts.push(Part::Each(each, self.at..self.at + length));
                    self.at += length;
                }
                _ => {
                    let start = self.at;
                    self.next();
                    word.push(next, start..self.at);
                }
            }
        }
        // `2>` and its kin: the number of what is redirected.
        let number = word.literal().filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(number) = number.filter(|_| self.peek() == Some('>')) {
            let is_output = number == "1";
            self.next();
            self.skip('>');
            let is_copy = self.skip('&');
            return Ok(Token::Redirection(is_output && !is_copy));
        }
        word.span = start..self.at;
        Ok(Token::Word(word))
    }

    /// What begins with a dollar or a backquote.
    fn expansion(&mut self, is_quoted: bool, word: &mut Raw) {
        let start = self.at;
        if self.next() == Some('`') {
            let rest = &self.text[self.at..];
            self.at += rest.find('`').map_or_else(|| to_line_end(rest), |end| end + 1);
            return word.parts.push(Part::Other(self.text[start..self.at].to_owned()));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let rest = &self.text[self.at..];
        match rest.chars().next() {
            Some('{') => {
                let end = rest.find('}');
                let inner = &rest[1..end.unwrap_or_else(|| to_line_end(rest))];
                self.at += 1 + inner.len() + usize::from(end.is_some());
                let span = start..self.at;
                // All of an array: its words, whatever the quotes.
                let array = inner.strip_suffix("[@]").or_else(|| inner.strip_suffix("[*]"));
                let name = array.unwrap_or(inner);
                match end.is_some() && !name.is_empty() && name.chars().all(is_name) {
                    true => {
                        let is_quoted = is_quoted && array.is_none();
                        word.parts.push(Part::Variable { name: name.to_owned(), is_quoted, span });
                    }
                    false => word.parts.push(Part::Other(self.text[start..self.at].to_owned())),
                }
            }
            Some('(') => {
                self.at += balanced(rest);
                let text = &self.text[start..self.at];
                let numbers = text.strip_prefix("$(seq ").and_then(|text| text.strip_suffix(')'));
                let numbers: Option<Vec<&str>> = numbers.map(|text| text.split_whitespace().collect());
                let each = match numbers.as_deref() {
                    Some([last]) => sequence("1", last),
                    Some([first, last]) => sequence(first, last),
                    _ => None,
                };
                word.parts.push(match each {
                    Some(each) if !is_quoted => Part::Each(each, start..self.at),
                    _ => Part::Other(text.to_owned()),
                });
            }
            Some(c) if is_name(c) => {
                // A digit is a name of its own.
                let length = if c.is_ascii_digit() { 1 } else { rest.find(|c| !is_name(c)).unwrap_or(rest.len()) };
                self.at += length;
                let span = start..self.at;
                word.parts.push(Part::Variable { name: rest[..length].to_owned(), is_quoted, span });
            }
            // All arguments: their words, whatever the quotes.
            Some(c @ ('@' | '*')) => {
                self.at += 1;
                word.parts.push(Part::Variable { name: c.to_string(), is_quoted: false, span: start..self.at });
            }
            Some(c @ ('#' | '?' | '!' | '$' | '-')) => {
                self.at += 1;
                word.parts.push(Part::Other(format!("${c}")));
            }
            // A dollar of its own: the prompt of a line that was copied.
            _ => word.push('$', start..self.at),
        }
    }

    /// Text between quotes.
    fn quoted(&mut self, quote: char, word: &mut Raw) -> Result<(), Problem> {
        let open = self.at;
        self.next();
        word.begin();
        loop {
            let start = self.at;
            match self.peek() {
                Some('$' | '`') if quote == '"' => {
                    self.expansion(true, word);
                    continue;
                }
                _ => {}
            }
            match self.next() {
                None => return Err(not_closed(open, quote)),
                Some(end) if end == quote => return Ok(()),
                Some('\\') if quote == '"' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => word.push(escaped, start..self.at),
                    Some(other) => {
                        word.push('\\', start..start + 1);
                        word.push(other, start + 1..self.at);
                    }
                },
                Some(inner) => word.push(inner, start..self.at),
            }
        }
    }

    /// `$'...'`, in which a `\` begins what it does in C; as NetworkManager writes lines.
    fn ansi(&mut self, word: &mut Raw) -> Result<(), Problem> {
        let open = self.at + 1;
        self.at += 2;
        word.begin();
        loop {
            let start = self.at;
            match self.next() {
                None => return Err(not_closed(open, '\'')),
                Some('\'') => return Ok(()),
                Some('\\') => match self.next() {
                    None => {}
                    Some('n') => word.push('\n', start..self.at),
                    Some('t') => word.push('\t', start..self.at),
                    Some('r') => word.push('\r', start..self.at),
                    Some(same @ ('\\' | '\'' | '"')) => word.push(same, start..self.at),
                    Some(_) => word.parts.push(Part::Other(self.text[start..self.at].to_owned())),
                },
                Some(inner) => word.push(inner, start..self.at),
            }
        }
    }
}

fn not_closed(at: usize, quote: char) -> Problem {
    let problem = Problem::at(&(at..at + 1), format!("the quote {quote} is not closed"));
    problem.hint("a quote ends with the same character")
}

/// Bytes up to the end of the line: what nothing closes is of its line alone.
fn to_line_end(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Bytes of what begins with `(`, up to the one that closes it.
fn balanced(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return at + 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    to_line_end(text)
}
