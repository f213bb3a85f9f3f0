//! The maps of an eBPF object, by its type information (BTF; Linux `Documentation/bpf/btf.rst`).
//!
//! clang writes it, so nothing here is hostile: what is not as expected ends the build.

use super::layout::{Field, Map, Shape, Struct};

/// The maps that an object makes and other processes may take over: those of `.maps`, and sections of data that change.
pub fn maps(object: &[u8]) -> Vec<Map> {
    let btf = Btf::parse(section(object, ".BTF"));
    let mut maps = Vec::new();
    for kind in &btf.types {
        let Kind::Section(name, variables) = kind else { continue };
        let variables = variables.iter().map(|variable| match btf.get(*variable) {
            Kind::Variable(name, of) => (name, *of),
            other => panic!("{other:?} in the section {name}"),
        });
        if name == ".maps" {
            maps.extend(variables.map(|(name, of)| btf.map(name, of)));
        } else if name.starts_with(".data") || name.starts_with(".bss") {
            let shapes: Vec<Shape> = variables.map(|(_, of)| btf.shape(of)).collect();
            let [value] = shapes.as_slice() else { panic!("the section {name} holds more than one variable") };
            let (name, key, value) = (name.clone(), Shape::Number(4), value.clone());
            maps.push(Map { name, kind: ARRAY, flags: 0, entries: 1, key, value });
        }
    }
    maps.sort_by(|a, b| a.name.cmp(&b.name));
    maps
}

/// `BPF_MAP_TYPE_ARRAY`, as which the loader makes a section of data.
const ARRAY: u32 = 2;
/// `BPF_MAP_TYPE_RINGBUF`, which has neither keys nor values.
const RINGBUF: u32 = 27;

/// A type; others are named by their numbers.
#[derive(Debug)]
enum Kind {
    Number(u32),
    Pointer(u32),
    Array(u32, u32),
    /// Name, size, and fields: name, type, bits from the start.
    Struct(String, u32, Vec<(String, u32, u32)>),
    /// A qualifier or another name.
    Same(u32),
    Variable(String, u32),
    /// Its variables.
    Section(String, Vec<u32>),
    Other,
}

struct Btf {
    /// By number.
    types: Vec<Kind>,
}

impl Btf {
    fn parse(bytes: &[u8]) -> Btf {
        const MAGIC: u16 = 0xeb9f;
        let mut head = Reader { bytes, at: 0 };
        assert_eq!(head.u16(), MAGIC, "no BTF, or of another byte order");
        head.at = 4;
        let [header, types_at, types_len, strings_at, strings_len] = std::array::from_fn(|_| head.u32() as usize);
        let strings = &bytes[header + strings_at..][..strings_len];
        let mut reader = Reader { bytes: &bytes[header + types_at..][..types_len], at: 0 };
        // Number 0 stands for `void`.
        let mut types = vec![Kind::Other];
        while reader.at < reader.bytes.len() {
            types.push(kind(&mut reader, strings));
        }
        Btf { types }
    }

    fn get(&self, number: u32) -> &Kind {
        &self.types[number as usize]
    }

    /// Without qualifiers.
    fn bare(&self, number: u32) -> &Kind {
        match self.get(number) {
            Kind::Same(of) => self.bare(*of),
            kind => kind,
        }
    }

    fn pointee(&self, number: u32) -> u32 {
        match self.bare(number) {
            Kind::Pointer(of) => *of,
            other => panic!("{other:?} is no pointer"),
        }
    }

    /// A map as `bpf_helpers.h` has it described: `__uint(a, n)` is a pointer to an array of n, `__type(a, T)` one to a T.
    fn map(&self, name: &str, of: u32) -> Map {
        let Kind::Struct(_, _, fields) = self.bare(of) else { panic!("the map {name} is no structure") };
        let field = |wanted: &str| fields.iter().find(|(name, ..)| name == wanted).map(|(_, of, _)| self.pointee(*of));
        let number = |wanted| match field(wanted).map(|of| self.bare(of)) {
            Some(Kind::Array(_, len)) => *len,
            None => 0,
            Some(other) => panic!("{other:?} is no number of the map {name}"),
        };
        let (kind, flags, entries) = (number("type"), number("map_flags"), number("max_entries"));
        let shape = |wanted| match field(wanted) {
            Some(of) => self.shape(of),
            None if kind == RINGBUF => Shape::Number(0),
            None => panic!("the map {name} has no {wanted}"),
        };
        Map { name: name.to_owned(), kind, flags, entries, key: shape("key"), value: shape("value") }
    }

