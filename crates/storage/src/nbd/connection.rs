//! One client: bytes off its socket become operations, operations that are done become replies.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

use nix::poll::PollFlags;

use super::handshake::{Export, Handshake, Next, greeting};
use super::listener::Stream;
use super::protocol::{Command, EINVAL, EIO, ENOTSUP, LONGEST_BYTES, REPLY_BYTES, REQUEST_BYTES, Request, reply};
use crate::{Buffer, Kind, Operation};

/// A client.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Stream,
    state: State,
    /// Bytes of a message that is not whole.
    input: Vec<u8>,
    output: VecDeque<Piece>,
    /// Bytes of the first piece that were sent.
    sent: usize,
    outstanding: usize,
    outstanding_bytes: usize,
    /// A flush of another client has failed.
    fails_next_flush: bool,
}

/// What a client wants of the volume, with its own number in place of an operation's.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) cookie: u64,
    pub(super) operation: Operation,
}

#[derive(Debug)]
enum State {
    Handshake(Handshake),
    /// A request's header comes next.
    Header,
    /// The data of a write: the buffer, and how much of it is there.
    Data(Request, Buffer, usize),
    /// Nothing more is read; what is outstanding is still answered.
    Closing,
}

/// A reply's header, or what follows it.
#[derive(Debug)]
enum Piece {
    Header([u8; REPLY_BYTES]),
    Text(Vec<u8>),
    Data(Buffer),
}

