//! The other end of a team's socket.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nicteam_dataplane::TeamDevice;
use nix::errno::Errno;

use super::sockets::{CONTROL, STATUS, bound, reach};
use super::{Answer, Done, PROTOCOL, Peer, Refusal, RefusalKind, Request, directory};
use crate::folder::Folder;
use crate::lock::Lock;
use crate::{Entry, Error, TeamStatus};

/// The longest answer, bytes.
const LONGEST: u64 = 4 * 1024 * 1024;
/// How long a process may take to say who it is, and to answer those who only look.
const GREETING: Duration = Duration::from_secs(10);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a team's process.
#[derive(Debug)]
pub struct Client {
    team: String,
    pid: u32,
    stream: BufReader<UnixStream>,
}

/// The events of a team, as they happen.
#[derive(Debug)]
pub struct Events(Client);

impl Client {
    /// Connects to the team of this name in the calling thread's network namespace, to change it.
    ///
    /// # Errors
    /// There is no such team, it belongs to another user, or its process does not answer or is of
    /// another version.
    pub fn connect(team: &str) -> Result<Client, Refusal> {
        Client::open(team, CONTROL)
    }

    /// The same, to look at it: what changes it is refused.
    ///
    /// # Errors
    /// As above; it is open to members of the group `nicteam`, too.
    pub fn watch(team: &str) -> Result<Client, Refusal> {
        Client::open(team, STATUS)
    }

    fn open(team: &str, suffix: &str) -> Result<Client, Refusal> {
        let folder = match Folder::here().and_then(|folder| folder.open()) {
            Ok(Some(folder)) if TeamDevice::is_name(team) => folder,
            Ok(_) => return Err(directory::no_team(team)),
            Err(Error::Forbidden(_)) => return Err(directory::forbidden(team)),
            Err(error) => return Err(Refusal::from(&error)),
        };
        let stream = match reach(&folder, team, suffix) {
            Ok(stream) => stream,
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => {
                return Err(directory::no_team(team));
            }
            Err(error) if is_forbidden(&error) => return Err(directory::forbidden(team)),
            Err(error) => return Err(Refusal::system(&format!("reach team {team}"), &error)),
        };
        let failed = |error| Refusal::system(&format!("talk to team {team}"), &error);
        let peer = Peer::of(&stream).map_err(failed)?;
        if !peer.is_trusted() {
            let message = format!("the socket of team {team} is held by user {}, not by root or yourself", peer.uid);
            return Err(Refusal::new(RefusalKind::NotPermitted, message, format!("process {} holds it", peer.pid)));
        }
        stream.set_read_timeout(Some(GREETING)).and_then(|()| bound(&stream, PATIENCE)).map_err(failed)?;
        let mut client = Client { team: team.to_owned(), pid: 0, stream: BufReader::new(stream) };
        let greeting = client.hear().map_err(|refusal| match refusal.errno {
            Some(errno) if errno == Errno::EAGAIN as i32 => no_answer(team, peer.pid),
            _ => refusal,
        })?;
        let patience = if suffix == STATUS { GREETING } else { PATIENCE };
        client.stream.get_ref().set_read_timeout(Some(patience)).map_err(failed)?;
        match greeting {
            Some(Answer::Hello { protocol: PROTOCOL, pid, .. }) => {
                client.pid = pid;
                Ok(client)
            }
            Some(Answer::Hello { protocol, nicteam, pid, .. }) => Err(Refusal::new(
                RefusalKind::Version,
                format!(
                    "team {team} is run by nicteam {nicteam} (protocol {protocol}), this is {} (protocol {PROTOCOL})",
                    env!("CARGO_PKG_VERSION")
                ),
                format!("`kill -9 {pid}`, then `nicteam team restart {team}`: an eBPF team forwards on meanwhile"),
            )),
            Some(Answer::Refused(refusal)) => Err(refusal),
            Some(_) => Err(client.unexpected()),
            // It died under the hand.
            None => Err(client.ended()),
        }
    }

    /// The team's process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How the team is.
    pub fn status(&mut self) -> Result<TeamStatus, Refusal> {
        self.ask_status()?;
        self.hear_status()
    }

    /// Asks how the team is, and does not wait for the answer.
    pub fn ask_status(&mut self) -> Result<(), Refusal> {
        self.send(&Request::Status)
    }

    /// The answer to [`Client::ask_status`].
    pub fn hear_status(&mut self) -> Result<TeamStatus, Refusal> {
        match self.answer()? {
            Answer::Status(status) => Ok(*status),
            _ => Err(self.unexpected()),
        }
    }

    /// Lets the team do something.
    pub fn order(&mut self, request: &Request) -> Result<Done, Refusal> {
        match self.ask(request)? {
            Answer::Done(done) => Ok(done),
            _ => Err(self.unexpected()),
        }
    }

