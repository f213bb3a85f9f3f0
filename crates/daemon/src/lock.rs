//! One process a team.

use std::fs::File;
use std::sync::Arc;

use nicteam_dataplane::TeamDevice;
use nicteam_sys::Context;
use nix::fcntl::Flock;

use crate::Error;
use crate::folder::{Folder, Opened};

/// What ends the name of the file; the team's name begins it.
pub(crate) const SUFFIX: &str = ".lock";

/// The right to run the team of this name in this network namespace; clones share it.
///
/// A lock (flock(2)) on the file `NAME.lock` in the namespace's folder, where nobody but its owner can take it. The
/// kernel gives it up with the last process that has it open, however that ends.
#[derive(Clone, Debug)]
pub(crate) struct Lock(Arc<Held>);

#[derive(Debug)]
struct Held {
    folder: Folder,
    opened: Opened,
    name: String,
    _file: Flock<File>,
}

impl Lock {
    /// Takes the right, or says that somebody has it. What namespaces left that are gone is removed.
    pub(crate) fn take(team: &str) -> Result<Lock, Error> {
        if !TeamDevice::is_name(team) {
            return Err(nicteam_dataplane::Error::Name(team.to_owned()).into());
        }
        let (folder, name) = (Folder::here()?, format!("{team}{SUFFIX}"));
        let mut opened = folder.make()?;
        let mut file = opened.lock(&name);
        if file.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            // The last team that ended here has just taken the folder along.
            opened = folder.make()?;
            file = opened.lock(&name);
        }
        let path = opened.named(&name);
        let file = file.context(|| format!("take the lock {}", path.display()))?;
        let file = file.ok_or_else(|| Error::Running { team: team.to_owned(), lock: path })?;
        folder.remove_gone();
        Ok(Lock(Arc::new(Held { folder, opened, name, _file: file })))
    }

    /// True if somebody has the right.
    pub(crate) fn is_held(team: &str) -> Result<bool, Error> {
        let name = format!("{team}{SUFFIX}");
        match Folder::here()?.open()? {
            Some(opened) if TeamDevice::is_name(team) => {
                Ok(opened.is_locked(&name).context(|| format!("see whether team {team} is running"))?)
            }
            _ => Ok(false),
        }
    }

    /// The folder that the lock is in.
    pub(crate) fn folder(&self) -> &Opened {
        &self.0.opened
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // While nobody else can have it: the next one makes a new file.
        let _ = self.opened.remove(&self.name);
        self.folder.remove_if_empty();
    }
}
