//! Remote procedure calls (RFC 5531) over TCP, many of them outstanding on one connection.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::poll::PollFlags;

use super::xdr::{Malformed, Reader, Writer};
use crate::Watch;

/// Bytes of a READ or a WRITE at most, whatever the server allows: the limit of Linux's client.
pub const MOST_BYTES: u32 = 1 << 20;
/// The mark of a record's last fragment; the other bits are the fragment's length.
const LAST: u32 = 1 << 31;
/// Bytes of a record at most: the data of a READ and what is around it.
const LONGEST: usize = MOST_BYTES as usize + 4096;
/// Bytes of a verifier at most.
const AUTH: usize = 400;
/// Records taken from a connection before others have their turn.
const TURN: usize = 32;

/// Data of an operation: what a call is about, and where its data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The operation's number.
    pub operation: u64,
    /// Where it begins in the operation's buffer.
    pub start: usize,
    /// How long it is, bytes.
    pub bytes: usize,
}

/// A call on its way out.
#[derive(Debug)]
struct Outgoing {
    head: Vec<u8>,
    /// What follows of an operation's buffer, if anything does.
    data: Option<Piece>,
    sent: usize,
}

/// A connection to a program of a server.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    program: u32,
    last_xid: u32,
    outgoing: VecDeque<Outgoing>,
    waiting: BTreeMap<u32, Piece>,
    incoming: Incoming,
}

/// A record that is being received.
#[derive(Debug, Default)]
struct Incoming {
    mark: [u8; 4],
    marked: usize,
    /// Bytes of the fragment that are to come.
    left: usize,
    is_last: bool,
    /// Longer than what is filled: it is kept from record to record.
    record: Vec<u8>,
    filled: usize,
}

