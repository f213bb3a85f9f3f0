//! A running team, as its owner sees it.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread::JoinHandle;

use nicteam_dataplane::{Counters, Kind};
use nicteam_team::{Config, MemberStatus};

use crate::shell::Shell;
use crate::{Error, Notify, TeamSpec};

/// A team that runs on a thread of its own.
///
/// Dropping it ends the thread and leaves the kernel as it is: with the eBPF
/// dataplane the team forwards on. [`RunningTeam::remove`] takes it down.
#[derive(Debug)]
pub struct RunningTeam {
    name: String,
    kind: Kind,
    requests: mpsc::Sender<Request>,
    wake: UnixStream,
    thread: Option<JoinHandle<()>>,
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
        let name = spec.name.clone();
        let (wake, woken) = socket_pair()?;
        let (requests, inbox) = mpsc::channel();
        let (ready, started) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(format!("team {name}"))
            .spawn(move || match Shell::set_up(spec, notify) {
                Ok(shell) => {
                    if ready.send(Ok(shell.kind())).is_ok() {
                        shell.serve(&woken, &inbox);
                    }
                }
                Err(error) => drop(ready.send(Err(error))),
            })
            .map_err(|source| nicteam_sys::Error::new(format!("start the thread of team {name}"), source))?;
        let kind = started.recv().map_err(|_| Error::Ended(name.clone()))??;
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

    /// Takes it down: members get their own address, MTU and traffic back, its device goes.
    pub fn remove(self) -> Result<(), Error> {
        self.ask(Request::Remove)?
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
