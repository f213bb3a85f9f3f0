//! `COLUMN=VALUE` and `COLUMN:KEY=VALUE` (Open vSwitch 3.1 `lib/db-ctl-base.c`, `set_column`).

use super::datum::{Atom, Kind, Value, token, written};
use super::error::{Error, ErrorKind};
use super::schema::Column;
use super::table::Table;
use super::word::Word;

/// A column, or one key of it, and the value that it is to have.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The column.
    pub column: &'static Column,
    /// The value; of a setting with a key a map with that key alone, whose other keys stay.
    pub value: Value,
    /// True if it has a key.
    pub has_key: bool,
    /// The word's place in the line.
    pub place: usize,
}

impl PartialEq for Setting {
    fn eq(&self, other: &Setting) -> bool {
        self.column == other.column && self.value == other.value && self.has_key == other.has_key
    }
}

impl Eq for Setting {}

impl Setting {
    /// Reads one for a record of this table.
    pub(super) fn parse(table: Table, word: &Word) -> Result<Setting, Error> {
        let at = |kind| Error { kind, place: word.place };
        let bad = |words: String| at(ErrorKind::BadValue(words));
        let text = &word.text;
        let (name, mut rest) = token(text).map_err(bad)?;
        if name.is_empty() {
            return Err(at(ErrorKind::MissingColumn(text.clone())));
        }
        let column = table.column(name).map_err(at)?;
        let mut key = None;
        if let Some(after) = rest.strip_prefix(':') {
            let (found, after) = token(after).map_err(bad)?;
            (key, rest) = (Some(found), after);
        }
        let missing = || at(ErrorKind::MissingValue(text.clone()));
        let value = rest.strip_prefix('=').filter(|value| !value.is_empty()).ok_or_else(missing)?;
        let read_only = || at(ErrorKind::ReadOnly { column: column.name, table });
        if !column.is_mutable {
            return Err(read_only());
        }
        let value = match (key, column.kind) {
            (None, kind) => Value::parse(kind, value).map_err(bad)?,
            (Some(_), Kind::Set { .. }) => return Err(at(ErrorKind::NoKeys(column.name))),
            (Some(key), Kind::Map { value: of }) => {
                let key = Atom::Text.parse(key).map_err(bad)?;
                Value::Map(vec![(key, of.parse(value).map_err(bad)?)])
            }
        };
        Ok(Setting { column, value, has_key: key.is_some(), place: word.place })
    }

    /// The word that is read as this setting.
    pub fn text(&self) -> String {
        let (name, kind) = (self.column.name, self.column.kind);
        match (&self.value, kind) {
            (Value::Map(pairs), Kind::Map { value: of }) if self.has_key && !pairs.is_empty() => {
                let (key, value) = &pairs[0];
                format!("{name}:{}={}", written(key), of.written(value))
            }
            (value, kind) => format!("{name}={}", value.text(kind)),
        }
    }
}
