//! Hands out metrics over HTTP/1.1: a strict server whose costs are bounded.
//!
//! One thread serves all connections and never waits for one of them; another looks at the host, at most once a second
//! however many ask, so that a team that does not answer holds up nobody but those who want new values. There are at most
//! [`CONNECTIONS`] connections: a new one takes the place of the one that has waited longest without asking anything, so
//! silent clients keep no scraper out.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::collect::{Exporter, collect};
use super::encode::{Format, encode};
use super::request::{self, Request};
use crate::snapshot::Snapshot;

/// The most connections at once.
pub const CONNECTIONS: usize = 64;
/// How long a client may take to ask.
const TO_ASK: Duration = Duration::from_secs(5);
/// How long a client may take to read its answer.
const TO_READ: Duration = Duration::from_secs(20);
/// How long a client waits for values: Prometheus gives up after 10 s.
const TO_LOOK: Duration = Duration::from_secs(8);
/// Values that are younger are handed out again.
const FRESH: Duration = Duration::from_secs(1);

/// Looks at the host.
pub type Look = Box<dyn FnMut() -> Result<Snapshot, String> + Send>;

/// A server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    looks: Looks,
    connections: BTreeMap<u64, Connection>,
    next: u64,
    refused: u64,
}

/// The thread that looks.
#[derive(Debug)]
struct Looks {
    ask: Sender<()>,
    answers: Receiver<Result<Snapshot, String>>,
    /// Readable when there is an answer.
    bell: UnixStream,
    is_asked: bool,
    latest: Option<(Instant, Arc<Result<Snapshot, String>>)>,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    since: Instant,
    state: State,
}

#[derive(Debug)]
enum State {
    Asking(Vec<u8>),
    Waiting(Format),
    Answering {
        answer: Vec<u8>,
        sent: usize,
    },
    /// All was said; the client closes. Closing first would reset what it still sends, and its answer with it.
    Leaving,
}

impl Server {
    /// Listens at an address.
    ///
    /// # Errors
    /// It is taken, or not one of this host.
    pub fn bind(address: SocketAddr, look: Look) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let looks = Looks::start(look)?;
        Ok(Server { listener, looks, connections: BTreeMap::new(), next: 0, refused: 0 })
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
            self.looks.hear();
            self.accept();
            let numbers: Vec<u64> = self.connections.keys().copied().collect();
            for number in numbers {
                self.serve(number);
            }
        }
    }

    /// Waits until there is something to do; true if it is the end.
    fn wait(&self, stop: BorrowedFd<'_>) -> io::Result<bool> {
        let mut fds = vec![
            PollFd::new(stop, PollFlags::POLLIN),
            PollFd::new(self.listener.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.looks.bell.as_fd(), PollFlags::POLLIN),
        ];
        for connection in self.connections.values() {
            let wanted = match connection.state {
                State::Answering { .. } => PollFlags::POLLOUT,
                State::Asking(_) | State::Leaving => PollFlags::POLLIN,
                // It goes on with the bell; a client that has left would wake the thread all the time.
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
            let state = State::Asking(Vec::new());
            self.connections.insert(self.next, Connection { stream, since: Instant::now(), state });
            // Who has asked already is not to be pushed out by the next one.
            self.serve(self.next);
        }
    }

    /// Ends the oldest connection that has not asked yet or is done; where all wait for their answers, the oldest of them.
    fn make_room(&mut self) {
        let idle = |connection: &Connection| matches!(connection.state, State::Asking(_) | State::Leaving);
        let oldest =
            self.connections.iter().find(|(_, connection)| idle(connection)).or(self.connections.iter().next());
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
                        Request::Unfinished if ended || waited > TO_ASK => {
                            self.refused += 1;
                            return false;
                        }
                        Request::Unfinished => return true,
                        Request::Metrics(format) => connection.turn(State::Waiting(format)),
                        Request::Refused(status, why) => {
                            self.refused += 1;
                            connection.turn(answer(status, "text/plain; charset=utf-8", &format!("{why}\n")));
                        }
                    }
                }
                State::Waiting(format) => {
                    let format = *format;
                    match self.looks.fresh() {
                        Some(look) => connection.turn(self.said(&look, format)),
                        None if waited > TO_LOOK => {
                            self.refused += 1;
                            connection.turn(unavailable("a team does not answer; try again"));
                        }
                        None => return true,
                    }
                }
                State::Answering { answer, sent } => match connection.stream.write(&answer[*sent..]) {
                    Ok(0) => return false,
                    Ok(count) => {
                        *sent += count;
                        if *sent == answer.len() {
                            let closed = connection.stream.shutdown(std::net::Shutdown::Write);
                            connection.turn(State::Leaving);
                            if closed.is_err() {
                                return false;
                            }
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock && waited <= TO_READ => return true,
                    Err(_) => {
                        self.refused += 1;
                        return false;
                    }
                },
                State::Leaving => return waited <= TO_ASK && !gather(&mut connection.stream, &mut Vec::new()),
            }
        }
    }

    fn said(&self, look: &Result<Snapshot, String>, format: Format) -> State {
        match look {
            Ok(snapshot) => {
                let exporter = Exporter { refused: self.refused, beside_node_exporter: false };
                answer("200 OK", format.content_type(), &encode(&collect(snapshot, &exporter), format))
            }
            Err(why) => unavailable(why),
        }
    }
}

impl Connection {
    fn turn(&mut self, state: State) {
        (self.state, self.since) = (state, Instant::now());
    }
}

impl Looks {
    fn start(mut look: Look) -> io::Result<Looks> {
        let (ask, asked) = channel::<()>();
        let (tell, answers) = channel();
        let (bell, mut ring) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        std::thread::Builder::new().name("look".to_owned()).spawn(move || {
            // Ends with the server: nobody asks any more.
            while asked.recv().is_ok() {
                if tell.send(look()).is_err() || ring.write_all(&[1]).is_err() {
                    return;
                }
            }
        })?;
        Ok(Looks { ask, answers, bell, is_asked: false, latest: None })
    }

    /// Takes an answer that has come.
    fn hear(&mut self) {
        let _ = self.bell.read(&mut [0; 16]);
        while let Ok(answer) = self.answers.try_recv() {
            (self.is_asked, self.latest) = (false, Some((Instant::now(), Arc::new(answer))));
        }
    }

    /// The latest look, if it is fresh; else a new one is asked for.
    fn fresh(&mut self) -> Option<Arc<Result<Snapshot, String>>> {
        if let Some((at, look)) = &self.latest
            && at.elapsed() < FRESH
        {
            return Some(look.clone());
        }
        if !self.is_asked {
            self.is_asked = self.ask.send(()).is_ok();
        }
        None
    }
}

/// Reads what came; true if no more will come.
fn gather(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> bool {
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

fn unavailable(why: &str) -> State {
    answer("503 Service Unavailable", "text/plain; charset=utf-8", &format!("{why}\n"))
}

fn answer(status: &str, content_type: &str, body: &str) -> State {
    let allow = if status.starts_with("405") { "Allow: GET\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{allow}Connection: close\r\n\r\n",
        body.len()
    );
    State::Answering { answer: [head.as_bytes(), body.as_bytes()].concat(), sent: 0 }
}
