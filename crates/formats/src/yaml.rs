//! YAML as configurations have it: mappings, lists and words, with their places.
//!
//! What lets one place stand for another (anchors, aliases, merge keys) is refused, so a text is read in a time that its own
//! length bounds; tags and further documents, too.

use std::ops::Range;

use nicteam_diagnostics::Problem;
use saphyr_parser::{Event, Parser, ScanError, Span};

use crate::tree::{DEEPEST, Entry, Node, Value, add};

/// Reads a text; one without content is [`Value::Null`].
///
/// # Errors
/// The first thing that is no YAML, or of the kinds that are refused.
pub fn parse(text: &str) -> Result<Node, Problem> {
    let places = Places::of(text);
    let mut tree = Tree { text, root: None, open: Vec::new(), documents: 0 };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| not_yaml(text, &places, &error))?;
        tree.take(event, places.bytes(&span))?;
    }
    Ok(tree.root.unwrap_or(Node { value: Value::Null, span: 0..0 }))
}

/// Where characters begin, as the parser counts characters.
struct Places {
    /// Of each character and of the end; none where each character is a byte.
    starts: Option<Vec<usize>>,
    length: usize,
}

impl Places {
    fn of(text: &str) -> Places {
        let starts = text.char_indices().map(|(byte, _)| byte).chain([text.len()]);
        Places { starts: (!text.is_ascii()).then(|| starts.collect()), length: text.len() }
    }

    fn byte(&self, index: usize) -> usize {
        match &self.starts {
            Some(starts) => starts.get(index).copied().unwrap_or(self.length),
            None => index.min(self.length),
        }
    }

    fn bytes(&self, span: &Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }
}

fn not_yaml(text: &str, places: &Places, error: &ScanError) -> Problem {
    let at = places.byte(error.marker().index());
    let line_start = text.get(..at).unwrap_or("").rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(line_start..).unwrap_or("").split('\n').next().unwrap_or("");
    let indent = line.len() - line.trim_start().len();
    if let Some(tab) = line.get(..indent).and_then(|indent| indent.find('\t')) {
        let tab = line_start + tab;
        let problem = Problem::at(&(tab..tab + 1), "a tab cannot indent a line of YAML");
        return problem.hint("put spaces in its place, as many as the lines beside it have");
    }
    let hint = match line.contains('\t') {
        true => "there is a tab in this line: YAML parts words by spaces",
        false => "a line is `key: value`, indented by spaces below the key that it belongs to",
    };
    Problem::at(&(at..at), format!("this is no YAML: {}", error.info())).hint(hint)
}

/// What was read.
struct Tree<'t> {
    text: &'t str,
    root: Option<Node>,
    open: Vec<Open>,
    documents: usize,
}

/// A list or mapping that is not closed yet.
enum Open {
    List { elements: Vec<Node>, start: usize },
    Map { entries: Vec<Entry>, key: Option<(String, Range<usize>)>, start: usize },
}

impl Tree<'_> {
    fn take(&mut self, event: Event<'_>, span: Range<usize>) -> Result<(), Problem> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    let problem = Problem::at(&span, "a second document begins here");
                    return Err(problem.hint("put it into a file of its own, or remove `---`"));
                }
                Ok(())
            }
            Event::Alias(_) => Err(Problem::at(&span, "an alias (`*`) is not taken")
                .hint("write what it stands for; netplan takes none either")),
            Event::Scalar(text, style, anchor, tag) => {
                refuse(&span, anchor, tag.is_some())?;
                let is_plain = style == saphyr_parser::ScalarStyle::Plain;
                let value = match is_plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL") {
                    true => Value::Null,
                    false => Value::Scalar(text.into_owned()),
                };
                self.add(Node { value, span })
            }
            Event::SequenceStart(anchor, tag) => {
                refuse(&span, anchor, tag.is_some())?;
                self.open(Open::List { elements: Vec::new(), start: span.start }, &span)
            }
            Event::MappingStart(anchor, tag) => {
                refuse(&span, anchor, tag.is_some())?;
                self.open(Open::Map { entries: Vec::new(), key: None, start: span.start }, &span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span.end),
        }
    }

    fn open(&mut self, open: Open, span: &Range<usize>) -> Result<(), Problem> {
        if let Some(Open::Map { key: None, .. }) = self.open.last() {
            return Err(
                Problem::at(span, "a list or mapping stands where a key is expected").hint("a line is `key: value`")
            );
        }
        if self.open.len() == DEEPEST {
            let problem = Problem::at(span, format!("lists and mappings are nested more than {DEEPEST} deep"));
            return Err(problem.hint("no configuration of a network is"));
        }
        self.open.push(open);
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), Problem> {
        match self.open.pop() {
            Some(Open::List { elements, start }) => {
                let end = self.end(start, end, elements.last().map(|last| last.span.end));
                self.add(Node { value: Value::List(elements), span: start..end.max(start) })
            }
            Some(Open::Map { entries, start, .. }) => {
                let end = self.end(start, end, entries.last().map(|last| last.span().end));
                self.add(Node { value: Value::Map(entries), span: start..end.max(start) })
            }
            None => Ok(()),
        }
    }

    /// An indented list or mapping ends where its last value ends, not where the next line begins; one in brackets behind them.
    fn end(&self, start: usize, end: usize, last: Option<usize>) -> usize {
        let is_bracketed = self.text.get(start..).is_some_and(|rest| rest.starts_with(['{', '[']));
        last.filter(|_| !is_bracketed).unwrap_or(end)
    }

    fn add(&mut self, node: Node) -> Result<(), Problem> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { elements, .. }) => elements.push(node),
            Some(Open::Map { entries, key, .. }) => match (key.take(), node) {
                (Some((key, key_span)), value) => add(entries, Entry { key, key_span, value })?,
                (None, Node { value: Value::Scalar(text), span }) if text == "<<" => {
                    return Err(Problem::at(&span, "a merge key (`<<`) is not taken").hint("write the keys themselves"));
                }
                (None, Node { value: Value::Scalar(text), span }) => *key = Some((text, span)),
                (None, Node { span, .. }) => {
                    return Err(Problem::at(&span, "there is no key here").hint("a line is `key: value`"));
                }
            },
        }
        Ok(())
    }
}

/// Anchors and tags.
fn refuse(span: &Range<usize>, anchor: usize, has_tag: bool) -> Result<(), Problem> {
    match (anchor, has_tag) {
        (0, false) => Ok(()),
        (0, true) => {
            Err(Problem::at(span, "a tag (`!`) is not taken").hint("remove it: what a value is follows from its key"))
        }
        _ => {
            Err(Problem::at(span, "an anchor (`&`) is not taken")
                .hint("remove it, and write the value where it is used"))
        }
    }
}
