//! Why something could not be measured.

use std::fmt;
use std::process::ExitCode;

/// Why something could not be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The machine lacks something.
    Missing(String),
    /// It was tried and failed.
    Failed(String),
    /// A signal asked to stop.
    Interrupted,
}

impl Failure {
    /// It was tried and failed.
    pub fn failed(message: impl fmt::Display) -> Failure {
        Failure::Failed(message.to_string())
    }

    /// Tells the user; the exit code.
    pub fn report(&self) -> ExitCode {
        eprintln!("xtask: {self}");
        match self {
            Failure::Missing(_) => ExitCode::from(3),
            Failure::Failed(_) => ExitCode::FAILURE,
            Failure::Interrupted => ExitCode::from(130),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Missing(message) | Failure::Failed(message) => f.write_str(message),
            Failure::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl From<nicteam_sys::Error> for Failure {
    fn from(error: nicteam_sys::Error) -> Failure {
        Failure::failed(error)
    }
}
