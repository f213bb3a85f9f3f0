//! JSON (RFC 8259) with the place of everything, which `serde_json` does not keep.

use std::ops::Range;

use nicteam_diagnostics::Problem;

use crate::rest::Rest;
use crate::tree::{DEEPEST, Entries, Entry, MOST_VALUES, Node, Value, too_many};
use crate::unescaped::in_source;

/// Reads a text.
///
/// # Errors
/// The first thing that is no JSON; a key that stands twice in one object.
pub fn parse(text: &str) -> Result<Node, Problem> {
    // All but the first stand behind one of these.
    if let Some((place, _)) = text.match_indices([',', ':']).nth(MOST_VALUES) {
        return Err(too_many(&(place..place + 1)));
    }
    let mut rest = Rest::of(text);
    let root = rest.value(0)?;
    rest.space();
    match rest.peek() {
        None => Ok(root),
        Some(_) => Err(rest.wrong("something follows the end of the text").hint("one pair of braces holds everything")),
    }
}

/// Reads a value of another file, of whose bytes `spans` are the places there: everything in it has its place in that file.
///
/// # Errors
/// As [`parse`], with places in that file.
pub fn parse_embedded(text: &str, spans: &[Range<usize>]) -> Result<Node, Problem> {
    let to = |span: &Range<usize>| in_source(spans, span);
    let mut root = parse(text).map_err(|problem| Problem {
        span: problem.span.as_ref().map(to),
        also: problem.also.map(|also| Box::new((to(&also.0), also.1))),
        ..problem
    })?;
    root.relocate(&to);
    Ok(root)
}