    fn shape(&self, number: u32) -> Shape {
        match self.bare(number) {
            Kind::Number(size) => Shape::Number(*size),
            Kind::Array(of, len) => Shape::Array(Box::new(self.shape(*of)), *len),
            Kind::Struct(name, size, fields) => {
                let field = |(name, of, bits): &(String, u32, u32)| {
                    assert!(bits % 8 == 0, "{name} is a field of bits");
                    Field { name: name.clone(), offset: bits / 8, shape: self.shape(*of) }
                };
                Shape::Struct(Struct { name: name.clone(), size: *size, fields: fields.iter().map(field).collect() })
            }
            other => panic!("{other:?} cannot be in a map"),
        }
    }
}

/// The next type.
fn kind(reader: &mut Reader<'_>, strings: &[u8]) -> Kind {
    let (name, info, size_or_type) = (text(strings, reader.u32()), reader.u32(), reader.u32());
    let len = info & 0xffff;
    match info >> 24 & 0x1f {
        1 => {
            reader.u32();
            Kind::Number(size_or_type)
        }
        2 => Kind::Pointer(size_or_type),
        3 => {
            let [of, _, len] = std::array::from_fn(|_| reader.u32());
            Kind::Array(of, len)
        }
        // A union's fields all begin at its start.
        4 | 5 => {
            let fields = (0..len).map(|_| (text(strings, reader.u32()), reader.u32(), reader.u32()));
            Kind::Struct(name, size_or_type, fields.collect())
        }
        6 => {
            reader.skip(len, 2);
            Kind::Number(size_or_type)
        }
        // Another name, qualifiers, a tag.
        8..=11 | 18 => Kind::Same(size_or_type),
        13 => {
            reader.skip(len, 2);
            Kind::Other
        }
        14 => {
            reader.u32();
            Kind::Variable(name, size_or_type)
        }
        15 => {
            let variable = |_| {
                let [of, _, _] = std::array::from_fn(|_| reader.u32());
                of
            };
            Kind::Section(name, (0..len).map(variable).collect())
        }
        17 => {
            reader.u32();
            Kind::Other
        }
        19 => {
            reader.skip(len, 3);
            Kind::Number(size_or_type)
        }
        // Forward declarations, functions, floats.
        7 | 12 | 16 => Kind::Other,
        other => panic!("a type of kind {other}, which this build does not know"),
    }
}

fn text(strings: &[u8], at: u32) -> String {
    let text = &strings[at as usize..];
    let end = text.iter().position(|byte| *byte == 0).expect("each ends with a zero");
    String::from_utf8_lossy(&text[..end]).into_owned()
}

/// Of an ELF file of 64 bits, in this machine's byte order: so clang compiles for `bpf`.
fn section<'a>(object: &'a [u8], wanted: &str) -> &'a [u8] {
    let number = |at: usize, len: usize| {
        let mut bytes = [0; 8];
        let start = if cfg!(target_endian = "big") { 8 - len } else { 0 };
        bytes[start..start + len].copy_from_slice(&object[at..at + len]);
        u64::from_ne_bytes(bytes) as usize
    };
    let (headers, size, count, names) = (number(0x28, 8), number(0x3a, 2), number(0x3c, 2), number(0x3e, 2));
    let bytes = |header: usize| &object[number(header + 0x18, 8)..][..number(header + 0x20, 8)];
    let names = bytes(headers + names * size);
    let mut found = (0..count).map(|at| headers + at * size);
    let header = found.find(|header| text(names, number(*header, 4) as u32) == wanted);
    bytes(header.unwrap_or_else(|| panic!("the object has no section {wanted}")))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let bytes = self.bytes[self.at..].first_chunk().expect("BTF ends early");
        self.at += N;
        *bytes
    }

    fn u16(&mut self) -> u16 {
        u16::from_ne_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_ne_bytes(self.take())
    }

    /// Passes over so many elements of so many numbers.
    fn skip(&mut self, len: u32, numbers: u32) {
        self.at += (len * numbers * 4) as usize;
    }
}
