//! What cannot be tuned.

/// Why an experiment cannot be tuned.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file has no run that belongs to a step, or one that cannot be changed.
    #[error("{message}; hint: {hint}")]
    File {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The experiment is not right, as it is or as a cure left it.
    #[error(transparent)]
    Experiment(#[from] nicteam_experiment::Diagnostics),
    /// The lab cannot run it.
    #[error(transparent)]
    Lab(#[from] nicteam_lab::Error),
}

impl Error {
    pub(crate) fn file(message: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::File { message: message.into(), hint: hint.into() }
    }
}
