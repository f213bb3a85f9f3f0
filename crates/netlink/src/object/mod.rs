//! Addresses, routes, rules, neighbours and devices as the kernel tells them, to be given to it again.
//!
//! What stands in a message is kept byte by byte, attributes of newer kernels included, so that nothing is lost between reading
//! and setting: what is moved to another device gets another interface index, and nothing else. [`Address`] and its kin
//! read what a decision needs.

mod address;
mod bond;
mod device;
mod neighbour;
mod nexthop;
mod route;
mod rule;

use std::fmt;
use std::net::IpAddr;

use netlink_packet_core::{NLM_F_DUMP, NetlinkDeserializable, NetlinkHeader, NetlinkSerializable};

use super::Netlink;
use nicteam_sys::Result;

pub use address::{Address, Lifetimes};
pub use device::Device;
pub use neighbour::Neighbour;
pub use nexthop::Nexthop;
pub use route::Route;
pub use rule::Rule;

/// A message about an object: its fixed header, then attributes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    kind: u16,
    header: Vec<u8>,
    attributes: Vec<(u16, Vec<u8>)>,
}

/// Kinds of messages that make an object (include/uapi/linux/rtnetlink.h); the one that removes it has the next number, the
/// one that asks for it the number after that.
pub(crate) mod kind {
    pub(crate) const LINK: u16 = 16;
    pub(crate) const ADDRESS: u16 = 20;
    pub(crate) const ROUTE: u16 = 24;
    pub(crate) const NEIGHBOUR: u16 = 28;
    pub(crate) const RULE: u16 = 32;
    pub(crate) const NEXTHOP: u16 = 104;
}

/// The number of an attribute, without its flags.
const NUMBER: u16 = 0x3fff;
/// Bytes of an attribute's length and number.
const ATTRIBUTE_HEADER: usize = 4;

impl Object {
    /// One without attributes, for requests.
    pub(crate) fn new(kind: u16) -> Object {
        Object { kind, header: vec![0; header_bytes(kind)], attributes: Vec::new() }
    }

    /// Reads a message's content; `None` if it is too short, or its attributes are cut off.
    fn parse(kind: u16, bytes: &[u8]) -> Option<Object> {
        let (header, rest) = bytes.split_at_checked(header_bytes(kind))?;
        Some(Object { kind, header: header.to_vec(), attributes: attributes(rest)? })
    }

    /// The message's content.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.header.clone();
        write_attributes(&mut bytes, &self.attributes);
        bytes
    }

    /// Reads what [`Object::to_hex`] wrote; `None` for every other text.
    pub fn from_hex(text: &str) -> Option<Object> {
        let (kind, digits) = text.split_once(':')?;
        let kind = kind.parse().ok()?;
        let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(pair).collect();
        let object = Object::parse(kind, &bytes?)?;
        (object.to_hex() == text).then_some(object)
    }

    /// As a text without spaces, for files.
    pub fn to_hex(&self) -> String {
        let digits = self.bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("{}:{digits}", self.kind)
    }

    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.header.get(at).copied().unwrap_or_default()
    }

    pub(crate) fn set_byte(&mut self, at: usize, value: u8) {
        if let Some(byte) = self.header.get_mut(at) {
            *byte = value;
        }
    }

    /// A number of the header, in the machine's order.
    pub(crate) fn header_u32(&self, at: usize) -> u32 {
        let bytes = self.header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_ne_bytes)
    }

    pub(crate) fn set_header_u32(&mut self, at: usize, value: u32) {
        if let Some(bytes) = self.header.get_mut(at..at + 4) {
            bytes.copy_from_slice(&value.to_ne_bytes());
        }
    }

    pub(crate) fn attribute(&self, number: u16) -> Option<&[u8]> {
        let found = self.attributes.iter().find(|(of, _)| of & NUMBER == number);
        found.map(|(_, value)| value.as_slice())
    }

    pub(crate) fn u32_of(&self, number: u16) -> Option<u32> {
        Some(u32::from_ne_bytes(self.attribute(number)?.first_chunk().copied()?))
    }

    pub(crate) fn text_of(&self, number: u16) -> Option<&str> {
        let bytes = self.attribute(number)?;
        std::str::from_utf8(bytes.strip_suffix(&[0]).unwrap_or(bytes)).ok()
    }

    pub(crate) fn address_of(&self, number: u16) -> Option<IpAddr> {
        address(self.attribute(number)?)
    }

    /// Sets an attribute where it stands, or behind the others.
    pub(crate) fn set(&mut self, number: u16, value: Vec<u8>) {
        match self.attributes.iter_mut().find(|(of, _)| of & NUMBER == number) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((number, value)),
        }
    }

    pub(crate) fn set_u32(&mut self, number: u16, value: u32) {
        self.set(number, value.to_ne_bytes().to_vec());
    }

    pub(crate) fn set_text(&mut self, number: u16, text: &str) {
        self.set(number, [text.as_bytes(), &[0]].concat());
    }

    pub(crate) fn remove(&mut self, numbers: &[u16]) {
        self.attributes.retain(|(of, _)| !numbers.contains(&(of & NUMBER)));
    }

    /// Keeps these attributes alone.
    pub(crate) fn keep(&mut self, numbers: &[u16]) {
        self.attributes.retain(|(of, _)| numbers.contains(&(of & NUMBER)));
    }

    /// The same attributes in the order of their numbers, to be compared.
    pub(crate) fn sort(&mut self) {
        self.attributes.sort();
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl Netlink {
    /// Every object of a kind.
    pub(crate) fn dump(&mut self, request: &Object, what: &str) -> Result<Vec<Object>> {
        let ask = Message { kind: request.kind + 2, content: request.bytes() };
        let answers = self.connection.request(ask, NLM_F_DUMP, || format!("list the {what}"))?;
        let own = answers.into_iter().filter(|answer| answer.kind == request.kind);
        Ok(own.filter_map(|answer| Object::parse(answer.kind, &answer.content)).collect())
    }

    /// Makes an object.
    pub(crate) fn make(&mut self, object: &Object, flags: u16, operation: impl Fn() -> String) -> Result<()> {
        let message = Message { kind: object.kind, content: object.bytes() };
        self.connection.request(message, flags, operation).map(drop)
    }

    /// Removes an object.
    pub(crate) fn unmake(&mut self, object: &Object, operation: impl Fn() -> String) -> Result<()> {
        let message = Message { kind: object.kind + 1, content: object.bytes() };
        self.connection.request(message, 0, operation).map(drop)
    }
}

/// A message that nobody has looked into.
#[derive(Debug)]
struct Message {
    kind: u16,
    content: Vec<u8>,
}

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.content.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.content);
    }
}

