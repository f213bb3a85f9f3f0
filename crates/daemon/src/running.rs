//! A running team, as its owner sees it.

use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use nicteam_dataplane::Kind;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::lock::Lock;
use crate::persistence::Persistence;
use crate::request::{Request, TeamReport};
use crate::shell::Shell;
use crate::{Entry, Error, Happened, Journal, Notify, OptionChange, ProcessOptions, TeamSpec, TeamStatus};

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
    handle: TeamHandle,
    kind: Kind,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

/// What asks a running team's thread; any number of threads may have one.
#[derive(Clone, Debug)]
pub struct TeamHandle {
    name: String,
    requests: mpsc::Sender<Request>,
    wake: Arc<UnixStream>,
    journal: Arc<Journal>,
}

impl RunningTeam {
    /// Sets a team up, or takes over the one that an ended process left, and
    /// returns when its first plan is in force.
    pub fn start(spec: TeamSpec, notify: Notify) -> Result<RunningTeam, Error> {
        spec.check()?;
        let lock = Lock::take(&spec.name)?;
        RunningTeam::begin(spec, notify, lock, None, ProcessOptions::default())
    }

    /// The same; what the user sets is kept.
    pub(crate) fn begin(
        spec: TeamSpec,
        notify: Notify,
        lock: Lock,
        persistence: Option<Persistence>,
        options: ProcessOptions,
    ) -> Result<RunningTeam, Error> {
        let name = spec.name.clone();
        let (wake, woken) = socket_pair()?;
        let (requests, inbox) = mpsc::channel();
        let (ready, started) = mpsc::channel();
        let journal = Arc::new(Journal::default());
        let events = journal.clone();
        let thread = std::thread::Builder::new()
            .name(format!("team {name}"))
            .spawn(move || {
                let mut shell = match Shell::set_up(spec, notify, events, lock, persistence) {
                    Ok(shell) => shell,
                    Err(error) => {
                        // The receiver waits for this.
                        let _ = ready.send(Err(error));
                        return Ok(());
                    }
                };
                // The programs forward. What is left to the thread is seldom much, but has to be soon: on a busy
                // host others would make it find out late what failed. It does without where it may not.
                if shell.kind() == Kind::Bpf {
                    shell.run_first();
                }
                if options.confined {
                    shell.confine();
                }
                shell.send_heartbeats_to(options.heartbeat_listener);
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
        let handle = TeamHandle { name, requests, wake: Arc::new(wake), journal };
        Ok(RunningTeam { handle, kind, thread: Some(thread) })
    }

    /// What asks it, for other threads.
    pub fn handle(&self) -> &TeamHandle {
        &self.handle
    }

    /// Its device.
    pub fn name(&self) -> &str {
        &self.handle.name
    }

    /// What executes its plan.
    pub fn dataplane(&self) -> Kind {
        self.kind
    }

    /// True if an ended process had left it.
    pub(crate) fn is_taken_over(&self) -> bool {
        let taken_over = |entry: Entry| entry.happened == Happened::Started { taken_over: true };
        self.handle.journal.after(0).into_iter().any(taken_over)
    }

    /// How it is now.
    pub fn report(&self) -> Result<TeamReport, Error> {
        self.handle.ask(Request::Report)?
    }

    /// Waits until the team has ended by itself, or `interrupt` is readable.
    pub fn wait(&self, interrupt: Option<BorrowedFd<'_>>) -> Result<(), Error> {
        // The other end of the wire goes with the thread; it sends nothing before.
        let ends = [Some(self.handle.wake.as_fd()), interrupt];
        let mut fds: Vec<PollFd<'_>> =
            ends.into_iter().flatten().map(|end| PollFd::new(end, PollFlags::POLLIN)).collect();
        loop {
            match poll(&mut fds, PollTimeout::NONE) {
                Err(Errno::EINTR) => {}
                Err(errno) => {
                    return Err(
                        nicteam_sys::Error::new(format!("wait for the end of team {}", self.name()), errno).into()
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
    /// ended by itself, why; none if it ended because a [`TeamHandle`] asked for it.
    pub fn remove(mut self) -> Result<(), Error> {
        self.handle.ask(Request::Remove).unwrap_or_else(|ended| {
            let thread = self.thread.take().map(JoinHandle::join);
            match thread {
                Some(Ok(result)) => result,
                _ => Err(ended),
            }
        })
    }
}

impl TeamHandle {
    /// Its device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What happened to it.
    pub fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// How it is now, with all that the system says of its devices.
    pub fn status(&self) -> Result<TeamStatus, Error> {
        self.ask(Request::Status)?.map(|status| *status)
    }

    /// Sets options by the kernel's names, all or none, by one plan: no frame is
    /// lost. Returns those that have another value now.
    pub fn set(&self, options: Vec<(String, String)>) -> Result<Vec<OptionChange>, Error> {
        self.ask(|answer| Request::Set(options, answer))?
    }

    /// Takes a device in, while the others carry on.
    pub fn add_member(&self, device: &str) -> Result<(), Error> {
        self.ask(|answer| Request::AddMember(device.to_owned(), answer))?
    }

    /// Lets a member go, after the others have taken its frames over, and gives
    /// it back as it was. Returns what its user should know.
    pub fn remove_member(&self, device: &str) -> Result<Vec<String>, Error> {
        self.ask(|answer| Request::RemoveMember(device.to_owned(), answer))?
    }

    /// Makes a member the active one.
    pub fn activate(&self, device: &str) -> Result<(), Error> {
        self.ask(|answer| Request::Activate(device.to_owned(), answer))?
    }

    /// Gives a bucket a member (Open vSwitch's balance-slb).
    pub fn migrate(&self, bucket: u8, device: &str) -> Result<(), Error> {
        self.ask(|answer| Request::Migrate(bucket, device.to_owned(), answer))?
    }

    /// Enables a member, or disables it (Open vSwitch's modes). What its link says holds against it.
    pub fn enable(&self, device: &str, enable: bool) -> Result<(), Error> {
        self.ask(|answer| Request::Enable(device.to_owned(), enable, answer))?
    }

    /// What the team was told lately, but for keys: the blocks of a recording, which follow [`nicteam_team::replay::head`].
    pub fn recording(&self) -> Result<Vec<Arc<[u8]>>, Error> {
        self.ask(Request::Record)
    }

    /// Takes the team down, as [`RunningTeam::remove`] does.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        self.ask(Request::Remove)?
    }

    /// Ends the team's thread and leaves the kernel as it is.
    pub(crate) fn leave(&self) {
        // Both fail only if the thread has ended by itself, which is what is wanted.
        let _ = self.requests.send(Request::Leave);
        let _ = (&*self.wake).write_all(&[0]);
    }

    /// Sends a request and waits for its answer.
    fn ask<T>(&self, request: impl FnOnce(mpsc::Sender<T>) -> Request) -> Result<T, Error> {
        let ended = || Error::Ended(self.name.clone());
        let (answer, answered) = mpsc::channel();
        self.requests.send(request(answer)).map_err(|_| ended())?;
        (&*self.wake).write_all(&[0]).map_err(|_| ended())?;
        answered.recv().map_err(|_| ended())
    }
}

impl Drop for RunningTeam {
    fn drop(&mut self) {
        self.handle.leave();
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
