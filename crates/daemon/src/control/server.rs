//! The team's end of its socket: a thread that accepts, a thread a connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nicteam_sys::Context;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{Answer, Done, PROTOCOL, Peer, Refusal, RefusalKind, Request, address};
use crate::{Error, TeamHandle};

/// The longest request, bytes.
const LONGEST: u64 = 64 * 1024;
/// Connections served at a time.
const MOST: usize = 32;
/// How long a client may keep an answer waiting.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a follower of a quiet team is looked after.
const LOOK: Duration = Duration::from_millis(500);

/// Serves a team's socket until it is dropped; then every answer that is due
/// has been given.
#[derive(Debug)]
pub struct Server {
    /// Closed to end the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

/// A client that is being served.
struct Connection {
    stream: UnixStream,
    thread: JoinHandle<()>,
}

impl Server {
    /// Listens in the network namespace of the calling thread.
    ///
    /// # Errors
    /// Somebody has the socket's name, or no thread can be started.
    pub fn start(team: TeamHandle) -> Result<Server, Error> {
        let operation = || format!("listen on `@nicteam-control-{}`", team.name());
        let listener = address(team.name()).and_then(|address| UnixListener::bind_addr(&address));
        let listener = listener.context(operation)?;
        listener.set_nonblocking(true).context(operation)?;
        let (stop, stopped) = UnixStream::pair().context(operation)?;
        let name = format!("ctl {}", team.name());
        let thread = thread::Builder::new().name(name).spawn(move || accept(&listener, &stopped, &team));
        Ok(Server { stop: Some(stop), thread: Some(thread.context(|| "start the control thread".to_owned())?) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Accepts until `stopped` closes, then lets every connection end.
fn accept(listener: &UnixListener, stopped: &UnixStream, team: &TeamHandle) {
    let mut connections: Vec<Connection> = Vec::new();
    loop {
        let mut fds = [listener.as_fd(), stopped.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let polled = poll(&mut fds, PollTimeout::NONE);
        if polled.is_err_and(|errno| errno != nix::errno::Errno::EINTR) || fds[1].any() == Some(true) {
            break;
        }
        connections.retain(|connection| !connection.thread.is_finished());
        if let Ok((stream, _)) = listener.accept() {
            connections.extend(admit(stream, team, connections.len()));
        }
    }
    team.journal().close();
    for connection in connections {
        // It may be waiting for another request.
        let _ = connection.stream.shutdown(Shutdown::Read);
        let _ = connection.thread.join();
    }
}

/// Serves a client on a thread of its own, unless it must not be or cannot be.
fn admit(stream: UnixStream, team: &TeamHandle, served: usize) -> Option<Connection> {
    stream.set_nonblocking(false).and_then(|()| stream.set_write_timeout(Some(PATIENCE))).ok()?;
    let peer = Peer::of(&stream).ok()?;
    if !peer.is_trusted() {
        // It may have gone already.
        let _ = say(&stream, &Answer::Refused(not_permitted(team.name())));
        return None;
    }
    if served >= MOST {
        let busy = format!("team {} serves {MOST} clients already", team.name());
        let _ = say(&stream, &Answer::Refused(Refusal::new(RefusalKind::Busy, busy, "end some of them")));
        return None;
    }
    let (own, team) = (stream.try_clone().ok()?, team.clone());
    let thread = thread::Builder::new().name(format!("ctl {}", peer.pid)).spawn(move || {
        // A client that goes away half way is nobody's trouble.
        let _ = serve(&own, &team);
        let _ = own.shutdown(Shutdown::Both);
    });
    Some(Connection { stream, thread: thread.ok()? })
}

fn not_permitted(team: &str) -> Refusal {
    Refusal::new(RefusalKind::NotPermitted, format!("team {team} belongs to another user"), "run this as root (sudo)")
}

/// Answers one client until it has no more to ask.
fn serve(stream: &UnixStream, team: &TeamHandle) -> io::Result<()> {
    let nicteam = env!("CARGO_PKG_VERSION").to_owned();
    say(stream, &Answer::Hello { protocol: PROTOCOL, nicteam, team: team.name().to_owned(), pid: std::process::id() })?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        match serde_json::from_slice(&line) {
            Ok(Request::Follow) => return follow(stream, team),
            Ok(Request::Leave) => {
                say(stream, &Answer::Done(Done::default()))?;
                team.leave();
                return Ok(());
            }
            Ok(request) => answer(stream, team, request)?,
            Err(error) => {
                let message = format!("not a request of this version: {error}");
                return say(stream, &Answer::Refused(Refusal::new(RefusalKind::Version, message, "")));
            }
        }
    }
}

/// Does what was asked and says so.
fn answer(stream: &UnixStream, team: &TeamHandle, request: Request) -> io::Result<()> {
    let done = |result: Result<Done, Error>| match result {
        Ok(done) => Answer::Done(done),
        Err(error) => Answer::Refused(Refusal::from(&error)),
    };
    let nothing = |()| Done::default();
    let answer = match request {
        Request::Status => match team.status() {
            Ok(status) => Answer::Status(Box::new(status)),
            Err(error) => Answer::Refused(Refusal::from(&error)),
        },
        Request::Set { options } => done(team.set(options).map(|changed| Done { changed, notes: Vec::new() })),
        Request::AddMember { device } => done(team.add_member(&device).map(nothing)),
        Request::RemoveMember { device } => {
            done(team.remove_member(&device).map(|notes| Done { changed: Vec::new(), notes }))
        }
        Request::Activate { device } => done(team.activate(&device).map(nothing)),
        Request::Remove => done(team.remove().map(nothing)),
        Request::Events | Request::Follow | Request::Leave => {
            for entry in team.journal().after(0) {
                say(stream, &Answer::Event(entry))?;
            }
            Answer::Done(Done::default())
        }
    };
    say(stream, &answer)
}

/// Tells every event until the team ends or the client goes.
fn follow(stream: &UnixStream, team: &TeamHandle) -> io::Result<()> {
    let mut last = 0;
    while let Some(entries) = team.journal().wait_after(last, LOOK) {
        for entry in entries {
            last = entry.number;
            say(stream, &Answer::Event(entry))?;
        }
        if has_gone(stream) {
            return Ok(());
        }
    }
    Ok(())
}

/// True if a client that has nothing more to say has hung up.
fn has_gone(stream: &UnixStream) -> bool {
    let mut fds = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

fn say(mut stream: &UnixStream, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    stream.write_all(&line)
}
