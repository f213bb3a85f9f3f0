//! One netlink socket: a request, its answers, its acknowledgement.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_ACK_TLVS, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader,
    NetlinkMessage, NetlinkPayload, NetlinkSerializable, NlasIterator,
};
use netlink_sys::{Socket, SocketAddr};

use nicteam_sys::{Error, Result};

/// Room for one datagram; the kernel fills at most 32 KB with a dump (Linux 6.1 net/netlink/af_netlink.c, netlink_dump).
const BUFFER_BYTES: usize = 64 << 10;

/// How often a dump is asked for again when the kernel says that its objects changed meanwhile.
const DUMP_ATTEMPTS: u32 = 5;

/// A socket of one netlink protocol, in the namespace it was opened in.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    buffer: Vec<u8>,
    sequence: u32,
}

impl Connection {
    /// A socket that asks.
    pub(crate) fn open(protocol: isize) -> io::Result<Connection> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // Both are courtesies of newer kernels: the reason in words, and no copy of the request in the answer.
        socket.set_ext_ack(true).ok();
        socket.set_cap_ack(true).ok();
        Ok(Connection { socket, buffer: Vec::with_capacity(BUFFER_BYTES), sequence: 0 })
    }

    /// Sends a request and waits until the kernel has acknowledged or refused it.
    ///
    /// `flags` come on top of `NLM_F_REQUEST` (and `NLM_F_ACK`, unless it is
    /// a dump). Returns what the kernel answered beside the
    /// acknowledgement. `operation` completes "cannot ...".
    pub(crate) fn request<T>(&mut self, message: T, flags: u16, operation: impl Fn() -> String) -> Result<Vec<T>>
    where
        T: NetlinkSerializable + NetlinkDeserializable,
    {
        self.ask(message, flags, operation)
    }

    /// The same where answers are read as another type.
    pub(crate) fn ask<Q, A>(&mut self, message: Q, flags: u16, operation: impl Fn() -> String) -> Result<Vec<A>>
    where
        Q: NetlinkSerializable,
        A: NetlinkDeserializable,
    {
        let is_dump = flags & NLM_F_DUMP == NLM_F_DUMP;
        let mut message = NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::InnerMessage(message));
        message.header.flags = NLM_F_REQUEST | flags | if is_dump { 0 } else { NLM_F_ACK };
        for _ in 0..DUMP_ATTEMPTS {
            self.sequence = self.sequence.wrapping_add(1);
            message.header.sequence_number = self.sequence;
            message.finalize();
            let mut bytes = vec![0; message.buffer_len()];
            message.serialize(&mut bytes);
            self.socket.send(&bytes, 0).map_err(|error| Error::new(operation(), error))?;
            match self.answers() {
                Ok(answers) => return Ok(answers),
                Err(Failure::Interrupted) => continue,
                Err(Failure::Refused { error, reason: None }) => return Err(Error::new(operation(), error)),
                Err(Failure::Refused { error, reason: Some(reason) }) => {
                    return Err(Error::new(format!("{} ({reason})", operation()), error));
                }
            }
        }
        Err(Error::new(operation(), io::Error::from_raw_os_error(libc::EAGAIN)))
    }

    /// Reads until the current request is answered.
    fn answers<T: NetlinkDeserializable>(&mut self) -> std::result::Result<Vec<T>, Failure> {
        let mut answers = Vec::new();
        let mut interrupted = false;
        loop {
            receive(&self.socket, &mut self.buffer)?;
            for bytes in messages(&self.buffer) {
                let message = NetlinkMessage::<T>::deserialize(bytes).map_err(invalid)?;
                let (header, payload) = message.into_parts();
                if header.sequence_number != self.sequence {
                    continue;
                }
                interrupted |= header.flags & NLM_F_DUMP_INTR != 0;
                match payload {
                    NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                    NetlinkPayload::Done(done) if done.code < 0 => return Err(Failure::refused(done.code, None)),
                    NetlinkPayload::Error(error) if error.code.is_some() => {
                        let reason = reason(header.flags, &error.header);
                        return Err(Failure::refused(error.raw_code(), reason));
                    }
                    NetlinkPayload::Done(_) | NetlinkPayload::Error(_) if interrupted => {
                        return Err(Failure::Interrupted);
                    }
                    NetlinkPayload::Done(_) | NetlinkPayload::Error(_) => return Ok(answers),
                    _ => {}
                }
            }
        }
    }
}

