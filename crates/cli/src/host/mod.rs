//! `nicteam check`, `up`, `confirm` and `down`: this host's network around its teams.

mod check;
mod confirm;
mod down;
mod file;
mod refusals;
mod up;

pub(crate) use check::Check;
pub(crate) use confirm::{AwaitConfirmation, Confirm};
pub(crate) use down::{Down, taken_down};
pub(crate) use up::Up;

use nicteam_host::Error;

use crate::failure::Failure;
use crate::{say, team};
use refusals::refused;

/// Carries `check` out.
pub(crate) fn check(args: &Check) -> Result<(), Failure> {
    check::run(args)
}

/// Carries `up` out.
pub(crate) fn up(args: &Up) -> Result<(), Failure> {
    up::run(args)
}

/// Carries `confirm` out.
pub(crate) fn confirm(args: &Confirm) -> Result<(), Failure> {
    confirm::run(args)
}

/// Waits for a confirmation.
pub(crate) fn await_confirmation(args: &AwaitConfirmation) -> Result<(), Failure> {
    confirm::wait(args)
}

/// Carries `down` out.
pub(crate) fn down(args: &Down) -> Result<(), Failure> {
    down::run(args)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Refused { refusals } => Failure::failed(refused(&refusals)),
            Error::Team(error) => team::not_started(&error),
            Error::Asked(refusal) => refusal.into(),
            Error::Interrupted { .. } => Failure::interrupted(say::visible(error)),
            Error::NoTeam { .. } => Failure::wrong_input(say::visible(error)),
            error => Failure::failed(say::visible(error)),
        }
    }
}