    /// The events that the team has kept, with a greater number than this.
    pub fn events_after(&mut self, number: u64) -> Result<Vec<Entry>, Refusal> {
        // Processes of earlier versions know the first of the two requests alone.
        let request = if number == 0 { Request::Events } else { Request::EventsAfter { number } };
        let mut entries = Vec::new();
        let mut answer = self.ask(&request)?;
        while let Answer::Event(entry) = answer {
            entries.push(entry);
            answer = self.hear()?.ok_or_else(|| self.ended())?;
        }
        Ok(entries)
    }

    /// What the team was told lately, but for keys: what follows [`nicteam_team::replay::head`] in a file.
    pub fn recording(&mut self) -> Result<Vec<u8>, Refusal> {
        let Answer::Recording { bytes } = self.ask(&Request::Record)? else { return Err(self.unexpected()) };
        let mut recording = Vec::new();
        let read = self.stream.by_ref().take(bytes).read_to_end(&mut recording);
        match read {
            Ok(read) if read as u64 == bytes => Ok(recording),
            Ok(_) => Err(self.ended()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// The events that the team has kept, then each when it happens.
    pub fn follow(mut self) -> Result<Events, Refusal> {
        self.send(&Request::Follow)?;
        self.stream.get_ref().set_read_timeout(None).map_err(|error| self.failed(&error))?;
        Ok(Events(self))
    }

    /// Takes the team down; returns when its name is free.
    pub fn remove(mut self) -> Result<(), Refusal> {
        self.order(&Request::Remove)?;
        self.wait_for_the_end()
    }

    /// Ends the process and leaves the team as it is; returns when another process may run it.
    pub fn replace(mut self) -> Result<(), Refusal> {
        self.order(&Request::Leave)?;
        self.wait_for_the_end()
    }

    fn wait_for_the_end(self) -> Result<(), Refusal> {
        let Client { team, stream, .. } = self;
        drop(stream);
        wait_until_free(&team)
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, Refusal> {
        self.send(request)?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Answer, Refusal> {
        match self.hear()? {
            Some(Answer::Refused(refusal)) => Err(refusal),
            Some(answer) => Ok(answer),
            None => Err(self.ended()),
        }
    }

    fn send(&mut self, request: &Request) -> Result<(), Refusal> {
        let sent = serde_json::to_vec(request).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.stream.get_mut().write_all(&line)
        });
        sent.map_err(|error| self.failed(&error))
    }

    /// The next answer; `None`: the team's process has ended.
    fn hear(&mut self) -> Result<Option<Answer>, Refusal> {
        let mut line = Vec::new();
        let read = self.stream.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        match read {
            Ok(0) => Ok(None),
            Ok(_) => serde_json::from_slice(&line).map(Some).map_err(|_| self.unexpected()),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn failed(&self, error: &io::Error) -> Refusal {
        Refusal::system(&format!("talk to team {}", self.team), error)
    }

    fn ended(&self) -> Refusal {
        Refusal::new(RefusalKind::NotRunning, format!("the process of team {} has ended", self.team), "")
    }

    fn unexpected(&self) -> Refusal {
        let message = format!("the process of team {} sent a reply that this version does not know", self.team);
        Refusal::new(
            RefusalKind::Version,
            message,
            format!("use the program that started it, or `nicteam team restart {}`", self.team),
        )
    }
}

/// True if the caller may not.
fn is_forbidden(error: &io::Error) -> bool {
    error.raw_os_error().is_some() && error.kind() == ErrorKind::PermissionDenied
}

/// A process that is stopped, or hangs.
fn no_answer(team: &str, pid: i32) -> Refusal {
    Refusal::new(
        RefusalKind::Failed,
        format!("process {pid} of team {team} does not answer within {} s", GREETING.as_secs()),
        format!("`kill -9 {pid}`, then `nicteam team restart {team}`: an eBPF team forwards on meanwhile"),
    )
}

/// Waits until nobody runs the team any more: a process that was killed, or told to end, has its lock for a moment.
///
/// # Errors
/// It does not end within a minute.
pub fn wait_until_free(team: &str) -> Result<(), Refusal> {
    let start = Instant::now();
    while Lock::is_held(team).map_err(|error| Refusal::from(&error))? {
        if start.elapsed() > PATIENCE {
            let message = format!("the process of team {team} does not end");
            return Err(Refusal::new(
                RefusalKind::Failed,
                message,
                "`ss -xlp` says which it is; end it with `kill -9`",
            ));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

impl Iterator for Events {
    type Item = Result<Entry, Refusal>;

    /// Waits for the next one; `None`: the team has ended.
    fn next(&mut self) -> Option<Self::Item> {
        match self.0.hear() {
            Ok(Some(Answer::Event(entry))) => Some(Ok(entry)),
            Ok(Some(Answer::Refused(refusal))) => Some(Err(refusal)),
            Ok(Some(_)) => Some(Err(self.0.unexpected())),
            Ok(None) => None,
            Err(refusal) => Some(Err(refusal)),
        }
    }
}
