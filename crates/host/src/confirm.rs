//! A team that is taken down again unless somebody says that all is well.
//!
//! For those who are logged in by the very link that becomes a team: if that goes wrong they cannot say so. [`arm`] notes that
//! a confirmation is awaited (`up:NAME.confirm`), before the team is touched; [`watch`], in processes of its own, takes the team down when
//! none came, and notes that (`up:NAME.missed`) until the team comes up again; [`confirm`] removes the note.

use std::time::Duration;

use nicteam_daemon::Notes;
use nicteam_sys::process;
use nicteam_sys::reserve::Reserve;
use nix::errno::Errno;

use crate::Error;
use crate::awaited::{END, MISSED, forget_missed, read, read_missed, take, write, write_missed};
use crate::clock::now_ms;
use crate::down::restore;
use crate::journal::Journal;

pub use crate::awaited::{Awaited, Missed};

/// How often it is looked whether somebody has confirmed.
const LOOK: Duration = Duration::from_millis(100);
/// What fails is tried again so often.
const PATIENCE: u32 = 10;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Somebody confirmed, or somebody waits anew, or the team was taken down.
    Settled,
    /// Nobody did: the team was taken down.
    TakenDown,
}

/// Awaits a confirmation of a team from now on; the token that [`watch`] is to be told.
///
/// # Errors
/// It cannot be noted.
pub fn arm(team: &str, wait: Duration) -> Result<u64, Error> {
    let token = nicteam_sys::random::number()?;
    write(&Notes::of(team)?, &Awaited::new(token, wait))?;
    Ok(token)
}

/// The team is up: the time to confirm begins. False: it was confirmed, or taken down and brought up anew, meanwhile.
///
/// # Errors
/// It cannot be noted.
pub fn begin(team: &str, token: u64) -> Result<bool, Error> {
    let notes = Notes::of(team)?;
    match read(&notes)?.filter(|awaited| awaited.token == token) {
        Some(awaited) => write(&notes, &Awaited { since_ms: now_ms(), is_up: true, ..awaited }).map(|()| true),
        None => Ok(false),
    }
}

/// Confirms a team; false if nobody awaits it, or it is being taken down already.
///
/// # Errors
/// The note cannot be removed.
pub fn confirm(team: &str) -> Result<bool, Error> {
    take(&Notes::of(team)?, None, false)
}

/// What is awaited of a team.
///
/// # Errors
/// It cannot be read.
pub fn awaited(team: &str) -> Result<Option<Awaited>, Error> {
    read(&Notes::of(team)?)
}

/// The teams that a confirmation is awaited of.
///
/// # Errors
/// The caller may not look.
pub fn teams() -> Result<Vec<String>, Error> {
    Ok(Notes::teams(END)?)
}

/// What is noted of a team that was taken down because nobody confirmed it, and has not come up since.
///
/// # Errors
/// It cannot be read.
pub fn missed(team: &str) -> Result<Option<Missed>, Error> {
    read_missed(&Notes::of(team)?)
}

/// The teams of which that is noted.
///
/// # Errors
/// The caller may not look.
pub fn missed_teams() -> Result<Vec<String>, Error> {
    Ok(Notes::teams(MISSED)?)
}

/// Waits until it is decided what becomes of a team, and done: true if it stays up, false if it was taken down; `None`: a signal
/// came before that ([`process::catch_termination`]).
///
/// # Errors
/// What is noted cannot be read.
pub fn decided(team: &str) -> Result<Option<bool>, Error> {
    let notes = Notes::of(team)?;
    while process::termination().is_none() {
        // The process that takes the team down has the lock until that is done.
        let lock = if read(&notes)?.is_none() { notes.lock()? } else { None };
        if lock.is_some() {
            return Ok(Some(Journal::read(team, &notes)?.is_some_and(|journal| journal.is_up)));
        }
        process::sleep_or_termination(LOOK);
    }
    Ok(None)
}

/// Waits until a team is confirmed, and takes it down if it is not: after its time, when a signal ends this process
/// ([`process::catch_termination`]), or when the process that was to bring it up was killed meanwhile.
///
/// Several may watch one team: one of them acts. Nothing that the machine lacks, room on a disk, descriptors, memory,
/// keeps it from acting: it holds a reserve until then, and tries again, or leaves out, what needs more.
///
/// # Errors
/// It could not be taken down.
pub fn watch(team: &str, token: u64, mut reserve: Reserve) -> Result<Outcome, Error> {
    let notes = Notes::of(team)?;
    let (mut last, mut was_busy, mut refused) = (None, false, 0);
    loop {
        // What cannot be read is as it was.
        if let Ok(now) = read(&notes) {
            last = now.filter(|awaited| awaited.token == token);
        }
        let Some(awaited) = &last else { return Ok(Outcome::Settled) };
        if !awaited.left().is_zero() && process::termination().is_none() {
            process::sleep_or_termination(LOOK);
            continue;
        }
        reserve.release();
        let lock = notes.lock();
        refused = if lock.is_err() { refused + 1 } else { 0 };
        // Somebody is just bringing it up or down, or was until now, and is about to say that the team is up.
        let is_busy = matches!(lock, Ok(None)) || lock.is_err() && refused < PATIENCE;
        if is_busy || was_busy && lock.is_ok() {
            was_busy = is_busy;
            drop(lock);
            std::thread::sleep(LOOK);
            continue;
        }
        // The process that had the lock until now may have acted; where no process can have one, none has acted.
        if read(&notes).is_ok_and(|now| now.as_ref() != Some(awaited)) {
            continue;
        }
        let by_signal = !awaited.left().is_zero();
        // Before the team goes down, so that every late confirmation learns of it.
        let is_noted = write_missed(&notes, &Missed::now(awaited, by_signal)).is_ok();
        match take(&notes, Some(token), !is_noted) {
            Ok(true) => return restore_at_last(team, &notes, awaited, by_signal),
            Ok(false) => drop(forget_missed(&notes)),
            Err(_) => std::thread::sleep(LOOK),
        }
    }
}

/// Takes the team down; what fails is tried again for a while.
fn restore_at_last(team: &str, notes: &Notes, awaited: &Awaited, by_signal: bool) -> Result<Outcome, Error> {
    let mut tries = 0;
    loop {
        match restore(team, notes, None) {
            Ok(_) | Err(Error::NoTeam { .. }) => {
                // What was noted ahead, or stands in its place, says nearly the same.
                let _ = write_missed(notes, &Missed::now(awaited, by_signal));
                return Ok(Outcome::TakenDown);
            }
            Err(error) if tries < PATIENCE || is_lack(&error) => {
                tries += 1;
                std::thread::sleep(LOOK * tries.min(PATIENCE));
            }
            Err(error) => {
                let _ = forget_missed(notes);
                return Err(error);
            }
        }
    }
}

/// The machine lacks something that it may have again.
fn is_lack(error: &Error) -> bool {
    const LACKS: [Errno; 6] =
        [Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM, Errno::ENOBUFS, Errno::ENOSPC, Errno::EDQUOT];
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let numbers = causes.filter_map(|cause| cause.downcast_ref::<std::io::Error>()?.raw_os_error());
    numbers.map(Errno::from_raw).any(|number| LACKS.contains(&number))
}
