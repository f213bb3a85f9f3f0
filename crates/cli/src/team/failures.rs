//! How a command about a team ends that could not do what was asked.

use nicteam_daemon::Error;
use nicteam_daemon::control::{Refusal, RefusalKind};
use nicteam_sys::netns;
use nicteam_team::ConfigError;

use crate::failure::Failure;
use crate::say;

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        let said = say::visible(&refusal);
        let failure = match refusal.kind {
            RefusalKind::NoTeam | RefusalKind::NoDevice | RefusalKind::BadOption => Failure::wrong_input(said),
            RefusalKind::NotPermitted | RefusalKind::Missing => Failure::missing(said),
            RefusalKind::NotRunning
            | RefusalKind::Exists
            | RefusalKind::Busy
            | RefusalKind::NotNow
            | RefusalKind::Version
            | RefusalKind::Failed => Failure::failed(said),
        };
        failure.hint(refusal.hint.map(say::visible))
    }
}

/// A team that could not be started: wrong words, a machine that lacks something, or else.
pub(crate) fn not_started(error: &Error) -> Failure {
    let failure = Failure::from(Refusal::from(error));
    match error {
        // What cannot be a member is wrong on the command line.
        Error::NotEthernet { .. } | Error::Team(_) => {
            let Refusal { hint, .. } = Refusal::from(error);
            Failure::wrong_input(say::visible(Refusal::from(error))).hint(hint.map(say::visible))
        }
        _ => failure,
    }
}

/// An option that the team does not take.
pub(crate) fn refused(error: ConfigError) -> Failure {
    let hint = error.hint();
    Failure::wrong_input(error).hint(hint)
}

/// Makes sure that this process may run teams.
pub(crate) fn require_root() -> Result<(), Failure> {
    if netns::is_network_root() {
        Ok(())
    } else {
        Err(Failure::missing("a team needs root (CAP_NET_ADMIN and CAP_SYS_ADMIN); hint: sudo"))
    }
}
