//! A test program.

use std::path::PathBuf;
use std::process::Command;

/// A test program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What it is of: `nicteam-team/tests`.
    pub(crate) name: String,
    /// Where it is to run: the crate's folder, as with cargo.
    pub(crate) folder: PathBuf,
}

impl Program {
    /// It, to be completed.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}
