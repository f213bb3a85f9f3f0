//! What is noted of a team beside what its process keeps: what its host was before it came up, and what is still to be
//! confirmed.
//!
//! Files `up:NAME.END` in the folder of the network namespace, where no team has such a name; they go with the namespace, and
//! with `/run` at a reboot.

use std::fs::File;
use std::path::PathBuf;

use nicteam_dataplane::TeamDevice;
use nicteam_sys::Context;
use nix::fcntl::Flock;

use crate::Error;
use crate::folder::{self, Folder, Opened};

/// What surrounds the team's name in the names of the files.
const PREFIX: &str = "up:";
const LOCK: &str = "lock";
/// The longest note, bytes: a host may have a hundred thousand routes.
const LONGEST: u64 = 64 << 20;

/// The notes of one team of the calling thread's network namespace.
#[derive(Clone, Debug)]
pub struct Notes {
    folder: Folder,
    team: String,
}

/// The right to bring a team up or down. It goes with the value, or with its process.
#[derive(Debug)]
pub struct NotesLock {
    folder: Folder,
    opened: Opened,
    name: String,
    _file: Flock<File>,
}

impl Notes {
    /// Of a team.
    ///
    /// # Errors
    /// The name cannot be a team's.
    pub fn of(team: &str) -> Result<Notes, Error> {
        if !TeamDevice::is_name(team) {
            return Err(nicteam_dataplane::Error::Name(team.to_owned()).into());
        }
        Ok(Notes { folder: Folder::here()?, team: team.to_owned() })
    }

    /// The teams of which something is noted under this end.
    ///
    /// # Errors
    /// The caller may not look.
    pub fn teams(end: &str) -> Result<Vec<String>, Error> {
        let Some(opened) = Folder::here()?.open()? else { return Ok(Vec::new()) };
        let team = |name: String| Some(name.strip_prefix(PREFIX)?.strip_suffix(end)?.strip_suffix('.')?.to_owned());
        Ok(opened.names().into_iter().filter_map(team).filter(|team| TeamDevice::is_name(team)).collect())
    }

    /// The file of this end.
    pub fn path(&self, end: &str) -> PathBuf {
        self.folder.path().join(self.name(end))
    }

    /// Takes the right to bring the team up or down; `None`: somebody else has it.
    ///
    /// # Errors
    /// The folder cannot be made or written to.
    pub fn lock(&self) -> Result<Option<NotesLock>, Error> {
        let name = self.name(LOCK);
        let mut opened = self.folder.make()?;
        let mut file = opened.lock(&name);
        if file.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            // The last team that ended here has just taken the folder along.
            opened = self.folder.make()?;
            file = opened.lock(&name);
        }
        let file = file.context(|| format!("take the lock {}", opened.named(&name).display()))?;
        Ok(file.map(|file| NotesLock { folder: self.folder.clone(), opened, name, _file: file }))
    }

    /// What is noted under this end, if anything is.
    ///
    /// # Errors
    /// The file cannot be read, or its text is none.
    pub fn read(&self, end: &str) -> Result<Option<String>, Error> {
        let Some(opened) = self.folder.open()? else { return Ok(None) };
        let read = opened.read_up_to(&self.name(end), LONGEST);
        read.context(|| format!("read {}", self.path(end).display())).map_err(folder::refused)
    }

    /// Notes a text, in place of what was noted, whole or not at all.
    ///
    /// # Errors
    /// The folder cannot be made or written to; what was noted before stays.
    pub fn write(&self, end: &str, text: &str) -> Result<(), Error> {
        let written = self.folder.make()?.write(&self.name(end), text);
        Ok(written.context(|| format!("write {}", self.path(end).display()))?)
    }

    /// Forgets what is noted; no error if nothing is.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(&self, end: &str) -> Result<(), Error> {
        let Some(opened) = self.folder.open()? else { return Ok(()) };
        Ok(opened.remove(&self.name(end)).context(|| format!("remove {}", self.path(end).display()))?)
    }

    /// Puts what is noted under another end, in place of what was there; false if nothing is. Of several who do so one succeeds.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn rename(&self, end: &str, to: &str) -> Result<bool, Error> {
        let Some(opened) = self.folder.open()? else { return Ok(false) };
        let renamed = opened.rename(&self.name(end), &self.name(to));
        Ok(renamed.context(|| format!("rename {}", self.path(end).display()))?)
    }

    fn name(&self, end: &str) -> String {
        format!("{PREFIX}{}.{end}", self.team)
    }
}

impl Drop for NotesLock {
    fn drop(&mut self) {
        // While nobody else can have it: the next one makes a new file.
        let _ = self.opened.remove(&self.name);
        self.folder.remove_if_empty();
    }
}
