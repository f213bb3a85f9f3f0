//! The folder that a bundle is written to.
//!
//! It is written under another name and renamed when it is whole, so that a
//! folder of the wanted name is always a complete bundle.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;

/// Ending of a folder that is not whole.
pub(crate) const PARTIAL: &str = ".partial";

/// A folder in the making; it goes with this value unless it is finished.
#[derive(Debug)]
pub(crate) struct Output {
    wanted: PathBuf,
    partial: PathBuf,
    finished: bool,
}

impl Output {
    /// Begins a folder.
    pub(crate) fn begin(wanted: &Path) -> Result<Output, Error> {
        if wanted.exists() {
            return Err(Error::OutputExists(wanted.to_owned()));
        }
        let mut partial = wanted.as_os_str().to_owned();
        partial.push(PARTIAL);
        let partial = PathBuf::from(partial);
        let _ = fs::remove_dir_all(&partial);
        let samples = partial.join("samples");
        fs::create_dir_all(&samples).map_err(failed("make the folder", &samples))?;
        Ok(Output { wanted: wanted.to_owned(), partial, finished: false })
    }

    /// Where to write.
    pub(crate) fn dir(&self) -> &Path {
        &self.partial
    }

    /// Writes a file of the bundle.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.partial.join(name);
        fs::write(&path, bytes).map_err(failed("write", &path))
    }

    /// Gives the folder its name.
    pub(crate) fn finish(mut self) -> Result<PathBuf, Error> {
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

/// An error of a file operation.
fn failed(operation: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    move |source| Error::File { operation, path: path.to_owned(), source }
}