impl Connection {
    /// Connects, from the thread's network namespace.
    pub fn open(server: SocketAddr, program: u32, longest: Duration) -> io::Result<Connection> {
        let stream = TcpStream::connect_timeout(&server, longest)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Connection {
            stream,
            program,
            last_xid: 0,
            outgoing: VecDeque::new(),
            waiting: BTreeMap::new(),
            incoming: Incoming::default(),
        })
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    pub fn watch(&self) -> Watch<'_> {
        let more = if self.outgoing.is_empty() { PollFlags::empty() } else { PollFlags::POLLOUT };
        Watch::new(self.fd(), PollFlags::POLLIN | more)
    }

    /// Calls without an answer.
    pub fn outstanding(&self) -> usize {
        self.waiting.len()
    }

    /// Queues a call about `piece`. Its data follows if `has_data`.
    pub fn call(&mut self, procedure: u32, arguments: &[u8], piece: Piece, has_data: bool) {
        self.last_xid = self.last_xid.wrapping_add(1);
        let mut head = Writer(Vec::with_capacity(arguments.len() + 80));
        // The mark; then: a call by version 2 of RPC, to version 3 of the program.
        head.u32(0).u32(self.last_xid).u32(0).u32(2).u32(self.program).u32(3).u32(procedure);
        // By AUTH_UNIX: stamp, no name, root, no more groups; and no verifier.
        head.u32(1).u32(20).u32(0).opaque(b"").u32(0).u32(0).u32(0).u32(0).u32(0);
        head.0.extend(arguments);
        let data = if has_data { piece.bytes } else { 0 };
        let length = u32::try_from(head.0.len() - 4 + data).expect("a call is no longer than a piece");
        head.0[..4].copy_from_slice(&(LAST | length).to_be_bytes());
        self.waiting.insert(self.last_xid, piece);
        self.outgoing.push_back(Outgoing { head: head.0, data: has_data.then_some(piece), sent: 0 });
    }

    /// Sends what the connection takes; `data` finds a piece's bytes.
    pub fn send<'b>(&mut self, data: impl Fn(Piece) -> &'b [u8]) -> io::Result<()> {
        while let Some(call) = self.outgoing.front_mut() {
            let data = call.data.map_or(&[][..], &data);
            let whole = call.head.len() + data.len();
            while call.sent < whole {
                let head = call.head.get(call.sent..).unwrap_or_default();
                let rest = data.get(call.sent.saturating_sub(call.head.len())..).unwrap_or_default();
                match self.stream.write_vectored(&[IoSlice::new(head), IoSlice::new(rest)]) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(sent) => call.sent += sent,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            self.outgoing.pop_front();
        }
        Ok(())
    }

    /// Takes answers that have come, and hands each to `answered` with the piece that it is about.
    pub fn receive(&mut self, mut answered: impl FnMut(Piece, Result<Reader<'_>, String>)) -> io::Result<()> {
        for _ in 0..TURN {
            match self.incoming.receive(&mut self.stream) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            let mut reader = Reader(&self.incoming.record[..self.incoming.filled]);
            let xid = reader.u32().map_err(io::Error::other)?;
            let answer = accepted(&mut reader).map(|()| reader);
            // An answer to a call that was never made is no one's.
            if let Some(piece) = self.waiting.remove(&xid) {
                answered(piece, answer);
            }
            self.incoming.filled = 0;
        }
        Ok(())
    }

    /// Makes one call and waits for its answer, while no others are outstanding: `then` reads it.
    pub fn ask<T, E: ToString>(
        &mut self,
        procedure: u32,
        arguments: &[u8],
        longest: Duration,
        then: impl Fn(Reader<'_>) -> Result<T, E>,
    ) -> Result<Result<T, E>, String> {
        let begun = Instant::now();
        self.call(procedure, arguments, Piece { operation: 0, start: 0, bytes: 0 }, false);
        let mut answer = None;
        while answer.is_none() {
            self.send(|_| &[]).map_err(|error| error.to_string())?;
            self.receive(|_, result| answer = Some(result.map(&then))).map_err(|error| error.to_string())?;
            let left = longest.checked_sub(begun.elapsed()).ok_or("the server does not answer")?;
            if answer.is_none() {
                crate::watch::wait(Some(left), &mut [self.watch()], &mut []).map_err(|error| error.to_string())?;
            }
        }
        answer.unwrap_or_else(|| Err("the server does not answer".to_owned()))
    }
}

impl Incoming {
    /// Receives the rest of a record; `WouldBlock` if it has not come yet.
    fn receive(&mut self, stream: &mut impl Read) -> io::Result<()> {
        loop {
            while self.left > 0 {
                let end = self.filled + self.left;
                let got = read(stream, &mut self.record[self.filled..end])?;
                self.filled += got;
                self.left -= got;
            }
            if std::mem::take(&mut self.is_last) {
                return Ok(());
            }
            while self.marked < self.mark.len() {
                self.marked += read(stream, &mut self.mark[self.marked..])?;
            }
            self.marked = 0;
            let mark = u32::from_be_bytes(self.mark);
            self.is_last = mark & LAST != 0;
            self.left = usize::try_from(mark & !LAST).map_err(io::Error::other)?;
            let end = self.filled + self.left;
            if end > LONGEST {
                return Err(io::Error::other(format!("the server's answer has more than {LONGEST} bytes")));
            }
            self.record.resize(end.max(self.record.len()), 0);
        }
    }
}

fn read(stream: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(into) {
            Ok(0) => return Err(io::Error::new(ErrorKind::UnexpectedEof, "the server closed the connection")),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Whether the server took the call.
fn accepted(reader: &mut Reader<'_>) -> Result<(), String> {
    let [is_reply, is_denied] = [reader.u32(), reader.u32()];
    match (is_reply, is_denied) {
        (Ok(1), Ok(0)) => {}
        (Ok(1), Ok(1)) => return Err("the server refuses the caller (AUTH_UNIX, root)".to_owned()),
        _ => return Err(Malformed.to_string()),
    }
    let status = reader.u32().and_then(|_flavour| reader.opaque(AUTH)).and_then(|_| reader.u32());
    match status.map_err(|error| error.to_string())? {
        0 => Ok(()),
        1 => Err("the server has no such program".to_owned()),
        2 => Err("the server has another version of the program".to_owned()),
        3 => Err("the server has no such procedure".to_owned()),
        status => Err(format!("the server does not take the call (status {status})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives so many bytes a time, then nothing for now.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            if count == 0 {
                return Err(ErrorKind::WouldBlock.into());
            }
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn fragment(bytes: &[u8], is_last: bool) -> Vec<u8> {
        let mark = u32::try_from(bytes.len()).unwrap() | if is_last { LAST } else { 0 };
        [&mark.to_be_bytes()[..], bytes].concat()
    }

    #[test]
    fn a_record_is_put_together_of_fragments_however_they_come() {
        let bytes =
            [fragment(b"one", false), fragment(b"", false), fragment(b"two", true), fragment(b"3", true)].concat();
        for at_once in 1..bytes.len() {
            let (mut incoming, mut stream) = (Incoming::default(), Drops(&bytes, at_once));
            incoming.receive(&mut stream).unwrap();
            assert_eq!(&incoming.record[..incoming.filled], b"onetwo");
            incoming.filled = 0;
            incoming.receive(&mut stream).unwrap();
            assert_eq!(&incoming.record[..incoming.filled], b"3");
            assert_eq!(incoming.receive(&mut stream).unwrap_err().kind(), ErrorKind::WouldBlock);
        }
    }

    #[test]
    fn a_record_that_is_too_long_is_refused_before_it_comes() {
        let mut incoming = Incoming::default();
        let error = incoming.receive(&mut Drops(&u32::MAX.to_be_bytes(), 4)).unwrap_err();
        assert!(error.to_string().contains("more than"), "{error}");
        assert!(incoming.record.is_empty());
    }

    #[test]
    fn a_refused_caller_is_told_from_a_missing_program() {
        let denied = [1, 1, 1, 1u32].map(u32::to_be_bytes).concat();
        assert!(accepted(&mut Reader(&denied)).unwrap_err().contains("refuses the caller"));
        let missing = [1, 0, 0, 0, 1u32].map(u32::to_be_bytes).concat();
        assert!(accepted(&mut Reader(&missing)).unwrap_err().contains("no such program"));
        assert!(accepted(&mut Reader(&missing[..12])).is_err());
    }
}
