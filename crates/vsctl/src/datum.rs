//! Values of columns as text (Open vSwitch 3.1 `lib/ovsdb-data.c`, `ovsdb_datum_from_string`): `a`, `[a, b]`, `{k=v}`.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// So many values, each once.
    Set {
        /// What they are.
        of: Atom,
        /// The fewest.
        least: usize,
        /// The most.
        most: usize,
    },
    /// Keys, which are texts, each with a value.
    Map {
        /// What values are.
        value: Atom,
    },
}

/// A single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atom {
    /// Text.
    Text,
    /// One of these, by name.
    OneOf(&'static [&'static str]),
    /// A number.
    Integer {
        /// The smallest.
        least: i64,
        /// The largest.
        most: i64,
    },
    /// `true` or `false`.
    Boolean,
    /// The identifier of a record. None is taken: there is no database.
    Uuid,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of a set: nothing, one, or several.
    Set(Vec<String>),
    /// Of a map: keys with values.
    Map(Vec<(String, String)>),
}

impl Value {
    /// Reads the text of a value; what is wrong with it in the real one's words.
    pub(super) fn parse(kind: Kind, text: &str) -> Result<Value, String> {
        let mut reader = Reader { text, rest: text.trim_start_matches(' '), kind };
        match kind {
            Kind::Set { of, least, most } => {
                let values = reader.elements(['[', ']'], |reader| reader.atoms(of))?.concat();
                counted(text, "value(s)", values.len(), least, most)?;
                let mut sorted: Vec<&String> = values.iter().collect();
                sorted.sort();
                if sorted.windows(2).any(|two| two[0] == two[1]) {
                    return Err(format!("{text}: set contains duplicate value"));
                }
                Ok(Value::Set(values))
            }
            Kind::Map { value } => {
                let pairs = reader.elements(['{', '}'], |reader| reader.pair(value))?;
                let mut keys: Vec<&String> = pairs.iter().map(|(key, _)| key).collect();
                keys.sort();
                if keys.windows(2).any(|two| two[0] == two[1]) {
                    return Err(format!("{text}: map contains duplicate key"));
                }
                Ok(Value::Map(pairs))
            }
        }
    }

    /// Text that is read as this value of a column of this kind.
    pub(super) fn text(&self, kind: Kind) -> String {
        let (Kind::Set { of, .. } | Kind::Map { value: of }) = kind;
        match self {
            Value::Set(values) if values.is_empty() => "[]".to_owned(),
            Value::Set(values) => values.iter().map(|value| of.written(value)).collect::<Vec<_>>().join(","),
            Value::Map(pairs) if pairs.is_empty() => "{}".to_owned(),
            Value::Map(pairs) => {
                let pair = |(key, value): &(String, String)| format!("{}={}", written(key), of.written(value));
                pairs.iter().map(pair).collect::<Vec<_>>().join(",")
            }
        }
    }
}

fn counted(text: &str, what: &str, count: usize, least: usize, most: usize) -> Result<(), String> {
    let range = |bound: usize, end: &str| format!("{text}: {count} {what} specified but the {end} number is {bound}");
    match count {
        _ if count < least => Err(range(least, "minimum")),
        _ if count > most => Err(range(most, "maximum")),
        _ => Ok(()),
    }
}

/// Reads a text from left to right.
struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    kind: Kind,
}

impl<'a> Reader<'a> {
    /// What stands between brackets, which may be left out, or in the whole text.
    fn elements<T>(
        &mut self,
        [open, close]: [char; 2],
        element: impl Fn(&mut Reader<'a>) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let bracketed = self.take(open);
        let mut found = Vec::new();
        loop {
            self.skip_spaces();
            match self.rest.chars().next() {
                None if bracketed => return Err(format!("{}: missing \"{close}\" at end of data", self.text)),
                None => return Ok(found),
                Some(next) if bracketed && next == close => break,
                Some(next) if is_delimiter(next) => {
                    return Err(format!("{}: unexpected \"{next}\" parsing {}", self.text, english(self.kind)));
                }
                Some(_) => found.push(element(self)?),
            }
            self.skip_spaces();
            self.take(',');
        }
        self.take(close);
        self.skip_spaces();
        if self.rest.is_empty() {
            return Ok(found);
        }
        Err(format!("{}: trailing garbage after \"{close}\"", self.text))
    }

    /// A value; a range of numbers is as many.
    fn atoms(&mut self, of: Atom) -> Result<Vec<String>, String> {
        let token = self.token()?;
        match (of, range_of(&token)) {
            (Atom::Integer { .. }, Some((first, last))) => (first..=last).map(|n| of.check_number(n)).collect(),
            _ => Ok(vec![of.parse(&token)?]),
        }
    }

    fn pair(&mut self, value: Atom) -> Result<(String, String), String> {
        let key = Atom::Text.parse(&self.token()?)?;
        if !self.take('=') {
            let next = self.rest.chars().next().map(String::from).unwrap_or_default();
            return Err(format!("{}: syntax error at \"{next}\" expecting \"=\"", self.text));
        }
        Ok((key, value.parse(&self.token()?)?))
    }

    fn token(&mut self) -> Result<String, String> {
        let (token, rest) = token(self.rest)?;
        self.rest = rest;
        Ok(token.to_owned())
    }

    fn take(&mut self, wanted: char) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(' ');
    }
}

