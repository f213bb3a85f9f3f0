//! libiscsi, opened at run time.

use std::sync::Arc;

/// libiscsi is not on this host, or not one that this program knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot open libiscsi: {reason}\nhint: apt-get install libiscsi7")]
pub struct Absent {
    /// What the system said.
    pub reason: String,
}

/// libiscsi. A clone is the same library.
#[derive(Debug, Clone)]
pub struct Library {
    _functions: Arc<()>,
}

impl Library {
    /// Opens the library by the names that its releases have.
    ///
    /// # Errors
    /// It is not installed, or lacks a function that is needed.
    pub fn open() -> Result<Library, Absent> {
        Err(Absent { reason: "not there yet".into() })
    }

    /// The file that was opened: `libiscsi.so.7`.
    pub fn name(&self) -> &str {
        ""
    }
}
