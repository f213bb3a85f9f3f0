//! One connection, from its first byte to its last.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::request::{self, Request};
use crate::response::Response;

/// How long a client may take to ask.
pub(crate) const TO_ASK: Duration = Duration::from_secs(5);
/// How long a client may take to read its answer, or an event.
pub(crate) const TO_READ: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    pub(crate) since: Instant,
    pub(crate) state: State,
}

#[derive(Debug)]
pub(crate) enum State {
    Asking(Vec<u8>),
    Waiting(Request),
    Answering {
        out: Out,
    },
    /// Gets events.
    Listening {
        request: Request,
        /// What the site counts by: the last event that was taken from it.
        seen: u64,
        out: Out,
    },
    /// All was said; the client closes. Closing first would reset what it still sends, and its answer with it.
    Leaving,
}

/// Bytes on their way to a client.
#[derive(Debug, Default)]
pub(crate) struct Out {
    head: Vec<u8>,
    body: Arc<Vec<u8>>,
    sent: usize,
}

impl Out {
    pub(crate) fn of(response: &Response) -> Out {
        Out { head: response.head(), body: response.body.clone(), sent: 0 }
    }

    pub(crate) fn text(text: String) -> Out {
        Out { head: text.into_bytes(), ..Out::default() }
    }

    pub(crate) fn is_sent(&self) -> bool {
        self.sent == self.head.len() + self.body.len()
    }

    /// Sends as much as the client takes now.
    pub(crate) fn send(&mut self, stream: &mut TcpStream) -> io::Result<()> {
        while !self.is_sent() {
            let rest = match self.sent.checked_sub(self.head.len()) {
                None => &self.head[self.sent..],
                Some(sent) => &self.body[sent..],
            };
            match stream.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Connection {
        Connection { stream, since: Instant::now(), state: State::Asking(Vec::new()) }
    }

    pub(crate) fn turn(&mut self, state: State) {
        (self.state, self.since) = (state, Instant::now());
    }

    /// True if its place is free for another client: it has asked nothing, or it has its answer.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.state, State::Asking(_) | State::Leaving)
    }

    pub(crate) fn listens(&self) -> bool {
        matches!(self.state, State::Listening { .. })
    }
}

/// Reads what came; true if no more will come.
pub(crate) fn gather(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> bool {
    let mut some = [0; 2048];
    // Bytes behind the longest request are never read.
    while bytes.len() < request::LONGEST {
        match stream.read(&mut some) {
            Ok(0) => return true,
            Ok(count) => bytes.extend_from_slice(&some[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
    false
}
