//! The NBD protocol's numbers and messages: fixed newstyle handshake, simple replies.
//!
//! After the protocol's own description, `doc/proto.md` of NetworkBlockDevice/nbd.

/// Begins a server's greeting: `NBDMAGIC`.
pub(super) const INIT_MAGIC: u64 = u64::from_be_bytes(*b"NBDMAGIC");
/// Begins an option, and ends the greeting: `IHAVEOPT`.
pub(super) const OPTION_MAGIC: u64 = u64::from_be_bytes(*b"IHAVEOPT");
/// Begins the answer to an option.
pub(super) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Begins a request.
pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Begins a simple reply.
pub(super) const REPLY_MAGIC: u32 = 0x6744_6698;

/// Handshake flags, of server and client alike.
pub(super) const FIXED_NEWSTYLE: u16 = 1;
pub(super) const NO_ZEROES: u16 = 2;

/// Transmission flags.
pub(super) const HAS_FLAGS: u16 = 1;
pub(super) const SEND_FLUSH: u16 = 1 << 2;
/// What one connection has flushed, every other one sees.
pub(super) const CAN_MULTI_CONN: u16 = 1 << 8;

/// Options.
pub(super) const OPT_EXPORT_NAME: u32 = 1;
pub(super) const OPT_ABORT: u32 = 2;
pub(super) const OPT_LIST: u32 = 3;
pub(super) const OPT_INFO: u32 = 6;
pub(super) const OPT_GO: u32 = 7;

/// Answers to options.
pub(super) const REP_ACK: u32 = 1;
pub(super) const REP_SERVER: u32 = 2;
pub(super) const REP_INFO: u32 = 3;
pub(super) const REP_ERR_UNSUP: u32 = (1 << 31) + 1;
pub(super) const REP_ERR_INVALID: u32 = (1 << 31) + 3;
pub(super) const REP_ERR_UNKNOWN: u32 = (1 << 31) + 6;

/// The content of an answer to `OPT_GO`.
pub(super) const INFO_EXPORT: u16 = 0;
pub(super) const INFO_BLOCK_SIZE: u16 = 3;

/// Commands.
const CMD_READ: u16 = 0;
const CMD_WRITE: u16 = 1;
const CMD_DISC: u16 = 2;
const CMD_FLUSH: u16 = 3;

/// Errors of replies.
pub(super) const EIO: u32 = 5;
pub(super) const EINVAL: u32 = 22;
pub(super) const ENOTSUP: u32 = 95;

/// Bytes of a request's header and of a simple reply's.
pub(super) const REQUEST_BYTES: usize = 28;
pub(super) const REPLY_BYTES: usize = 16;
/// The longest read or write that is taken: the longest that clients send to a server that names no limit.
pub(super) const LONGEST_BYTES: u32 = 32 << 20;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Read,
    Write,
    Disconnect,
    Flush,
    /// One that was not offered.
    Other,
}

/// A request, without the data of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) command: Command,
    /// The client's own number; comes back in the reply.
    pub(super) cookie: u64,
    /// Bytes.
    pub(super) offset: u64,
    pub(super) length: u32,
}

impl Request {
    /// Reads a header; none if it is not one.
    pub(super) fn decode(header: &[u8; REQUEST_BYTES]) -> Option<Request> {
        let mut fields = Fields(header);
        let (magic, _flags, command) = (fields.u32()?, fields.u16()?, fields.u16()?);
        let command = match command {
            CMD_READ => Command::Read,
            CMD_WRITE => Command::Write,
            CMD_DISC => Command::Disconnect,
            CMD_FLUSH => Command::Flush,
            _ => Command::Other,
        };
        let request = Request { command, cookie: fields.u64()?, offset: fields.u64()?, length: fields.u32()? };
        (magic == REQUEST_MAGIC).then_some(request)
    }
}

/// A simple reply's header; error 0 for none.
pub(super) fn reply(error: u32, cookie: u64) -> [u8; REPLY_BYTES] {
    let mut header = [0; REPLY_BYTES];
    header[..4].copy_from_slice(&REPLY_MAGIC.to_be_bytes());
    header[4..8].copy_from_slice(&error.to_be_bytes());
    header[8..].copy_from_slice(&cookie.to_be_bytes());
    header
}

/// Bytes from the network, read from the front.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }
}
