//! Metrics as a file for node_exporter's textfile collector.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The name of the file.
pub const NAME: &str = "nicteam.prom";

/// Writes the file of a folder anew. Its reader never sees half of it.
///
/// # Errors
/// The folder is not there, or cannot be written.
pub fn write(folder: &Path, text: &str) -> io::Result<()> {
    // The collector reads names that end in .prom alone.
    let new = folder.join(format!(".{NAME}.{}", std::process::id()));
    let written = || {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(&new)?;
        file.write_all(text.as_bytes())?;
        fs::rename(&new, folder.join(NAME))
    };
    // One that an ended process with this number left.
    let _ = fs::remove_file(&new);
    let done = written();
    if done.is_err() {
        let _ = fs::remove_file(&new);
    }
    done
}
