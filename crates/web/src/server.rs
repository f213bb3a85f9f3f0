//! The server: one thread for all connections.
//!
//! There are at most [`CONNECTIONS`] connections: a new one takes the place of the one that has waited longest without
//! asking anything, so silent clients keep nobody out.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::connection::{Connection, Out, State, TO_ASK, TO_READ, gather};
use crate::request::{self, Parsed, Request};
use crate::response::{Reply, Response};

/// The most connections at once.
pub const CONNECTIONS: usize = 64;
/// The most of them that get events.
pub const STREAMS: usize = 16;
/// After so long without an event a listener gets an empty one, which finds out whether the client is still there.
const EMPTY_EVENT: std::time::Duration = std::time::Duration::from_secs(15);

/// What a server hands out.
pub trait Site {
    /// The answer to a request. `refused` counts what was refused so far, and who was too slow.
    fn reply(&mut self, request: &Request, refused: u64) -> Reply;

    /// Takes what the threads behind the bells have made.
    fn hear(&mut self) {}

    /// Readable when something was made that clients wait for.
    fn bells(&self) -> Vec<BorrowedFd<'_>>;

    /// How long a client waits for its answer, and what it is told then.
    fn patience(&self) -> (std::time::Duration, &'static str);

    /// The next event of a stream in the form of server-sent events, and then `seen` is changed; none if there is none.
    fn event(&mut self, request: &Request, seen: &mut u64) -> Option<String> {
        let _ = (request, seen);
        None
    }
}

/// A server.
#[derive(Debug)]
pub struct Server<S> {
    listener: TcpListener,
    site: S,
    connections: BTreeMap<u64, Connection>,
    next: u64,
    refused: u64,
}

impl<S: Site> Server<S> {
    /// Listens at an address.
    ///
    /// # Errors
    /// It is taken, or not one of this host.
    pub fn bind(address: SocketAddr, site: S) -> io::Result<Server<S>> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Server { listener, site, connections: BTreeMap::new(), next: 0, refused: 0 })
    }

    /// The address at which it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is readable.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub fn run(&mut self, stop: BorrowedFd<'_>) -> io::Result<()> {
        loop {
            if self.wait(stop)? {
                return Ok(());
            }
            self.site.hear();
            self.accept();
            let numbers: Vec<u64> = self.connections.keys().copied().collect();
            for number in numbers {
                self.serve(number);
            }
        }
    }

    /// Waits until there is something to do; true if it is the end.
    fn wait(&self, stop: BorrowedFd<'_>) -> io::Result<bool> {
        let mut fds = vec![PollFd::new(stop, PollFlags::POLLIN), PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        fds.extend(self.site.bells().into_iter().map(|bell| PollFd::new(bell, PollFlags::POLLIN)));
        for connection in self.connections.values() {
            let wanted = match &connection.state {
                State::Answering { .. } => PollFlags::POLLOUT,
                State::Listening { out, .. } if !out.is_sent() => PollFlags::POLLIN | PollFlags::POLLOUT,
                State::Asking(_) | State::Listening { .. } | State::Leaving => PollFlags::POLLIN,
                // It goes on with a bell; a client that has left would wake the thread all the time.
                State::Waiting(_) => continue,
            };
            fds.push(PollFd::new(connection.stream.as_fd(), wanted));
        }
        // Deadlines are seconds; a quarter of one late is no harm.
        match poll(&mut fds, PollTimeout::from(250_u16)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(fds[0].any().unwrap_or(false))
    }

    fn accept(&mut self) {
        // As many as fit: each further one takes another's place, and the rest waits in the kernel.
        for _ in 0..CONNECTIONS {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The client is gone already, or there are no descriptors: the next turn tries again.
                Err(_) => return,
            };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.connections.len() >= CONNECTIONS {
                self.make_room();
            }
            self.next += 1;
            self.connections.insert(self.next, Connection::new(stream));
            // A client that has asked already must not be pushed out by the next one.
            self.serve(self.next);
        }
    }

    /// Ends the oldest connection that has not asked yet or is done; else the oldest that gets events, whose client comes
    /// back by itself; where all wait for their answers, the oldest of them.
    fn make_room(&mut self) {
        let mut all = self.connections.iter();
        let oldest = all.clone().find(|(_, connection)| connection.is_idle());
        let oldest = oldest.or(all.clone().find(|(_, connection)| connection.listens())).or(all.next());
        if let Some(number) = oldest.map(|(number, _)| *number) {
            let gone = self.connections.remove(&number);
            self.refused += u64::from(!gone.is_some_and(|gone| matches!(gone.state, State::Leaving)));
        }
    }

    /// Goes on with a connection as far as it goes.
    fn serve(&mut self, number: u64) {
        let Some(mut connection) = self.connections.remove(&number) else { return };
        if self.advance(&mut connection) {
            self.connections.insert(number, connection);
        }
    }

    /// False if the connection is over.
    fn advance(&mut self, connection: &mut Connection) -> bool {
        loop {
            let waited = connection.since.elapsed();
            match &mut connection.state {
                State::Asking(bytes) => {
                    let ended = gather(&mut connection.stream, bytes);
                    match request::read(bytes) {
                        Parsed::Unfinished if ended || waited > TO_ASK => {
                            self.refused += 1;
                            return false;
                        }
                        Parsed::Unfinished => return true,
                        Parsed::Whole(request) => connection.turn(State::Waiting(request)),
                        Parsed::Refused(status, why) => {
                            let answer = self.answered(&Response::text(status, why));
                            connection.turn(answer);
                        }
                    }
                }
                State::Waiting(request) => {
                    let (patience, too_late) = self.site.patience();
                    match self.site.reply(request, self.refused) {
                        Reply::Now(response) => {
                            let answer = self.answered(&response);
                            connection.turn(answer);
                        }
                        Reply::Wait if waited > patience => {
                            self.refused += 1;
                            connection.turn(State::Answering { out: Out::of(&Response::unavailable(too_late)) });
                        }
                        Reply::Wait => return true,
                        Reply::Stream => {
                            let request = std::mem::take(request);
                            connection.turn(self.listening(request));
                        }
                    }
                }
                State::Answering { out } => {
                    if out.send(&mut connection.stream).is_err() || !out.is_sent() && waited > TO_READ {
                        self.refused += 1;
                        return false;
                    }
                    if !out.is_sent() {
                        return true;
                    }
                    let closed = connection.stream.shutdown(std::net::Shutdown::Write);
                    connection.turn(State::Leaving);
                    if closed.is_err() {
                        return false;
                    }
                }
                State::Listening { .. } => return self.listen(connection),
                State::Leaving => return waited <= TO_ASK && !gather(&mut connection.stream, &mut Vec::new()),
            }
        }
    }

    fn answered(&mut self, response: &Response) -> State {
        self.refused += u64::from(response.is_refusal());
        State::Answering { out: Out::of(response) }
    }

    /// The begin of a stream, if there is room for one more.
    fn listening(&mut self, request: Request) -> State {
        if self.connections.values().filter(|connection| connection.listens()).count() >= STREAMS {
            self.refused += 1;
            return State::Answering { out: Out::of(&Response::unavailable("too many clients wait for events")) };
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
                    X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\nretry: 2000\n\n";
        let mut seen = 0;
        // What is there already is no event.
        let _ = self.site.event(&request, &mut seen);
        State::Listening { request, seen, out: Out::text(head.to_owned()) }
    }

    /// Goes on with a stream. One event at a time is on its way: a client that does not read costs no memory.
    fn listen(&mut self, connection: &mut Connection) -> bool {
        let State::Listening { request, seen, out } = &mut connection.state else { return false };
        if gather(&mut connection.stream, &mut Vec::new()) || out.send(&mut connection.stream).is_err() {
            return false;
        }
        let waited = connection.since.elapsed();
        if !out.is_sent() {
            return waited <= TO_READ;
        }
        let event = self.site.event(request, seen).or((waited > EMPTY_EVENT).then(|| ":\n\n".to_owned()));
        let Some(event) = event else { return true };
        *out = Out::text(event);
        connection.since = Instant::now();
        out.send(&mut connection.stream).is_ok()
    }
}