impl NetlinkDeserializable for Message {
    type Error = std::convert::Infallible;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> std::result::Result<Message, Self::Error> {
        Ok(Message { kind: header.message_type, content: payload.to_vec() })
    }
}

/// Bytes of the fixed header (`ifinfomsg`, `ifaddrmsg`, `rtmsg`, `ndmsg`, `fib_rule_hdr`, `nhmsg`).
fn header_bytes(kind: u16) -> usize {
    match kind {
        kind::LINK => 16,
        kind::ADDRESS | kind::NEXTHOP => 8,
        _ => 12,
    }
}

/// Attributes in their order; `None` if the last one is cut off.
pub(crate) fn attributes(mut bytes: &[u8]) -> Option<Vec<(u16, Vec<u8>)>> {
    let mut found = Vec::new();
    while bytes.len() >= ATTRIBUTE_HEADER {
        let length = usize::from(u16::from_ne_bytes(bytes.first_chunk().copied()?));
        let number = u16::from_ne_bytes(bytes.get(2..)?.first_chunk().copied()?);
        found.push((number, bytes.get(ATTRIBUTE_HEADER..length)?.to_vec()));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(found)
}

pub(crate) fn write_attributes(bytes: &mut Vec<u8>, attributes: &[(u16, Vec<u8>)]) {
    for (number, value) in attributes {
        // An attribute came with its length as 16 bits, or is shorter than a message of ours.
        let length = u16::try_from(ATTRIBUTE_HEADER + value.len()).unwrap_or(u16::MAX);
        bytes.extend(length.to_ne_bytes());
        bytes.extend(number.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
}

/// The value of attributes within an attribute.
pub(crate) fn nest(attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_attributes(&mut bytes, attributes);
    bytes
}

/// An address of four or of sixteen bytes.
pub(crate) fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    }
}

/// The bytes of an address.
pub(crate) fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// The address family of an address.
pub(crate) fn family(address: IpAddr) -> u8 {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    family as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An attribute holds attributes (`NLA_F_NESTED`).
    const NESTED: u16 = 0x8000;

    #[test]
    fn what_is_read_is_written_again() {
        let mut object = Object::new(kind::ADDRESS);
        object.set(3, b"eth0\0".to_vec());
        object.set(1 | NESTED, vec![10, 0, 0, 1]);
        let bytes = object.bytes();
        assert_eq!(bytes.len(), 8 + 12 + 8);
        assert_eq!(Object::parse(kind::ADDRESS, &bytes), Some(object.clone()));
        assert_eq!(Object::from_hex(&object.to_hex()), Some(object));
    }

    #[test]
    fn damaged_texts_and_messages_are_refused() {
        let mut object = Object::new(kind::ADDRESS);
        object.set(3, b"eth0\0".to_vec());
        let (hex, bytes) = (object.to_hex(), object.bytes());
        for end in (0..hex.len()).filter(|end| hex.is_char_boundary(*end)) {
            // Without the attribute it is a message, too.
            let whole = Object::from_hex(&hex[..end]).is_none_or(|cut| cut.attributes.is_empty());
            assert!(whole, "{}", &hex[..end]);
        }
        assert!(Object::from_hex("20:zz").is_none() && Object::from_hex("x").is_none());
        assert_eq!(Object::parse(kind::ADDRESS, &bytes[..7]), None);
        assert_eq!(Object::parse(kind::ADDRESS, &bytes[..14]), None, "an attribute is cut off");
    }
}