/// A token at the beginning of a text, and what follows (`ovsdb_token_parse`): up to a delimiter outside of quotes.
pub(super) fn token(text: &str) -> Result<(&str, &str), String> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (place, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if !is_quoted && is_delimiter(character) => return Ok(text.split_at(place)),
            _ => {}
        }
    }
    match is_quoted {
        true => Err(format!("{text}: quoted string extends past end of argument")),
        false => Ok((text, "")),
    }
}

fn is_delimiter(character: char) -> bool {
    ":=, []{}!<>".contains(character)
}

impl Atom {
    /// Reads a token as a value (`ovsdb_atom_from_string`).
    pub(super) fn parse(self, token: &str) -> Result<String, String> {
        match self {
            Atom::Text => text_of(token),
            Atom::OneOf(names) => {
                let text = text_of(token)?;
                let refused =
                    || format!("{} is not one of the allowed values ([{}])", written(&text), names.join(", "));
                if names.contains(&text.as_str()) {
                    Ok(text)
                } else {
                    Err(format!("constraint violation: {}", refused()))
                }
            }
            Atom::Integer { .. } => {
                let number = number_of(token);
                self.check_number(number.ok_or_else(|| format!("\"{token}\" is not a valid integer or range"))?)
            }
            Atom::Boolean => match token {
                "true" | "yes" | "on" | "1" => Ok("true".to_owned()),
                "false" | "no" | "off" | "0" => Ok("false".to_owned()),
                _ => Err(format!("\"{token}\" is not a valid boolean (use \"true\" or \"false\")")),
            },
            Atom::Uuid => Err(format!("\"{token}\" is not a valid UUID")),
        }
    }

    /// The text of a value that was read.
    pub(super) fn written(self, value: &str) -> String {
        match self {
            Atom::Text | Atom::OneOf(_) => written(value),
            Atom::Integer { .. } | Atom::Boolean | Atom::Uuid => value.to_owned(),
        }
    }

    /// A number that is within the bounds, as text.
    fn check_number(self, number: i64) -> Result<String, String> {
        let Atom::Integer { least, most } = self else { return Ok(number.to_string()) };
        let bounds = match (least, most) {
            _ if (least..=most).contains(&number) => return Ok(number.to_string()),
            (least, i64::MAX) => format!("less than minimum allowed value {least}"),
            (i64::MIN, most) => format!("greater than maximum allowed value {most}"),
            (least, most) => format!("not in the valid range {least} to {most} (inclusive)"),
        };
        Err(format!("constraint violation: {number} is {bounds}"))
    }
}

/// A number as `strtoll` reads it.
fn number_of(token: &str) -> Option<i64> {
    token.trim_start().parse().ok()
}

/// `1-3`, at most as many as a set of VLANs has.
fn range_of(token: &str) -> Option<(i64, i64)> {
    const MOST: i64 = 4096;
    let (first, last) = token.split_at_checked(1).and_then(|(sign, rest)| {
        let (digits, last) = rest.split_once('-')?;
        Some((number_of(&format!("{sign}{digits}"))?, number_of(last)?))
    })?;
    (first < last && last.checked_sub(first)? < MOST).then_some((first, last))
}

/// Text, with quotes or without.
fn text_of(token: &str) -> Result<String, String> {
    let Some(quoted) = token.strip_prefix('"') else {
        let empty = "An empty string is not valid as input; use \"\" to represent the empty string";
        return if token.is_empty() { Err(empty.to_owned()) } else { Ok(token.to_owned()) };
    };
    let Some(inner) = quoted.strip_suffix('"') else {
        return Err(format!("{token}: missing quote at end of quoted string"));
    };
    let (mut text, mut escaped) = (String::new(), false);
    for character in inner.chars() {
        match character {
            '\\' if !escaped => escaped = true,
            'n' if escaped => (text.push('\n'), escaped = false).1,
            't' if escaped => (text.push('\t'), escaped = false).1,
            character => (text.push(character), escaped = false).1,
        }
    }
    Ok(text)
}

/// A text as the real one writes it: in quotes if it is no identifier (`string_needs_quotes`).
pub(super) fn written(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let is_plain = first && characters.all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    if is_plain && !matches!(text, "true" | "false") {
        return text.to_owned();
    }
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            character => quoted.push(character),
        }
    }
    quoted + "\""
}

/// What a column takes, in the real one's words (`ovsdb_type_to_english`).
fn english(kind: Kind) -> String {
    match kind {
        Kind::Map { value } => format!("map of (string, {}) pairs", value.english()),
        Kind::Set { of, least: 1, most: 1 } => of.english().to_owned(),
        Kind::Set { of, least, most } => {
            let count = match (least, most) {
                (0, usize::MAX) => String::new(),
                (0, most) => format!("up to {most} "),
                (least, usize::MAX) => format!("{least} or more "),
                (least, most) => format!("{least} to {most} "),
            };
            format!("set of {count}{}s", of.english())
        }
    }
}

impl Atom {
    const fn english(self) -> &'static str {
        match self {
            Atom::Text | Atom::OneOf(_) => "string",
            Atom::Integer { .. } => "integer",
            Atom::Boolean => "boolean",
            Atom::Uuid => "uuid",
        }
    }
}
