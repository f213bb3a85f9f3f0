//! YAML as configurations have it: mappings, lists and words, with their places.
//!
//! An alias (`*name`) is what its anchor (`&name`) stands at, as netplan has it, with the places of that; what aliases make
//! of a text is bounded. Merge keys, tags and further documents are refused, by netplan, too.

use std::collections::BTreeMap;
use std::ops::Range;

use nicteam_diagnostics::Problem;
use saphyr_parser::{Event, Parser, ScanError, Span};

use crate::tree::{DEEPEST, Entries, Entry, MOST_VALUES, Node, Value, too_many};

/// Reads a text; one without content is [`Value::Null`].
///
/// # Errors
/// The first thing that is no YAML, or of the kinds that are refused.
pub fn parse(text: &str) -> Result<Node, Problem> {
    let places = Places::of(text);
    let mut tree = Tree {
        text,
        root: None,
        open: Vec::new(),
        documents: 0,
        anchors: BTreeMap::new(),
        room: MOST_REPEATED,
        values: 0,
    };
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

/// Values that aliases may make of a text: configurations have dozens.
const MOST_REPEATED: usize = 100_000;

/// What was read.
struct Tree<'t> {
    text: &'t str,
    root: Option<Node>,
    open: Vec<Open>,
    documents: usize,
    /// What anchors stand at, by the parser's numbers.
    anchors: BTreeMap<usize, Node>,
    /// Values that aliases may still make.
    room: usize,
    /// Values that were read.
    values: usize,
}

/// A list or mapping that is not closed yet.
enum Open {
    List { elements: Vec<Node>, start: usize, anchor: usize },
    Map { entries: Entries, key: Option<(String, Range<usize>)>, start: usize, anchor: usize },
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
            Event::Alias(anchor) => {
                let node = self.repeated(anchor, &span)?;
                self.add(node)
            }
            Event::Scalar(text, style, anchor, tag) => {
                refuse(&span, tag.is_some())?;
                let is_plain = style == saphyr_parser::ScalarStyle::Plain;
                let value = match is_plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL") {
                    true => Value::Null,
                    false => Value::Scalar(text.into_owned()),
                };
                self.add_anchored(Node { value, span }, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse(&span, tag.is_some())?;
                self.open(Open::List { elements: Vec::new(), start: span.start, anchor }, &span)
            }
            Event::MappingStart(anchor, tag) => {
                refuse(&span, tag.is_some())?;
                self.open(Open::Map { entries: Entries::default(), key: None, start: span.start, anchor }, &span)
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
            Some(Open::List { elements, start, anchor }) => {
                let end = self.end(start, end, elements.last().map(|last| last.span.end));
                self.add_anchored(Node { value: Value::List(elements), span: start..end.max(start) }, anchor)
            }
            Some(Open::Map { entries, start, anchor, .. }) => {
                let end = self.end(start, end, entries.all.last().map(|last| last.span().end));
                self.add_anchored(Node { value: Value::Map(entries.all), span: start..end.max(start) }, anchor)
            }
            None => Ok(()),
        }
    }

    /// An indented list or mapping ends where its last value ends, not where the next line begins; one in brackets behind them.
    fn end(&self, start: usize, end: usize, last: Option<usize>) -> usize {
        let is_bracketed = self.text.get(start..).is_some_and(|rest| rest.starts_with(['{', '[']));
        last.filter(|_| !is_bracketed).unwrap_or(end)
    }

    /// What an alias stands for.
    fn repeated(&mut self, anchor: usize, span: &Range<usize>) -> Result<Node, Problem> {
        let Some(node) = self.anchors.get(&anchor) else {
            let problem = Problem::at(span, "this alias stands within what its anchor names");
            return Err(problem.hint("write what it stands for"));
        };
        let nodes = count(node);
        if nodes > self.room {
            let problem = Problem::at(span, format!("aliases make more than {MOST_REPEATED} values of this text"));
            return Err(problem.hint("no configuration of a network has so many"));
        }
        self.room -= nodes;
        Ok(node.clone())
    }

    /// Adds a value that aliases may stand for; 0: it has no anchor.
    fn add_anchored(&mut self, node: Node, anchor: usize) -> Result<(), Problem> {
        if anchor != 0 {
            // What an anchor keeps is a copy, too.
            let nodes = count(&node);
            self.room = self.room.saturating_sub(nodes);
            self.anchors.insert(anchor, node.clone());
        }
        self.add(node)
    }

    fn add(&mut self, node: Node) -> Result<(), Problem> {
        self.values += 1;
        if self.values > MOST_VALUES {
            return Err(too_many(&node.span));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { elements, .. }) => elements.push(node),
            Some(Open::Map { entries, key, .. }) => match (key.take(), node) {
                (Some((key, key_span)), value) => entries.add(Entry { key, key_span, value })?,
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

/// The values in one, itself among them.
fn count(node: &Node) -> usize {
    1 + match &node.value {
        Value::List(elements) => elements.iter().map(count).sum(),
        Value::Map(entries) => entries.iter().map(|entry| 1 + count(&entry.value)).sum(),
        Value::Scalar(text) => text.len() / 64,
        _ => 0,
    }
}

fn refuse(span: &Range<usize>, has_tag: bool) -> Result<(), Problem> {
    let problem =
        || Problem::at(span, "a tag (`!`) is not taken").hint("remove it: what a value is follows from its key");
    if has_tag { Err(problem()) } else { Ok(()) }
}
