//! Errors of the system, with the operation that met them.

use std::io;

/// What the system refused.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation}: {source}")]
pub struct Error {
    /// What was tried, on what: `set the MTU of eth1 to 9000`.
    pub operation: String,
    /// What the system said.
    pub source: io::Error,
}

/// A result of the system.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this operation.
    pub fn new(operation: impl Into<String>, source: impl Into<io::Error>) -> Error {
        Error { operation: operation.into(), source: source.into() }
    }

    /// The error number, if the system gave one.
    pub fn errno(&self) -> Option<i32> {
        self.source.raw_os_error()
    }
}

/// Adds the operation to what the system said.
pub trait Context<T> {
    /// `operation` completes "cannot ...".
    fn context(self, operation: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> Context<T> for std::result::Result<T, E> {
    fn context(self, operation: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::new(operation(), source))
    }
}
