//! A running team, as its owner sees it.

use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread::JoinHandle;

use nicteam_dataplane::{Counters, Kind};
use nicteam_team::{Config, MemberStatus};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::shell::Shell;
use crate::{Error, Notify, TeamSpec};

/// A team that runs on a thread of its own.
///
/// Dropping it ends the thread and leaves the kernel as it is: with the eBPF
/// dataplane the team forwards on, with packet sockets its members' frames are
/// dropped until it is started again. [`RunningTeam::remove`] takes it down.
///
/// A team whose device somebody deletes ends by itself and gives its members
/// back: [`RunningTeam::wait`] returns, [`RunningTeam::remove`] tells why.
#[derive(Debug)]
pub struct RunningTeam {
    name: String,
    kind: Kind,
    requests: mpsc::Sender<Request>,
    wake: UnixStream,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

/// A team at one moment.
#[derive(Clone, Debug)]
pub struct TeamReport {
    /// Its device.
    pub name: String,
    /// What executes its plan.
    pub dataplane: Kind,
    /// Its configuration.
    pub config: Config,
    /// True if its stack sees a carrier.
    pub carrier: bool,
    /// Its members, by place.
    pub members: Vec<MemberReport>,
}

/// A member at one moment.
#[derive(Clone, Debug)]
pub struct MemberReport {
    /// Its interface index.
    pub index: u32,
    /// Its state.
    pub status: MemberStatus,
    /// What it carried.
    pub counters: Counters,
}

/// What the owner asks of the team's thread.
#[derive(Debug)]
pub(crate) enum Request {
    /// How is it?
    Report(mpsc::Sender<Result<TeamReport, Error>>),
    /// Take everything down and end.
    Remove(mpsc::Sender<Result<(), Error>>),
    /// End, and leave the kernel as it is.
    Leave,
}

impl RunningTeam {
    /// Sets a team up, or takes over the one that an ended process left, and
    /// returns when its first plan is in force.
    pub fn start(spec: TeamSpec, notify: Notify) -> Result<RunningTeam, Error> {
        spec.check()?;
        let name = spec.name.clone();
        let (wake, woken) = socket_pair()?;
        let (requests, inbox) = mpsc::channel();
        let (ready, started) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(format!("team {name}"))
            .spawn(move || {
                let shell = match Shell::set_up(spec, notify) {
                    Ok(shell) => shell,
                    Err(error) => {
                        // The receiver waits for this.
                        let _ = ready.send(Err(error));
                        return Ok(());
                    }
                };
                let _ = ready.send(Ok(shell.kind()));
                shell.serve(&woken, &inbox)
            })
            .map_err(|source| nicteam_sys::Error::new(format!("start the thread of team {name}"), source))?;
        let outcome = started.recv().unwrap_or_else(|_| Err(Error::Ended(name.clone())));
        let kind = match outcome {
            Ok(kind) => kind,
            Err(error) => {
                // Until it has ended, it holds the name.
                let _ = thread.join();
                return Err(error);
            }
        };
        Ok(RunningTeam { name, kind, requests, wake, thread: Some(thread) })
    }

    /// Its device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What executes its plan.
    pub fn dataplane(&self) -> Kind {
        self.kind
    }

    /// How it is now.
    pub fn report(&self) -> Result<TeamReport, Error> {
        self.ask(Request::Report)?
    }

    /// Waits until the team has ended by itself, or `interrupt` is readable.
    pub fn wait(&self, interrupt: Option<BorrowedFd<'_>>) -> Result<(), Error> {
        // The other end of the wire goes with the thread; it sends nothing before.
        let ends = [Some(self.wake.as_fd()), interrupt];
        let mut fds: Vec<PollFd<'_>> =
            ends.into_iter().flatten().map(|end| PollFd::new(end, PollFlags::POLLIN)).collect();
        loop {
            match poll(&mut fds, PollTimeout::NONE) {
                Err(Errno::EINTR) => {}
                Err(errno) => {
                    return Err(
                        nicteam_sys::Error::new(format!("wait for the end of team {}", self.name), errno).into()
                    );
                }
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Takes it down: members become again what they were, with their own
    /// traffic; its device goes.
    ///
    /// # Errors
    /// Of what could not be undone, the first; all the rest is. If the team has
    /// ended by itself, why.
    pub fn remove(mut self) -> Result<(), Error> {
        self.ask(Request::Remove).unwrap_or_else(|ended| {
            let thread = self.thread.take().map(JoinHandle::join);
            match thread {
                Some(Ok(Err(error))) => Err(error),
                _ => Err(ended),
            }
        })
    }

    /// Sends a request and waits for its answer.
    fn ask<T>(&self, request: impl FnOnce(mpsc::Sender<T>) -> Request) -> Result<T, Error> {
        let ended = || Error::Ended(self.name.clone());
        let (answer, answered) = mpsc::channel();
        self.requests.send(request(answer)).map_err(|_| ended())?;
        (&self.wake).write_all(&[0]).map_err(|_| ended())?;
        answered.recv().map_err(|_| ended())
    }
}

impl Drop for RunningTeam {
    fn drop(&mut self) {
        // Both fail only if the thread has ended by itself, which is what is wanted.
        let _ = self.requests.send(Request::Leave);
        let _ = (&self.wake).write_all(&[0]);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The ends of the wire that wakes the thread.
fn socket_pair() -> Result<(UnixStream, UnixStream), Error> {
    let pair = UnixStream::pair().and_then(|pair| pair.1.set_nonblocking(true).map(|()| pair));
    Ok(pair.map_err(|source| nicteam_sys::Error::new("make a socket pair", source))?)
}
