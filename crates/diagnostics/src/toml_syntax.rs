//! Faults of the TOML itself, with a hint what to change.

use std::ops::Range;

use crate::Problem;
use crate::nearest;

/// The problems behind the parser's errors, and the end of the text that can be read.
///
/// The lines around a wrong value can be read. Those after an open list or `{ }`
/// cannot: the parser's errors there follow from the open bracket, and are dropped.
pub fn problems(errors: &[toml::de::Error], text: &str) -> (Vec<Problem>, Option<usize>) {
    let start = |error: &toml::de::Error| error.span().map_or(text.len(), |span| span.start);
    let open = first_open(errors, text);
    let first_structural =
        errors.iter().filter(|error| !is_local(error.message())).map(|error| content_end(text, start(error))).min();
    let kept = errors.iter().filter(|error| open.is_none_or(|end| start(error) <= end));
    let mut problems: Vec<Problem> = Vec::new();
    for error in kept {
        // Several errors at one place are one fault.
        if open != Some(start(error)) || open_bracket(error.message()).is_some() {
            problems.push(problem(error, text));
        }
    }
    (problems, first_structural)
}

/// The one problem of a text that is not TOML at all: at least half of its lines cannot be read,
/// and these are three or more. Blank lines and comments do not count, nor does what follows a
/// list or `{ }` that was not closed. `hint` says where the file that is wanted is described.
pub fn not_toml(errors: &[toml::de::Error], text: &str, hint: &str) -> Option<Problem> {
    let end_of_readable = first_open(errors, text).unwrap_or(text.len());
    let mut spans: Vec<Range<usize>> = errors.iter().filter_map(|error| error.span()).collect();
    spans.sort_by_key(|span| span.start);
    let first = spans.first()?;
    let mut starts = spans.iter().map(|span| span.start).take_while(|start| *start < end_of_readable).peekable();
    let (mut end, mut lines, mut faulty) = (0, 0, 0);
    for line in text.get(..end_of_readable).unwrap_or(text).split_inclusive('\n') {
        end += line.len();
        let mut is_faulty = false;
        while starts.next_if(|start| *start < end).is_some() {
            is_faulty = true;
        }
        if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            lines += 1;
            faulty += usize::from(is_faulty);
        }
    }
    (faulty >= LEAST_FAULTY && faulty * 2 >= lines).then(|| {
        Problem::at(first, "this file is not TOML: most of its lines cannot be read")
            .label("the first place that is not TOML")
            .hint(hint)
    })
}

/// Where the parser found the first list or `{ }` that is not closed.
fn first_open(errors: &[toml::de::Error], text: &str) -> Option<usize> {
    let open = errors.iter().filter(|error| open_bracket(error.message()).is_some());
    open.map(|error| error.span().map_or(text.len(), |span| span.start)).min()
}

/// Lines that cannot be read before a text is taken for something else than TOML.
const LEAST_FAULTY: usize = 3;

/// True if two spans touch the same line.
pub fn same_line(text: &str, a: &Range<usize>, b: &Range<usize>) -> bool {
    let (first, last) = (a.start.min(b.start), a.start.max(b.start));
    text.as_bytes().get(first..last).is_none_or(|between| !between.contains(&b'\n'))
}

fn problem(error: &toml::de::Error, text: &str) -> Problem {
    let span = error.span().unwrap_or(text.len()..text.len());
    let found = text.get(span.clone()).unwrap_or("");
    let message = error.message();
    if message == "duplicate key" {
        let hint = "a key, and a section's header, stands once; remove one of the two";
        return Problem::at(&span, format!("`{found}` is given twice")).label("given before").hint(hint);
    }
    if is_unquoted(message) && !found.is_empty() {
        let problem = Problem::at(&span, format!("`{found}` is not a TOML value"));
        return match nearest(found, ["true", "false"]) {
            Some(near) if message.starts_with("invalid boolean") => problem.hint(format!("did you mean `{near}`?")),
            _ => problem.hint(format!("text goes in quotes: `\"{found}\"`")),
        };
    }
    if let Some((what, close, form)) = open_bracket(message) {
        // The parser reports the next line; the fault is where the text before ends.
        let end = content_end(text, span.start);
        let message = format!("{what} goes on where something else begins");
        return Problem::at(&(end..end), message).label(format!("`,` or `{close}` is missing after this")).hint(form);
    }
    let problem = Problem::at(&span, format!("TOML: {message}"));
    match hint(message) {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// Start of the last character before a place that is no white space.
fn content_end(text: &str, place: usize) -> usize {
    let before = text.get(..place).unwrap_or("").trim_end();
    before.char_indices().next_back().map_or(0, |(index, _)| index)
}

/// True of errors after which the next lines can be read.
fn is_local(message: &str) -> bool {
    message == "duplicate key" || is_unquoted(message)
}

fn is_unquoted(message: &str) -> bool {
    message.starts_with("string values must be quoted") || message.starts_with("invalid boolean")
}

/// For a list or `{ }` that was not closed: what it is, how it closes, and its form.
fn open_bracket(message: &str) -> Option<(&'static str, char, &'static str)> {
    let is = |beginnings: &[&str]| beginnings.iter().any(|beginning| message.starts_with(beginning));
    if is(&["unclosed inline table", "missing comma between key-value", "missing key for inline table"]) {
        Some(("a table in braces", '}', "its form is `{ key = value, key = value }`"))
    } else if is(&["unclosed array", "missing comma between array"]) {
        Some(("a list", ']', "its form is `[first, second]`"))
    } else {
        None
    }
}

fn hint(message: &str) -> Option<&'static str> {
    Some(match message {
        m if m.starts_with("unclosed table") => "a section's header ends with `]`, a list's with `]]`",
        m if m.starts_with("invalid basic string") => "close the text with `\"` on the same line",
        m if m.starts_with("key with no value") => "a line is `key = value`",
        m if m.starts_with("invalid unquoted key") => "names are made of `a-z`, `0-9` and `-`",
        _ => return None,
    })
}
