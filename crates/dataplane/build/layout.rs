//! What the maps hold, byte by byte, and a number for it.

use std::fmt::{self, Display, Formatter};

/// A map that outlives the process which made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// Its name.
    pub name: String,
    /// `BPF_MAP_TYPE_...`.
    pub kind: u32,
    /// `BPF_F_...`.
    pub flags: u32,
    /// How many values there can be.
    pub entries: u32,
    /// By what they are found.
    pub key: Shape,
    /// What each is.
    pub value: Shape,
}

/// How bytes are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number of so many bytes.
    Number(u32),
    /// So many of one shape.
    Array(Box<Shape>, u32),
    /// A structure.
    Struct(Struct),
}

/// A structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// Bytes, with padding.
    pub size: u32,
    /// In the order of their offsets.
    pub fields: Vec<Field>,
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Bytes from the structure's start.
    pub offset: u32,
    /// What it is.
    pub shape: Shape,
}

/// A number for the maps of both kinds of programs, the numbers that stand in them, and an epoch. It differs if anything
/// of that does, and is none of those that were counted by hand before: these are small.
pub fn number(maps: [&[Map]; 2], constants: &[(&str, &str, i128)], epoch: u32) -> u32 {
    let mut text = format!("epoch {epoch}\n");
    constants.iter().for_each(|(name, _, value)| text += &format!("{name} {value}\n"));
    maps.iter().for_each(|maps| text += &described(maps));
    let hash = fnv_1a(text.as_bytes());
    ((hash >> 32) as u32 ^ hash as u32) | (1 << 31)
}

/// The maps in their order by name, a line each.
fn described(maps: &[Map]) -> String {
    let mut lines: Vec<String> = maps.iter().map(|map| format!("{map}\n")).collect();
    lines.sort();
    lines.concat()
}

/// The FNV-1a hash of 64 bits.
fn fnv_1a(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

impl Shape {
    /// Its bytes.
    pub fn size(&self) -> u32 {
        match self {
            Shape::Number(size) => *size,
            Shape::Array(shape, len) => shape.size() * len,
            Shape::Struct(own) => own.size,
        }
    }

    /// Every structure in it, itself among them.
    pub fn structs(&self) -> Vec<&Struct> {
        match self {
            Shape::Number(_) => Vec::new(),
            Shape::Array(shape, _) => shape.structs(),
            Shape::Struct(own) => {
                let mut structs = vec![own];
                own.fields.iter().for_each(|field| structs.extend(field.shape.structs()));
                structs
            }
        }
    }
}

impl Display for Map {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Map { name, kind, flags, entries, key, value } = self;
        write!(f, "{name}: type {kind}, flags {flags}, {entries} of {key} -> {value}")
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Number(size) => write!(f, "{size}"),
            Shape::Array(shape, len) => write!(f, "[{shape}; {len}]"),
            Shape::Struct(Struct { name, size, fields }) => {
                write!(f, "{name}({size}) {{")?;
                fields.iter().try_for_each(|Field { name, offset, shape }| write!(f, " {name} @{offset} {shape},"))?;
                f.write_str(" }")
            }
        }
    }
}
