//! The folder that a bundle is written to.
//!
//! It is written under another name and renamed when it is whole, so that a
//! folder of the wanted name is always a complete bundle. A locked file inside
//! marks it as being written; the lock goes with the process that writes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use nicteam_node::Error;
use nicteam_record::{MARK, RUNNING, is_abandoned};
use nix::fcntl::{Flock, FlockArg};

/// Ending of a folder that is not whole.
const PARTIAL: &str = ".partial";

/// A folder in the making; it goes with this value unless it is finished.
#[derive(Debug)]
pub(crate) struct Output {
    wanted: PathBuf,
    partial: PathBuf,
    finished: bool,
    _lock: Flock<File>,
}

impl Output {
    /// Begins a folder in one that is there: a slip of the pen makes no tree.
    /// What an ended lab left under the same name is removed.
    pub(crate) fn begin(wanted: &Path) -> Result<Output, Error> {
        // Without the slash that may end it, which would put the ending into the folder.
        let wanted = &wanted.components().collect::<PathBuf>();
        if let Some(parent) = wanted.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
            return Err(Error::NoParent { output: wanted.to_owned(), parent: parent.to_owned() });
        }
        let partial = with_ending(wanted, PARTIAL);
        if wanted.exists() || partial.exists() && !is_abandoned(&partial) {
            return Err(Error::OutputExists(if wanted.exists() { wanted.to_owned() } else { partial }));
        }
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(failed("remove", &partial))?;
        }
        for folder in [&partial, &partial.join("samples")] {
            fs::create_dir(folder).map_err(failed("make the folder", folder))?;
        }
        let mark = partial.join(MARK);
        let file = File::create(&mark).map_err(failed("write", &mark))?;
        // Nobody else writes here; who asks whether somebody does holds it for a moment.
        let lock =
            Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| failed("lock", &mark)(errno.into()))?;
        Ok(Output { wanted: wanted.to_owned(), partial, finished: false, _lock: lock })
    }

    /// Where to write.
    pub(crate) fn dir(&self) -> &Path {
        &self.partial
    }

    /// Writes a file of the bundle. Who reads it meanwhile, or after the lab was killed, finds a whole one.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let (path, new) = (self.partial.join(name), self.partial.join(".new"));
        fs::write(&new, bytes).and_then(|()| fs::rename(&new, &path)).map_err(|error| {
            // The bundle may be kept without it; half a file has no place there.
            let _ = fs::remove_file(&new);
            failed("write", &path)(error)
        })
    }

    /// Gives the folder its name.
    pub(crate) fn finish(mut self) -> Result<PathBuf, Error> {
        let mark = self.partial.join(MARK);
        fs::remove_file(&mark).map_err(failed("remove", &mark))?;
        // There is none where no run has begun.
        let _ = fs::remove_file(self.partial.join(RUNNING));
        fs::rename(&self.partial, &self.wanted).map_err(failed("rename", &self.partial))?;
        self.finished = true;
        Ok(self.wanted.clone())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.finished {
            // On the way out of an error that matters more; `lab clean` finds what stays.
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

/// A free name for a new bundle: `stem`, or `stem-2` and so on.
pub(crate) fn free_name(stem: &Path) -> PathBuf {
    let free = |path: &PathBuf| !path.exists() && !with_ending(path, PARTIAL).exists();
    let numbered = (2..).map(|number| with_ending(stem, &format!("-{number}")));
    std::iter::once(stem.to_owned()).chain(numbered).find(free).unwrap_or_else(|| stem.to_owned())
}

/// A path with something behind its last name.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// An error of a file operation.
pub(crate) fn failed(operation: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    move |source| Error::File { operation, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_somebody_else_is_not_touched() {
        let folder = std::env::temp_dir().join(format!("nicteam-output-{}", std::process::id()));
        let strange = with_ending(&folder, PARTIAL);
        fs::create_dir_all(&strange).unwrap();
        assert!(matches!(Output::begin(&folder), Err(Error::OutputExists(path)) if path == strange));
        assert!(!is_abandoned(&strange));
        fs::write(strange.join(MARK), "").unwrap();
        assert!(is_abandoned(&strange), "marked and not locked");
        let output = Output::begin(&folder).unwrap();
        assert!(!is_abandoned(output.dir()), "somebody writes it");
        assert!(Output::begin(&folder).is_err(), "two at once");
        assert_eq!(output.finish().unwrap(), folder);
        assert_eq!(free_name(&folder), with_ending(&folder, "-2"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_mark_that_is_no_file_marks_nothing() {
        let folder = std::env::temp_dir().join(format!("nicteam-output-mark-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        nix::unistd::mkfifo(&folder.join(MARK), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
        assert!(!is_abandoned(&folder), "and nobody waits for somebody to write into it");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_last_folder_alone_is_made() {
        let folder = std::env::temp_dir().join(format!("nicteam-output-parents-{}", std::process::id()));
        let error = Output::begin(&folder.join("a/b")).unwrap_err();
        assert!(matches!(&error, Error::NoParent { parent, .. } if *parent == folder.join("a")), "{error}");
        assert!(!folder.exists());
        fs::create_dir(&folder).unwrap();
        let output = Output::begin(&folder.join("a/")).unwrap();
        assert_eq!(output.dir(), folder.join("a.partial"), "the slash is no name");
        assert_eq!(output.finish().unwrap(), folder.join("a"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
