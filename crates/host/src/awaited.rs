//! The notes of a confirmation that is awaited, and of one that did not come.

use std::time::Duration;

use nicteam_daemon::Notes;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::clock::now_ms;
use crate::journal::boot;

/// End of the file's name.
pub(crate) const END: &str = "confirm";
/// The same of a team that was taken down because nobody confirmed it.
pub(crate) const MISSED: &str = "missed";
/// The same of one that was confirmed, or whose time is over, for a moment.
const TAKEN: &str = "taken";

/// What is awaited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// Which of several waits it is.
    pub token: u64,
    /// How long is waited, milliseconds.
    pub wait_ms: u64,
    /// When that began, milliseconds since the machine started.
    pub since_ms: u64,
    /// The team is up; else it is on its way.
    pub is_up: bool,
    #[serde(default)]
    pub(crate) boot: String,
}

impl Awaited {
    /// Begins now, of a team that is on its way.
    pub(crate) fn new(token: u64, wait: Duration) -> Awaited {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Awaited { token, wait_ms, since_ms: now_ms(), is_up: false, boot: boot() }
    }

    /// How long there is left to confirm.
    pub fn left(&self) -> Duration {
        Duration::from_millis(self.since_ms.saturating_add(self.wait_ms).saturating_sub(now_ms()))
    }
}

/// A team that nobody confirmed, and that was taken down for that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    boot: String,
    /// How long was waited, milliseconds.
    pub wait_ms: u64,
    /// A signal had it taken down before that time was over.
    pub by_signal: bool,
    /// When it was taken down, milliseconds since the machine started.
    pub since_ms: u64,
}

impl Missed {
    /// Of what was awaited, and is taken down now.
    pub(crate) fn now(awaited: &Awaited, by_signal: bool) -> Missed {
        Missed { boot: boot(), wait_ms: awaited.wait_ms, by_signal, since_ms: now_ms() }
    }

    /// How long ago it was taken down.
    pub fn ago(&self) -> Duration {
        Duration::from_millis(now_ms().saturating_sub(self.since_ms))
    }
}

/// Notes it, until the team comes up again.
pub(crate) fn write_missed(notes: &Notes, missed: &Missed) -> Result<(), Error> {
    let text = serde_json::to_string(missed).map_err(std::io::Error::from);
    let text = text.map_err(|error| nicteam_sys::Error::new("note what was not confirmed", error))?;
    Ok(notes.write(MISSED, &(text + "\n"))?)
}

/// What is noted of that; what an earlier boot noted is nothing. Where there was no room to note it, what was awaited stands in its
/// place ([`take`]).
pub(crate) fn read_missed(notes: &Notes) -> Result<Option<Missed>, Error> {
    let of_awaited = |text: &str| {
        let Awaited { wait_ms, since_ms, boot, .. } = serde_json::from_str(text).ok()?;
        Some(Missed { boot, wait_ms, by_signal: false, since_ms: since_ms.saturating_add(wait_ms) })
    };
    let missed = notes.read(MISSED)?.and_then(|text| serde_json::from_str(&text).ok().or_else(|| of_awaited(&text)));
    Ok(missed.filter(|missed| missed.boot == boot()))
}

/// The team comes up again, or was not taken down.
pub(crate) fn forget_missed(notes: &Notes) -> Result<(), Error> {
    Ok(notes.remove(MISSED)?)
}

/// Nothing is awaited any more.
pub(crate) fn forget(notes: &Notes) -> Result<(), Error> {
    Ok(notes.remove(END)?)
}

/// This is not awaited any more; what somebody has asked for since is.
pub(crate) fn forget_this(notes: &Notes, awaited: Option<&Awaited>) -> Result<(), Error> {
    let now = read(notes)?;
    if now.is_some() && now.as_ref().map(|now| now.token) == awaited.map(|awaited| awaited.token) {
        forget(notes)
    } else {
        Ok(())
    }
}

/// Ends a wait, this one or any: true for the one of all who do so that decides what becomes of the team. It needs no room.
/// `misses`: what was awaited stays, as what was missed.
pub(crate) fn take(notes: &Notes, token: Option<u64>, misses: bool) -> Result<bool, Error> {
    if !notes.rename(END, TAKEN)? {
        return Ok(false);
    }
    // From here on nobody else acts: what cannot be read, for want of descriptors or memory, is what was awaited.
    let other = notes.read(TAKEN).ok().flatten().and_then(|text| serde_json::from_str::<Awaited>(&text).ok());
    if token.is_some() && other.is_some_and(|other| Some(other.token) != token) {
        // Somebody waits anew since a moment ago.
        notes.rename(TAKEN, END)?;
        return Ok(false);
    }
    let _ = if misses { notes.rename(TAKEN, MISSED).map(drop) } else { notes.remove(TAKEN) };
    Ok(true)
}

/// What is awaited.
pub(crate) fn read(notes: &Notes) -> Result<Option<Awaited>, Error> {
    // A note that cannot be understood is of another version, and nobody's to wait for.
    Ok(notes.read(END)?.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Something is awaited.
pub(crate) fn write(notes: &Notes, awaited: &Awaited) -> Result<(), Error> {
    let text = serde_json::to_string(awaited).map_err(std::io::Error::from);
    let text = text.map_err(|error| nicteam_sys::Error::new("note what is to be confirmed", error))?;
    Ok(notes.write(END, &(text + "\n"))?)
}
