//! What keys of an experiment file are; `sections.rs` has them.

use std::ops::RangeInclusive;
use std::time::Duration;

/// A table of the file and the keys it may have.
pub struct Section {
    /// Its header, for messages and for the reference: `[hosts.NAME]`.
    pub header: &'static str,
    /// What it describes.
    pub doc: &'static str,
    /// Its keys, in the order of the reference.
    pub keys: &'static [Key],
    /// Those that each of several kinds adds.
    pub of_kinds: &'static [&'static [Key]],
}

/// A key.
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// Whether it may be left out.
    pub need: Need,
    /// What it says, for the reference.
    pub doc: &'static str,
}

/// Whether a key may be left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It may not.
    Required,
    /// It may; what then holds, in words.
    Otherwise(&'static str),
    /// It may; then this value holds, written as in the file.
    Default(&'static str),
}

/// What a key's value is.
pub enum Kind {
    /// Any text.
    Text,
    /// The name of what the table describes.
    Name,
    /// A name made of letters, digits, `-` and `_`, unknown to us.
    Word,
    /// A whole number in this range.
    Integer(RangeInclusive<u64>),
    /// A number, or a list of numbers.
    Numbers(RangeInclusive<u64>),
    /// A number for both ends of a link, or a list of two: one an end.
    PerEnd(RangeInclusive<u64>),
    /// A number from 0 to 1.
    Fraction,
    /// Per cent, as text.
    Percent,
    /// A rate, as text with its unit.
    Rate,
    /// A number of bytes, with a unit or without.
    Bytes(RangeInclusive<u64>),
    /// A time in this range, as text with its unit.
    Time(RangeInclusive<Duration>),
    /// A MAC address.
    Mac,
    /// An IP address with the length of its prefix.
    Address,
    /// A list of addresses.
    Addresses,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The name of one thing.
    One(Thing),
    /// The name of one thing, or a list of names.
    Many(Thing),
    /// Two ends; each the name of one node, or a list of names.
    Ends,
    /// A number, or a number with a unit as text; what units there are depends on another key.
    Quantity,
    /// Two of them.
    Quantities,
    /// A table.
    Table(&'static Section),
    /// A table of tables with free names.
    Named(Thing, &'static Section),
    /// A list of tables.
    List(&'static Section),
    /// A number of empty tables, or a list of tables.
    CountOrList(RangeInclusive<u64>, &'static Section),
    /// Tables with free names that hold team options.
    Teams,
}

impl Kind {
    /// A shortest and a longest time.
    pub const fn time(shortest_ms: u64, longest_ms: u64) -> Kind {
        Kind::Time(Duration::from_millis(shortest_ms)..=Duration::from_millis(longest_ms))
    }
}

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A host.
    Host,
    /// A switch.
    Switch,
    /// A team.
    Team,
    /// An impairment of links.
    Impairment,
    /// A target.
    Target,
    /// A workload.
    Workload,
    /// A run.
    Run,
    /// A kind of event.
    Event,
    /// A network device of a machine.
    Device,
}

impl Thing {
    /// In a message: `host`.
    pub fn word(self) -> &'static str {
        match self {
            Thing::Host => "host",
            Thing::Switch => "switch",
            Thing::Team => "team",
            Thing::Impairment => "impairment",
            Thing::Target => "target",
            Thing::Workload => "workload",
            Thing::Run => "run",
            Thing::Event => "kind of event",
            Thing::Device => "device",
        }
    }

    /// With its article.
    pub fn one(self) -> String {
        let article = if self == Thing::Impairment { "an" } else { "a" };
        format!("{article} {}", self.word())
    }

    /// The longest name. A node's name becomes part of device names, of which Linux allows 15 characters.
    pub fn longest_name(self) -> usize {
        match self {
            Thing::Host | Thing::Switch => 10,
            _ => 40,
        }
    }
}

impl Section {
    /// Every key.
    pub fn all(&self) -> impl Iterator<Item = &'static Key> + Clone + use<> {
        self.keys.iter().chain(self.of_kinds.iter().copied().flatten())
    }

    /// For messages: where a key stands.
    pub fn place(&self) -> String {
        if self.header.starts_with('[') { format!("in {}", self.header) } else { format!("at the {}", self.header) }
    }

    /// The key of a name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.all().find(|key| key.name == name)
    }
}
