//! How a command ends that could not do what was asked.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use nicteam_host::configuration::Unreadable;

/// Why a command failed, and with which exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// The same, with what to do about it.
    pub(crate) fn hint(self, hint: Option<impl Display>) -> Failure {
        match hint {
            Some(hint) => Failure { message: format!("{}\nhint: {hint}", self.message), ..self },
            None => self,
        }
    }

    /// The same, in other words.
    pub(crate) fn saying(self, message: impl Display) -> Failure {
        Failure { message: message.to_string(), ..self }
    }

    /// It could not be done.
    pub(crate) fn failed(message: impl Display) -> Failure {
        Failure { code: 1, message: message.to_string() }
    }

    /// The command line or a file is wrong.
    pub(crate) fn wrong_input(message: impl Display) -> Failure {
        Failure { code: 2, message: message.to_string() }
    }

    /// The machine lacks something.
    pub(crate) fn missing(message: impl Display) -> Failure {
        Failure { code: 3, message: message.to_string() }
    }

    /// A signal asked to stop.
    pub(crate) fn interrupted(message: impl Display) -> Failure {
        Failure { code: 130, message: message.to_string() }
    }

    /// The same failure with an exit code that another process chose.
    pub(crate) fn with_number(self, code: u8) -> Failure {
        Failure { code, ..self }
    }

    /// The exit code as a number.
    pub(crate) fn number(&self) -> u8 {
        self.code
    }

    /// The exit code.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The errors of a file bring their own headings.
        let heading = if self.message.starts_with("error") { "" } else { "nicteam: " };
        // Errors that travel have their hint in the same line.
        write!(f, "{heading}{}", self.message.trim_end().replace("; hint: ", "\nhint: "))
    }
}

impl From<nicteam_lab::Error> for Failure {
    fn from(error: nicteam_lab::Error) -> Failure {
        match error {
            nicteam_lab::Error::Interrupted(_) => Failure::interrupted(error),
            nicteam_lab::Error::Experiment(diagnostics) => diagnostics.into(),
            nicteam_lab::Error::OutputExists(_) | nicteam_lab::Error::NoParent { .. } => Failure::wrong_input(error),
            nicteam_lab::Error::Dataplane(_) | nicteam_lab::Error::Missing(_) => Failure::missing(error),
            other => Failure::failed(other),
        }
    }
}

impl From<nicteam_experiment::Diagnostics> for Failure {
    fn from(diagnostics: nicteam_experiment::Diagnostics) -> Failure {
        Failure::wrong_input(diagnostics.render(io::stderr().is_terminal()))
    }
}

impl From<Unreadable> for Failure {
    fn from(error: Unreadable) -> Failure {
        Failure::wrong_input(&error.message).hint(error.hint)
    }
}

impl From<nicteam_sys::Error> for Failure {
    fn from(error: nicteam_sys::Error) -> Failure {
        Failure::failed(error)
    }
}

impl From<nicteam_record::BundleError> for Failure {
    fn from(error: nicteam_record::BundleError) -> Failure {
        Failure::failed(error)
    }
}