impl Rest<'_> {
    fn space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\r' | '\n')) {
            self.at += 1;
        }
    }

    /// What stands here is wrong.
    fn wrong(&self, message: &str) -> Problem {
        let end = self.at + self.peek().map_or(0, char::len_utf8);
        Problem::at(&(self.at..end), format!("this is no JSON: {message}"))
    }

    fn value(&mut self, depth: usize) -> Result<Node, Problem> {
        self.space();
        if depth > DEEPEST {
            let problem =
                Problem::at(&(self.at..self.at), format!("lists and objects are nested more than {DEEPEST} deep"));
            return Err(problem.hint("no configuration of a team is"));
        }
        let start = self.at;
        let value = match self.peek() {
            Some('{') => Value::Map(self.object(depth)?),
            Some('[') => Value::List(self.array(depth)?),
            Some('"') => Value::Scalar(self.string()?.0),
            Some(first) if first == '-' || first.is_ascii_alphanumeric() => self.literal()?,
            None => return Err(self.wrong("a value is missing at the end of the text")),
            Some(_) => return Err(self.wrong("no value begins so").hint("text stands in double quotes: `\"eth1\"`")),
        };
        Ok(Node { value, span: start..self.at })
    }

    /// `true`, `false`, `null` or a number.
    fn literal(&mut self) -> Result<Value, Problem> {
        let start = self.at;
        while self.peek().is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, '-' | '+' | '.' | '_')) {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        match word {
            "null" => Ok(Value::Null),
            "true" | "false" => Ok(Value::Scalar(word.to_owned())),
            _ if is_number(word) => Ok(Value::Scalar(word.to_owned())),
            _ => Err(Problem::at(&(start..self.at), format!("this is no JSON: `{word}` is no value"))
                .hint(format!("text stands in double quotes: `\"{word}\"`"))),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Entry>, Problem> {
        let (start, mut entries) = (self.at, Entries::default());
        self.next();
        loop {
            self.space();
            match self.peek() {
                Some('}') if entries.all.is_empty() => break,
                Some('"') => {}
                None => return Err(open(start, "{")),
                Some(_) => {
                    return Err(self
                        .wrong("a key is expected here")
                        .hint("a key stands in double quotes: `\"device\"`"));
                }
            }
            let (key, key_span) = self.string()?;
            self.space();
            if self.peek() != Some(':') {
                return Err(self.wrong("`:` is missing between key and value"));
            }
            self.next();
            let value = self.value(depth + 1)?;
            entries.add(Entry { key, key_span, value })?;
            if !self.goes_on(start, '}')? {
                return Ok(entries.all);
            }
        }
        self.next();
        Ok(entries.all)
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Node>, Problem> {
        let (start, mut elements) = (self.at, Vec::new());
        self.next();
        self.space();
        if self.peek() == Some(']') {
            self.next();
            return Ok(elements);
        }
        loop {
            elements.push(self.value(depth + 1)?);
            if !self.goes_on(start, ']')? {
                return Ok(elements);
            }
        }
    }

    /// True behind a comma, false behind the end.
    fn goes_on(&mut self, start: usize, end: char) -> Result<bool, Problem> {
        self.space();
        match self.peek() {
            Some(',') => {
                self.next();
                self.space();
                match self.peek() {
                    Some(next) if next == end => {
                        Err(self.wrong("a comma stands before the end").hint("remove the comma"))
                    }
                    _ => Ok(true),
                }
            }
            Some(next) if next == end => {
                self.next();
                Ok(false)
            }
            None => Err(open(start, if end == '}' { "{" } else { "[" })),
            Some(_) => Err(self.wrong(&format!("`,` or `{end}` is expected here"))),
        }
    }

    fn string(&mut self) -> Result<(String, Range<usize>), Problem> {
        let (start, mut text) = (self.at, String::new());
        self.next();
        loop {
            match self.next() {
                Some('"') => return Ok((text, start..self.at)),
                Some('\\') => text.push(self.escaped()?),
                Some(next) if !next.is_control() => text.push(next),
                _ => {
                    let problem =
                        Problem::at(&(start..start + 1), "this is no JSON: the quote is not closed in its line");
                    return Err(problem.hint("text ends with `\"`"));
                }
            }
        }
    }

    fn escaped(&mut self) -> Result<char, Problem> {
        let refused = |at: usize| Problem::at(&(at..at), "this is no JSON: nothing is written so behind a backslash");
        let at = self.at;
        Ok(match self.next() {
            Some(same @ ('"' | '\\' | '/')) => same,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let high = self.unit().ok_or_else(|| refused(at))?;
                let is_pair = (0xd800..0xdc00).contains(&high) && self.text[self.at..].starts_with("\\u");
                let low = if is_pair {
                    self.at += 2;
                    Some(self.unit().ok_or_else(|| refused(at))?)
                } else {
                    None
                };
                let units = [Some(high), low].into_iter().flatten();
                char::decode_utf16(units).next().and_then(Result::ok).ok_or_else(|| refused(at))?
            }
            _ => return Err(refused(at)),
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u16::from_str_radix(digits, 16).ok()
    }
}

fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let leads_with_zero = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    digits.starts_with(|c: char| c.is_ascii_digit()) && !leads_with_zero && word.parse::<f64>().is_ok()
}

fn open(start: usize, bracket: &str) -> Problem {
    let problem = Problem::at(&(start..start + 1), format!("this is no JSON: `{bracket}` is not closed"));
    problem.hint("every `{` has its `}`, every `[` its `]`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_places() {
        let text = "{\"a\": [1, -2.5e3, true, null, \"x\\u00e4\\ud83d\\ude00\\n\"], \"b\": {}}";
        let root = parse(text).unwrap();
        let list = root.get("a").unwrap().elements("a").unwrap();
        let texts: Vec<Option<&str>> = list.iter().map(Node::scalar).collect();
        assert_eq!(texts, [Some("1"), Some("-2.5e3"), Some("true"), None, Some("x\u{e4}\u{1f600}\n")]);
        assert_eq!(&text[list[1].span.clone()], "-2.5e3");
        assert_eq!(root.get("b").unwrap().entries("b").unwrap(), []);
    }

    #[test]
    fn what_is_no_json_is_pointed_at() {
        for (text, at, message) in [
            ("", 0..0, "a value is missing"),
            ("{a: 1}", 1..2, "a key is expected"),
            ("{\"a\" 1}", 5..6, "`:` is missing"),
            ("{\"a\": 1,}", 8..9, "a comma stands"),
            ("{\"a\": 1", 0..1, "`{` is not closed"),
            ("[1 2]", 3..4, "`,` or `]`"),
            ("[01]", 1..3, "`01` is no value"),
            ("[eth0]", 1..5, "`eth0` is no value"),
            ("\"a\nb\"", 0..1, "not closed in its line"),
            ("\"\\x\"", 2..2, "behind a backslash"),
            ("\"\\ud800\"", 2..2, "behind a backslash"),
            ("{} 1", 3..4, "something follows"),
            ("{\"a\": 1, \"a\": 2}", 9..12, "stands twice"),
        ] {
            let problem = parse(text).unwrap_err();
            assert!(problem.message.contains(message), "{text}: {}", problem.message);
            assert_eq!(problem.span, Some(at), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).unwrap_err().message.contains("nested"));
    }
}
