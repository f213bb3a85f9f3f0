//! Generic netlink: families that the kernel names, commands with attributes.

use std::io;

use netlink_packet_core::{DecodeError, NetlinkDeserializable, NetlinkHeader, NetlinkSerializable, NlasIterator};
use netlink_sys::protocols::NETLINK_GENERIC;

use crate::connection::Connection;
use nicteam_sys::{Context, Error, Result};

/// A family and a socket to talk to it, of the namespace it was opened in.
#[derive(Debug)]
pub(crate) struct Family {
    connection: Connection,
    number: u16,
}

impl Family {
    /// Finds a family by its name. `operation`, what it is wanted for, completes "cannot ...".
    ///
    /// # Errors
    /// `ENOENT`: this kernel does not have it.
    pub(crate) fn open(name: &str, operation: impl Fn() -> String) -> Result<Family> {
        let mut connection = Connection::open(NETLINK_GENERIC).context(&operation)?;
        let name = [name.as_bytes(), b"\0"].concat();
        let ask =
            Message { family: GENL_ID_CTRL, body: body(CTRL_CMD_GETFAMILY, &attribute(CTRL_ATTR_FAMILY_NAME, &name)) };
        let answers = connection.request(ask, 0, &operation)?;
        let number = answers.iter().find_map(family_id).ok_or_else(|| {
            Error::new(operation(), io::Error::new(io::ErrorKind::NotFound, "the kernel's answer names no family"))
        })?;
        Ok(Family { connection, number })
    }

    /// Carries a command out. Its attributes are made by [`attribute`].
    pub(crate) fn request(&mut self, command: u8, attributes: &[u8], operation: impl Fn() -> String) -> Result<()> {
        let message = Message { family: self.number, body: body(command, attributes) };
        self.connection.request(message, 0, operation).map(drop)
    }
}

/// An attribute; nested ones have others as their value.
pub(crate) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len();
    let mut bytes = [&(length as u16).to_ne_bytes(), &kind.to_ne_bytes(), value].concat();
    bytes.resize(length.next_multiple_of(4), 0);
    bytes
}

// Linux 6.1 include/uapi/linux/genetlink.h.
const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
/// Command, version, two bytes reserved.
const HEADER_BYTES: usize = 4;

/// A message to or from a family, command and attributes as bytes.
#[derive(Debug)]
struct Message {
    family: u16,
    body: Vec<u8>,
}

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        self.family
    }

    fn buffer_len(&self) -> usize {
        self.body.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.body);
    }
}

impl NetlinkDeserializable for Message {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> std::result::Result<Self, DecodeError> {
        Ok(Message { family: header.message_type, body: payload.to_vec() })
    }
}

fn body(command: u8, attributes: &[u8]) -> Vec<u8> {
    const VERSION: u8 = 1;
    [&[command, VERSION, 0, 0], attributes].concat()
}

/// The number of the family that the control family describes.
fn family_id(answer: &Message) -> Option<u16> {
    let attributes = answer.body.get(HEADER_BYTES..)?;
    let id = NlasIterator::new(attributes)
        .map_while(|attribute| attribute.ok())
        .find(|attribute| attribute.kind() == CTRL_ATTR_FAMILY_ID)?;
    Some(u16::from_ne_bytes(*id.value().first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_answer_that_is_cut_names_no_family() {
        let body = body(1, &[attribute(2, b"x\0"), attribute(1, &[33, 0])].concat());
        assert_eq!(family_id(&Message { family: 16, body: body.clone() }), Some(33));
        for length in 0..13 {
            assert_eq!(family_id(&Message { family: 16, body: body[..length].to_vec() }), None);
        }
    }
}