/// Reads one datagram into `buffer`.
pub(super) fn receive(socket: &Socket, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    buffer.reserve(BUFFER_BYTES);
    let length = loop {
        match socket.recv(buffer, libc::MSG_TRUNC) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result?,
        }
    };
    if length > buffer.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a netlink message of {length} bytes")));
    }
    Ok(())
}

/// The messages of one datagram; a piece too short to be one ends the walk.
pub(super) fn messages(datagram: &[u8]) -> impl Iterator<Item = &[u8]> {
    const HEADER_BYTES: usize = 16;
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(rest.first_chunk().copied()?) as usize;
        if length < HEADER_BYTES || length > rest.len() {
            return None;
        }
        let (message, _) = rest.split_at(length);
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// A message that cannot be decoded, as an I/O error.
pub(super) fn invalid(error: netlink_packet_core::DecodeError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

/// Why a request has no result.
enum Failure {
    /// The objects changed while the kernel listed them.
    Interrupted,
    /// The kernel refused, perhaps with a reason in words.
    Refused { error: io::Error, reason: Option<String> },
}

impl Failure {
    /// `code` is a negative error number.
    fn refused(code: i32, reason: Option<String>) -> Failure {
        Failure::Refused { error: io::Error::from_raw_os_error(-code), reason }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Refused { error, reason: None }
    }
}

/// The kernel's own words (`NLMSGERR_ATTR_MSG`), which follow the header of the refused request.
fn reason(flags: u16, after_code: &[u8]) -> Option<String> {
    const NLMSGERR_ATTR_MSG: u16 = 1;
    const NLM_F_CAPPED: u16 = 0x100;
    const HEADER_BYTES: usize = 16;
    if flags & NLM_F_ACK_TLVS == 0 {
        return None;
    }
    let request_bytes = if flags & NLM_F_CAPPED != 0 {
        HEADER_BYTES
    } else {
        (u32::from_ne_bytes(after_code.first_chunk().copied()?) as usize).next_multiple_of(4)
    };
    let attributes = after_code.get(request_bytes..)?;
    let message =
        NlasIterator::new(attributes).map_while(|attribute| attribute.ok()).find(|a| a.kind() == NLMSGERR_ATTR_MSG)?;
    let text = String::from_utf8_lossy(message.value());
    Some(text.trim_end_matches(['\0', '.']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_cut_into_messages_and_a_broken_tail_is_left() {
        let mut datagram = vec![0; 16 + 20 + 10];
        datagram[0] = 16;
        datagram[16] = 18; // padded to 20
        datagram[36] = 99;
        let lengths: Vec<usize> = messages(&datagram).map(<[u8]>::len).collect();
        assert_eq!(lengths, [16, 18]);
        assert_eq!(messages(&[0; 40]).count(), 0, "a length of 0 must not loop");
        assert_eq!(messages(&[1, 2]).count(), 0);
    }

    #[test]
    fn the_kernels_words_are_found_behind_a_capped_or_whole_request() {
        let attribute = [8, 0, 1, 0, b'n', b'o', b'.', 0];
        let capped = [&[40, 0, 0, 0][..], &[0; 12], &attribute].concat();
        assert_eq!(reason(NLM_F_ACK_TLVS | 0x100, &capped).as_deref(), Some("no"));
        let whole = [&[22, 0, 0, 0][..], &[0; 20], &attribute].concat();
        assert_eq!(reason(NLM_F_ACK_TLVS, &whole).as_deref(), Some("no"));
        assert_eq!(reason(0, &capped), None);
        assert_eq!(reason(NLM_F_ACK_TLVS, &[255; 8]), None, "a length beyond the message");
    }
}
