//! Rust text as words and signs.

/// A part of the text that is neither space nor comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or a keyword.
    Word(String),
    /// What stands between quotes.
    Text(String),
    /// `::`.
    Colons,
    /// Any other sign.
    Sign(char),
}

impl Token {
    /// The word, if it is one.
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    /// True of this sign.
    pub(super) fn is(&self, sign: char) -> bool {
        *self == Token::Sign(sign)
    }
}

/// The tokens of a file. Numbers, lifetimes and characters are left out.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let (token, behind) = match first {
            _ if rest.starts_with("//") => (None, rest.find('\n').map_or("", |end| &rest[end..])),
            _ if rest.starts_with("/*") => (None, behind_comment(rest)),
            _ if rest.starts_with("::") => (Some(Token::Colons), &rest[2..]),
            '"' => text_token(&rest[1..]),
            '\'' => (None, behind_character(&rest[1..])),
            _ if first.is_alphabetic() || first == '_' => word_or_text(rest),
            _ if first.is_ascii_digit() => (None, rest.trim_start_matches(is_word)),
            _ if first.is_whitespace() => (None, rest.trim_start()),
            _ => (Some(Token::Sign(first)), &rest[first.len_utf8()..]),
        };
        tokens.extend(token);
        rest = behind;
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A word, or what a prefix (`r`, `b`, `c`, ...) makes a text.
fn word_or_text(rest: &str) -> (Option<Token>, &str) {
    let behind = rest.trim_start_matches(is_word);
    let word = &rest[..rest.len() - behind.len()];
    let is_prefix = matches!(word, "r" | "b" | "br" | "c" | "cr");
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    let opens = behind[hashes..].starts_with('"');
    match word {
        _ if is_prefix && opens && word.ends_with('r') => raw_text(&behind[hashes + 1..], hashes),
        _ if is_prefix && opens && hashes == 0 => text_token(&behind[1..]),
        // A keyword that is a name.
        "r" if hashes == 1 && behind[1..].starts_with(is_word) => word_or_text(&behind[1..]),
        _ => (Some(Token::Word(word.to_owned())), behind),
    }
}

/// Behind the opening quote.
fn text_token(rest: &str) -> (Option<Token>, &str) {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            '"' if !is_escaped => return (Some(Token::Text(rest[..at].to_owned())), &rest[at + 1..]),
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    (None, "")
}

fn raw_text(rest: &str, hashes: usize) -> (Option<Token>, &str) {
    let end = format!("\"{}", "#".repeat(hashes));
    match rest.split_once(&end) {
        Some((text, behind)) => (Some(Token::Text(text.to_owned())), behind),
        None => (None, ""),
    }
}

/// Behind `'`: a character, or a lifetime.
fn behind_character(rest: &str) -> &str {
    let mut chars = rest.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), Some(escaped)) => {
            let behind = &rest[1 + escaped.len_utf8()..];
            behind.split_once('\'').map_or("", |(_, behind)| behind)
        }
        (Some(_), Some('\'')) => chars.as_str(),
        _ => rest.trim_start_matches(is_word),
    }
}

/// A comment may hold others.
fn behind_comment(text: &str) -> &str {
    let (mut rest, mut depth) = (&text[2..], 1);
    while depth > 0 {
        let Some(at) = rest.find(['/', '*']) else { return "" };
        rest = &rest[at..];
        let step = match rest.get(..2) {
            Some("/*") => 1,
            Some("*/") => -1,
            _ => 0,
        };
        depth += step;
        rest = &rest[if step == 0 { 1 } else { 2 }..];
    }
    rest
}
