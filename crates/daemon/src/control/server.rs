//! The team's end of its socket: a thread that accepts, a thread a connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nicteam_sys::Context;
use nicteam_sys::peer::may_administer_network;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::sockets::{CONTROL, bound};
use super::{Answer, Done, PROTOCOL, Peer, Refusal, RefusalKind, Request, Sockets};
use crate::{Error, TeamHandle};

/// The longest request, bytes.
const LONGEST: u64 = 64 * 1024;
/// Connections served at a time, by each of the two sockets: who may only look keeps nobody from changing the team.
const MOST: usize = 32;
/// How long a client may think about its next request.
const IDLE: Duration = Duration::from_secs(600);
/// How long a client may keep an answer waiting.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a follower of a quiet team is looked after.
const LOOK: Duration = Duration::from_millis(500);

/// Serves a team's sockets until it is dropped; then every answer that is due has been given.
#[derive(Debug)]
pub(crate) struct Server {
    /// Closed to end the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

/// What a client may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Right {
    /// To look, for it came by the socket for that.
    Look,
    /// To look, for it has no capability.
    LookWithoutCapability,
    /// Everything.
    Change,
}

/// A client that is being served.
struct Connection {
    /// It came by the socket for those who may change the team.
    by_control: bool,
    stream: UnixStream,
    thread: JoinHandle<()>,
}

impl Server {
    /// Serves a team by its sockets.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn start(sockets: Sockets, team: TeamHandle) -> Result<Server, Error> {
        let operation = || format!("serve the sockets of team {}", team.name());
        sockets.control.set_nonblocking(true).context(operation)?;
        sockets.status.set_nonblocking(true).context(operation)?;
        let (stop, stopped) = UnixStream::pair().context(operation)?;
        let name = format!("ctl {}", team.name());
        let thread = thread::Builder::new().name(name).spawn(move || accept(&sockets, &stopped, &team));
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
fn accept(sockets: &Sockets, stopped: &UnixStream, team: &TeamHandle) {
    let mut connections: Vec<Connection> = Vec::new();
    loop {
        let ends = [sockets.control.as_fd(), sockets.status.as_fd(), stopped.as_fd()];
        let mut fds = ends.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let polled = poll(&mut fds, PollTimeout::NONE);
        if polled.is_err_and(|errno| errno != nix::errno::Errno::EINTR) || fds[2].any() == Some(true) {
            break;
        }
        connections.retain(|connection| !connection.thread.is_finished());
        for (listener, by_control) in [(&sockets.control, true), (&sockets.status, false)] {
            if let Ok((stream, _)) = listener.accept() {
                let served = connections.iter().filter(|other| other.by_control == by_control).count();
                connections.extend(admit(stream, team, by_control, served));
            }
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
fn admit(stream: UnixStream, team: &TeamHandle, by_control: bool, served: usize) -> Option<Connection> {
    stream.set_nonblocking(false).and_then(|()| bound(&stream, PATIENCE)).ok()?;
    stream.set_read_timeout(Some(IDLE)).ok()?;
    let peer = Peer::of(&stream).ok()?;
    // Who may look is said by the mode of the socket for that.
    if by_control && !peer.is_trusted() {
        // It may have gone already.
        let _ = say(&stream, &Answer::Refused(not_permitted(team.name())));
        return None;
    }
    if served >= MOST {
        let busy = format!("team {} serves {MOST} clients already", team.name());
        let _ = say(&stream, &Answer::Refused(Refusal::new(RefusalKind::Busy, busy, "end some of them")));
        return None;
    }
    let right = match by_control {
        false => Right::Look,
        true if may_administer_network(&stream) => Right::Change,
        true => Right::LookWithoutCapability,
    };
    let (own, team) = (stream.try_clone().ok()?, team.clone());
    let thread = thread::Builder::new().name(format!("ctl {}", peer.pid)).spawn(move || {
        // A client that goes away half way is nobody's trouble.
        let _ = serve(&own, &team, right);
        let _ = own.shutdown(Shutdown::Both);
    });
    Some(Connection { by_control, stream, thread: thread.ok()? })
}

/// Why a client may not change a team.
fn no_right(team: &str, right: Right) -> Option<Refusal> {
    let (message, hint) = match right {
        Right::Change => return None,
        Right::Look => {
            (format!("this socket of team {team} is for looking"), format!("use `{team}{CONTROL}` beside it"))
        }
        Right::LookWithoutCapability => (
            format!("to change team {team} takes CAP_NET_ADMIN in the user namespace of its process"),
            "`grep CapEff /proc/self/status` shows what a process may; run this as root (sudo)".to_owned(),
        ),
    };
    Some(Refusal::new(RefusalKind::NotPermitted, message, hint))
}

fn not_permitted(team: &str) -> Refusal {
    Refusal::new(RefusalKind::NotPermitted, format!("team {team} belongs to another user"), "run this as root (sudo)")
}

/// Answers one client until it has no more to ask.
fn serve(stream: &UnixStream, team: &TeamHandle, right: Right) -> io::Result<()> {
    let nicteam = env!("CARGO_PKG_VERSION").to_owned();
    say(stream, &Answer::Hello { protocol: PROTOCOL, nicteam, team: team.name().to_owned(), pid: std::process::id() })?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let request = serde_json::from_slice::<Request>(&line);
        if let Some(refusal) =
            request.as_ref().ok().filter(|request| request.changes()).and(no_right(team.name(), right))
        {
            say(stream, &Answer::Refused(refusal))?;
            continue;
        }
        match request {
            Ok(Request::Follow) => return follow(stream, team),
            // It says who speaks with whom.
            Ok(Request::Record) if right == Right::Look => {
                say(stream, &Answer::Refused(only_by_control(team.name())))?;
            }
            Ok(Request::Record) => record(stream, team)?,
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
        Request::Migrate { bucket, device } => done(team.migrate(bucket, &device).map(nothing)),
        Request::EnableMember { device, enable } => done(team.enable(&device, enable).map(nothing)),
        Request::Activate { device } => done(team.activate(&device).map(nothing)),
        Request::Remove => done(team.remove().map(nothing)),
        Request::Events | Request::EventsAfter { .. } | Request::Follow | Request::Record | Request::Leave => {
            let number = if let Request::EventsAfter { number } = request { number } else { 0 };
            for entry in team.journal().after(number) {
                say(stream, &Answer::Event(entry))?;
            }
            Answer::Done(Done::default())
        }
    };
    say(stream, &answer)
}

fn only_by_control(team: &str) -> Refusal {
    let message = format!("what team {team} was told is for those who may change it");
    Refusal::new(RefusalKind::NotPermitted, message, format!("use `{team}{CONTROL}`, as root (sudo)"))
}

/// Says what the team was told.
fn record(mut stream: &UnixStream, team: &TeamHandle) -> io::Result<()> {
    let blocks = match team.recording() {
        Ok(blocks) => blocks,
        Err(error) => return say(stream, &Answer::Refused(Refusal::from(&error))),
    };
    let bytes = blocks.iter().map(|block| block.len() as u64).sum();
    say(stream, &Answer::Recording { bytes })?;
    blocks.iter().try_for_each(|block| stream.write_all(block))
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