impl Connection {
    /// Greets a client.
    pub(super) fn new(stream: Stream) -> Connection {
        Connection {
            stream,
            state: State::Handshake(Handshake::default()),
            input: Vec::new(),
            output: VecDeque::from([Piece::Text(greeting())]),
            sent: 0,
            outstanding: 0,
            outstanding_bytes: 0,
            fails_next_flush: false,
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// What to wait for. A client with much outstanding is not read from: it waits, not our memory.
    pub(super) fn wants(&self) -> PollFlags {
        let mut wants = PollFlags::empty();
        wants.set(PollFlags::POLLIN, self.may_read());
        wants.set(PollFlags::POLLOUT, !self.output.is_empty());
        wants
    }

    /// Nothing is left to be done for it.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Closing) && self.outstanding == 0 && self.output.is_empty()
    }

    /// Reads what has come, as far as there is room for it.
    ///
    /// # Errors
    /// The connection is gone, or the client broke a rule.
    pub(super) fn read(&mut self, export: &Export, wanted: &mut Vec<Wanted>) -> io::Result<()> {
        while self.may_read() {
            let is_more = match &mut self.state {
                State::Handshake(_) => self.read_handshake(export)?,
                State::Header => self.read_header(export, wanted)?,
                State::Data(..) => self.read_data(wanted)?,
                State::Closing => false,
            };
            if !is_more {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sends what is to be sent, as far as the socket takes it.
    ///
    /// # Errors
    /// The connection is gone.
    pub(super) fn write(&mut self) -> io::Result<()> {
        while !self.output.is_empty() {
            let pieces = self.output.iter().take(PIECES).map(Piece::bytes);
            let slices = pieces
                .enumerate()
                .map(|(number, bytes)| IoSlice::new(if number == 0 { &bytes[self.sent..] } else { bytes }));
            let slices: Vec<IoSlice<'_>> = slices.collect();
            let Some(count) = patient(self.stream.write_vectored(&slices))? else { return Ok(()) };
            self.sent += count;
            while let Some(first) = self.output.front().map(|piece| piece.bytes().len())
                && self.sent >= first
            {
                self.sent -= first;
                self.output.pop_front();
            }
        }
        Ok(())
    }

    /// A flush has failed: the next one that this client hears of fails.
    pub(super) fn fail_next_flush(&mut self) {
        self.fails_next_flush = true;
    }

    /// An operation of this client is over.
    pub(super) fn reply(&mut self, cookie: u64, kind: Kind, buffer: Buffer, is_done: bool) {
        let is_done = is_done && !(kind == Kind::Flush && self.fails_next_flush);
        self.fails_next_flush &= kind != Kind::Flush;
        self.outstanding -= 1;
        self.outstanding_bytes -= buffer.len();
        self.output.push_back(Piece::Header(reply(if is_done { 0 } else { EIO }, cookie)));
        if is_done && kind == Kind::Read {
            self.output.push_back(Piece::Data(buffer));
        }
    }

    /// An operation of this client cannot begin: it is not within the volume.
    pub(super) fn refuse(&mut self, cookie: u64, bytes: usize) {
        self.outstanding -= 1;
        self.outstanding_bytes -= bytes;
        self.output.push_back(Piece::Header(reply(EINVAL, cookie)));
    }

    fn may_read(&self) -> bool {
        let is_open = !matches!(self.state, State::Closing);
        // From a client that does not read its replies nothing more is read.
        let has_room = self.outstanding_bytes < MOST_BYTES && self.outstanding < MOST && self.output.len() < 2 * MOST;
        is_open && has_room
    }

    fn read_handshake(&mut self, export: &Export) -> io::Result<bool> {
        if !self.read_input(4096)? {
            return Ok(false);
        }
        let State::Handshake(handshake) = &mut self.state else { return Ok(true) };
        let mut answers = Vec::new();
        let next = handshake.handle(export, &mut self.input, &mut answers);
        if !answers.is_empty() {
            self.output.push_back(Piece::Text(answers));
        }
        match next {
            Next::More => {}
            Next::Transmission => self.state = State::Header,
            Next::Close => self.state = State::Closing,
        }
        Ok(true)
    }

    fn read_header(&mut self, export: &Export, wanted: &mut Vec<Wanted>) -> io::Result<bool> {
        if self.input.len() < REQUEST_BYTES && !self.read_input(REQUEST_BYTES - self.input.len())? {
            return Ok(false);
        }
        let Some(header) = self.input.first_chunk::<REQUEST_BYTES>() else { return Ok(true) };
        let request = Request::decode(header).ok_or_else(|| broken("a request without its magic"))?;
        self.input.drain(..REQUEST_BYTES);
        match request.command {
            Command::Disconnect => self.state = State::Closing,
            Command::Write if request.length > LONGEST_BYTES => return Err(broken("a write that is too long")),
            Command::Write => {
                let mut buffer = Buffer::new(request.length as usize);
                // A client that does not wait for the handshake's end is ahead of itself.
                let early = self.input.len().min(buffer.len());
                buffer[..early].copy_from_slice(&self.input[..early]);
                self.input.drain(..early);
                self.state = State::Data(request, buffer, early);
            }
            Command::Read if !is_within(request, export) => {
                self.output.push_back(Piece::Header(reply(EINVAL, request.cookie)));
            }
            Command::Read => self.want(wanted, request, Kind::Read, Buffer::new(request.length as usize)),
            Command::Flush => self.want(wanted, request, Kind::Flush, Buffer::default()),
            Command::Other => self.output.push_back(Piece::Header(reply(ENOTSUP, request.cookie))),
        }
        Ok(true)
    }

    fn read_data(&mut self, wanted: &mut Vec<Wanted>) -> io::Result<bool> {
        let State::Data(request, buffer, filled) = &mut self.state else { return Ok(true) };
        if *filled < buffer.len() {
            match patient(self.stream.read(&mut buffer[*filled..]))? {
                Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Some(count) => *filled += count,
                None => return Ok(false),
            }
        }
        if *filled == buffer.len() {
            let (request, buffer) = (*request, std::mem::take(buffer));
            self.state = State::Header;
            self.want(wanted, request, Kind::Write, buffer);
        }
        Ok(true)
    }

    fn want(&mut self, wanted: &mut Vec<Wanted>, request: Request, kind: Kind, buffer: Buffer) {
        self.outstanding += 1;
        self.outstanding_bytes += buffer.len();
        let operation = Operation { id: 0, kind, offset: request.offset, buffer };
        wanted.push(Wanted { cookie: request.cookie, operation });
    }

    /// Appends what has come, at most so much; false if nothing has.
    fn read_input(&mut self, most: usize) -> io::Result<bool> {
        let before = self.input.len();
        self.input.resize(before + most, 0);
        let read = patient(self.stream.read(&mut self.input[before..]));
        self.input.truncate(before + read.as_ref().map_or(0, |count| count.unwrap_or(0)));
        match read? {
            Some(0) => Err(ErrorKind::UnexpectedEof.into()),
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Piece::Header(header) => header,
            Piece::Text(text) => text,
            Piece::Data(buffer) => buffer,
        }
    }
}

/// Else its buffer is not worth the memory.
fn is_within(request: Request, export: &Export) -> bool {
    let end = request.offset.checked_add(u64::from(request.length));
    request.length <= LONGEST_BYTES && end.is_some_and(|end| end <= export.bytes)
}

/// None where there is nothing to read, or no room to write, for now.
fn patient(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(count) => Ok(Some(count)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}

fn broken(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// What a client may have outstanding.
const MOST: usize = 1024;
const MOST_BYTES: usize = 64 << 20;
/// Pieces that are sent by one system call.
const PIECES: usize = 32;
