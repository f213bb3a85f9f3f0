//! Records: tables of the file. Their values have the types of their keys and their positions in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::ops::Range;
use std::time::Duration;

use nicteam_impair::Probability;
use nicteam_wire::Mac;

use crate::keys::{Key, Kind, Section};

/// Bytes of the text.
pub type Span = Range<usize>;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

/// A table. Its values have the types of its section's keys.
#[derive(Clone, Debug, Default)]
pub struct Record {
    fields: BTreeMap<&'static str, At<Value>>,
    /// Keys that were meant, but misspelt or given a wrong value.
    broken: BTreeSet<&'static str>,
}

/// A team's options, as text, in the order of the file.
pub type Options = Vec<(At<String>, At<String>)>;

/// A value of a known kind.
#[derive(Clone, Debug)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number, or a rate in bit/s.
    Number(u64),
    /// Whole numbers.
    Numbers(Vec<u64>),
    /// One for each end of a link.
    PerEnd([u64; 2]),
    /// `true` or `false`.
    Flag(bool),
    /// A number from 0 to 1.
    Fraction(f64),
    /// A probability.
    Probability(Probability),
    /// A time.
    Time(Duration),
    /// A MAC address.
    Mac(Mac),
    /// An IP address and the length of its prefix.
    Address((IpAddr, u8)),
    /// Several of them.
    Addresses(Vec<At<(IpAddr, u8)>>),
    /// Names, with their places.
    Names(Vec<At<String>>),
    /// The names at each of two ends.
    Ends([Vec<At<String>>; 2]),
    /// A table.
    Table(Record),
    /// Tables with their names.
    Named(Vec<(At<String>, Record)>),
    /// Tables of a list.
    List(Vec<Record>),
    /// Teams with their options.
    Teams(Vec<(At<String>, Options)>),
}

impl Record {
    /// The value of a key, if it was given and is of this type.
    pub fn get<'a, T: Field<'a>>(&'a self, key: &str) -> Option<At<T>> {
        let at = self.fields.get(key)?;
        Some(At { value: T::of(&at.value)?, span: at.span.clone() })
    }

    /// True if the key was given, rightly or wrongly.
    pub fn has(&self, key: &str) -> bool {
        self.fields.contains_key(key) || self.is_broken(key)
    }

    /// True if the key was meant, but misspelt or given a wrong value. That has
    /// been reported; a consequence of its absence is no second error.
    pub fn is_broken(&self, key: &str) -> bool {
        self.broken.contains(key)
    }

    /// Gives a key its value.
    pub fn set(&mut self, key: &'static str, value: At<Value>) {
        self.fields.insert(key, value);
    }

    /// Notes that a key was meant.
    pub fn mark_broken(&mut self, key: &'static str) {
        self.broken.insert(key);
    }

    /// This record with the keys of another in place of its own.
    pub fn overlaid(&self, other: &Record) -> Record {
        let mut both = self.clone();
        both.fields.extend(other.fields.iter().map(|(key, at)| (*key, at.clone())));
        both.broken.extend(&other.broken);
        both
    }
}

impl Record {
    /// It as an inline table of a file; `times` replaces keys of times, or leaves them out.
    pub fn toml(&self, section: &Section, times: &[(&str, Option<Duration>)]) -> String {
        let time = |time: &Duration| format!("\"{}ms\"", time.as_micros() as f64 / 1e3);
        let names = |names: &[At<String>]| match names {
            [one] => format!("{:?}", one.value),
            _ => format!("{:?}", names.iter().map(|at| &at.value).collect::<Vec<_>>()),
        };
        let value = |key: &Key| match (&self.fields.get(key.name)?.value, &key.kind) {
            (Value::Number(bps), Kind::Rate) => Some(format!("\"{bps}bit\"")),
            (Value::Number(number), _) => Some(number.to_string()),
            (Value::Text(text), _) => Some(format!("{text:?}")),
            (Value::Flag(flag), _) => Some(flag.to_string()),
            (Value::Time(at), _) => Some(time(at)),
            (Value::Names(all), _) => Some(names(all)),
            (Value::Ends([one, other]), _) => Some(format!("[{}, {}]", names(one), names(other))),
            _ => None,
        };
        let mut seen = BTreeSet::new();
        let mut said: Vec<String> =
            times.iter().filter_map(|(key, at)| Some(format!("{key} = {}", time(at.as_ref()?)))).collect();
        for key in section.all().filter(|key| seen.insert(key.name) && times.iter().all(|(name, _)| *name != key.name))
        {
            said.extend(value(key).map(|value| format!("{} = {value}", key.name)));
        }
        format!("{{ {} }}", said.join(", "))
    }

    /// The same at another place of the file: what is wrong with it is wrong there.
    pub fn moved(&self, span: &Span) -> Record {
        let mut moved = self.clone();
        for at in moved.fields.values_mut() {
            at.span = span.clone();
            let names: Vec<&mut At<String>> = match &mut at.value {
                Value::Names(names) => names.iter_mut().collect(),
                Value::Ends(ends) => ends.iter_mut().flatten().collect(),
                _ => Vec::new(),
            };
            names.into_iter().for_each(|name| name.span = span.clone());
        }
        moved
    }
}

/// A type that a record's value can be taken as.
pub trait Field<'a>: Sized {
    /// The value as this type, if it is one.
    fn of(value: &'a Value) -> Option<Self>;
}

macro_rules! field {
    ($type:ty, $value:ident => $pattern:pat => $taken:expr) => {
        impl<'a> Field<'a> for $type {
            fn of($value: &'a Value) -> Option<Self> {
                match $value {
                    $pattern => Some($taken),
                    _ => None,
                }
            }
        }
    };
}

field!(&'a str, value => Value::Text(text) => text);
field!(u64, value => Value::Number(number) => *number);
field!(&'a [u64], value => Value::Numbers(numbers) => numbers);
field!([u64; 2], value => Value::PerEnd(numbers) => *numbers);
field!(bool, value => Value::Flag(flag) => *flag);
field!(f64, value => Value::Fraction(fraction) => *fraction);
field!(Probability, value => Value::Probability(probability) => *probability);
field!(Duration, value => Value::Time(time) => *time);
field!(Mac, value => Value::Mac(mac) => *mac);
field!((IpAddr, u8), value => Value::Address(address) => *address);
field!(&'a [At<(IpAddr, u8)>], value => Value::Addresses(addresses) => addresses);
field!(&'a [At<String>], value => Value::Names(names) => names);
field!(&'a [Vec<At<String>>; 2], value => Value::Ends(ends) => ends);
field!(&'a Record, value => Value::Table(record) => record);
field!(&'a [(At<String>, Record)], value => Value::Named(named) => named);
field!(&'a [Record], value => Value::List(records) => records);
field!(&'a [(At<String>, Options)], value => Value::Teams(teams) => teams);
