//! Taking a team down.

use nicteam_daemon::control::{Client, Refusal, RefusalKind, wait_until_free};

use crate::Error;
use crate::up::Done;

/// Takes a team down and restores what this boot's `up` found, also after a crash of either. Called again, it does what is
/// left to do.
///
/// # Errors
/// There is no such team, or something could not be restored; all the rest is, and a further call tries again.
pub fn take_down(team: &str) -> Result<Done, Error> {
    match Client::connect(team) {
        Ok(client) => client.remove()?,
        Err(Refusal { kind: RefusalKind::NotRunning, .. }) => {
            wait_until_free(team)?;
            nicteam_daemon::take_down(team)?;
        }
        Err(Refusal { kind: RefusalKind::NoTeam, .. }) => return Err(Error::NoTeam { team: team.to_owned() }),
        Err(refusal) => return Err(refusal.into()),
    }
    Ok(Done { changes: vec![format!("took team {team} down")], notes: Vec::new() })
}
