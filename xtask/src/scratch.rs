//! A folder for what a measurement leaves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A temporary folder that every user may write to; it goes with this value.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A new one.
    pub(crate) fn new(name: &str) -> Result<Scratch, Failure> {
        let path = std::env::temp_dir().join(format!("nicteam-{name}-{}", std::process::id()));
        let made = fs::create_dir(&path).and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o777)));
        made.map_err(|error| Failure::failed(format!("cannot make the folder {}: {error}", path.display())))?;
        Ok(Scratch(path))
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that stays is no reason to fail: it is a temporary one.
        let _ = fs::remove_dir_all(&self.0);
    }
}
