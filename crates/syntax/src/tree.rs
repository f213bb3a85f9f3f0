//! A text of nested lists and mappings, with the place of everything: what YAML and JSON have in common.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry::{Occupied, Vacant};
use std::ops::Range;

use nicteam_diagnostics::Problem;

/// More nesting than this is refused.
pub const DEEPEST: usize = 32;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What stands there.
    pub value: Value,
    /// Bytes of the text.
    pub span: Range<usize>,
}

/// What can stand at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, or `null`.
    Null,
    /// A word, a number, a text.
    Scalar(String),
    /// Elements in their order.
    List(Vec<Node>),
    /// Entries in their order, each key once.
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its key.
    pub key: String,
    /// Bytes of the text that are the key.
    pub key_span: Range<usize>,
    /// Its value.
    pub value: Node,
}

impl Entry {
    /// Key and value together.
    pub fn span(&self) -> Range<usize> {
        self.key_span.start..self.value.span.end.max(self.key_span.end)
    }
}

impl Node {
    /// What it is, for messages.
    pub fn what(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Scalar(_) => "a value",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// Its text, if it is one.
    pub fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value),
            _ => None,
        }
    }

    /// Its text.
    ///
    /// # Errors
    /// It is a list, a mapping, or nothing.
    pub fn text(&self, key: &str) -> Result<&str, Problem> {
        self.scalar().ok_or_else(|| self.other(key, "one value"))
    }

    /// Its entries; none of nothing.
    ///
    /// # Errors
    /// It is something else than a mapping.
    pub fn entries(&self, key: &str) -> Result<&[Entry], Problem> {
        match &self.value {
            Value::Map(entries) => Ok(entries),
            Value::Null => Ok(&[]),
            _ => Err(self.other(key, "a mapping")),
        }
    }

    /// Its elements; none of nothing.
    ///
    /// # Errors
    /// It is something else than a list.
    pub fn elements(&self, key: &str) -> Result<&[Node], Problem> {
        match &self.value {
            Value::List(elements) => Ok(elements),
            Value::Null => Ok(&[]),
            _ => Err(self.other(key, "a list")),
        }
    }

    /// Gives everything in it another place: of a text that is embedded in another one.
    pub fn relocate(&mut self, to: &impl Fn(&Range<usize>) -> Range<usize>) {
        self.span = to(&self.span);
        match &mut self.value {
            Value::List(elements) => elements.iter_mut().for_each(|element| element.relocate(to)),
            Value::Map(entries) => {
                for entry in entries {
                    entry.key_span = to(&entry.key_span);
                    entry.value.relocate(to);
                }
            }
            Value::Null | Value::Scalar(_) => {}
        }
    }

    fn other(&self, key: &str, wanted: &str) -> Problem {
        let problem = Problem::at(&self.span, format!("`{key}` takes {wanted}, and this is {}", self.what()));
        match wanted {
            "a list" => problem.hint(format!("a list is `{key}: [first, second]`")),
            "a mapping" => problem.hint(format!("a mapping has keys with values below `{key}`")),
            _ => problem,
        }
    }
}

/// A mapping while it is read.
#[derive(Default)]
pub struct Entries {
    /// The entries, in their order.
    pub all: Vec<Entry>,
    /// Where each key stands.
    keys: BTreeMap<String, Range<usize>>,
}

impl Entries {
    /// Adds an entry.
    ///
    /// # Errors
    /// The mapping has its key already.
    pub fn add(&mut self, entry: Entry) -> Result<(), Problem> {
        match self.keys.entry(entry.key.clone()) {
            Occupied(earlier) => {
                Err(Problem::at(&entry.key_span, format!("`{}` stands twice in one mapping", entry.key))
                    .also(earlier.get(), "first here")
                    .hint("remove one of the two; which of them a program takes is not said anywhere"))
            }
            Vacant(place) => {
                place.insert(entry.key_span.clone());
                self.all.push(entry);
                Ok(())
            }
        }
    }
}

/// Values that a text may have: those of a thousand bonds are ten thousand.
pub const MOST_VALUES: usize = 500_000;

/// The error of a text that has more, at the first that is one too many.
pub fn too_many(span: &Range<usize>) -> Problem {
    let problem = Problem::at(span, format!("the text has more than {MOST_VALUES} values"));
    problem.hint("no configuration of a network has so many")
}
