//! To do everything although something fails.

use crate::Error;

/// The first error of several attempts.
#[derive(Debug, Default)]
pub(crate) struct FirstError(Option<Error>);

impl FirstError {
    /// Keeps the error of this attempt if it is the first one.
    pub(crate) fn note(&mut self, attempt: Result<(), impl Into<Error>>) {
        if let Err(error) = attempt {
            self.0.get_or_insert(error.into());
        }
    }

    /// The first error, if there was one.
    pub(crate) fn result(self) -> Result<(), Error> {
        self.0.map_or(Ok(()), Err)
    }
}
