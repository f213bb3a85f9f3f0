//! The bonds of this network namespace, for the commands that ask them or change them.

use nicteam_daemon::TeamStatus;
use nicteam_daemon::control::{Client, Refusal, RefusalKind, TeamState, teams};

use crate::failure::Failure;
use crate::{say, team};

/// What can be asked about: the kind of object, in the words of a refusal, and who is one.
pub(super) struct Kind {
    /// As in `no such bond`.
    pub(super) name: &'static str,
    /// True for a team that is one.
    pub(super) is_one: fn(&TeamStatus) -> bool,
}

/// The teams in Open vSwitch's modes.
pub(super) const BOND: Kind = Kind { name: "bond", is_one: |status| status.openvswitch.is_some() };

/// Every team of this kind that runs and can be asked, by name.
pub(super) fn all(kind: &Kind) -> Result<Vec<TeamStatus>, Failure> {
    let running = teams().map_err(|error| team::not_started(&error))?;
    let mut found = Vec::new();
    for listed in running.iter().filter(|listed| listed.state == TeamState::Running) {
        match Client::watch(&listed.team).and_then(|mut client| client.status()) {
            Ok(status) => found.extend(Some(status).filter(|status| (kind.is_one)(status))),
            // One that does not answer keeps nobody from the others.
            Err(refusal) => say::line(format_args!("warning: {}", Failure::from(refusal))),
        }
    }
    Ok(found)
}

/// The one of this name, or every one.
pub(super) fn some(kind: &Kind, name: Option<&String>) -> Result<Vec<TeamStatus>, Failure> {
    match name {
        Some(name) => Ok(vec![one(kind, name)?]),
        None => all(kind),
    }
}

/// The one of this name.
///
/// # Errors
/// There is none: in the real one's words. Or it cannot be asked.
pub(super) fn one(kind: &Kind, name: &str) -> Result<TeamStatus, Failure> {
    let missing = |hint: String| Failure::wrong_input(format!("no such {}", kind.name)).hint(Some(hint));
    match Client::watch(name).and_then(|mut client| client.status()) {
        Ok(status) if (kind.is_one)(&status) => Ok(status),
        Ok(status) => Err(missing(format!(
            "{name} is a team in mode {}, which has none: `nicteam team show {name}`",
            status.mode
        ))),
        Err(Refusal { kind: RefusalKind::NoTeam, .. }) => {
            let names: Vec<String> = all(kind)?.into_iter().map(|status| status.team).collect();
            let near = nicteam_team::nearest(name, names.iter().map(String::as_str));
            Err(missing(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "there is none; `nicteam ovs vsctl add-bond` makes a bond".to_owned(),
                None => format!("there is {}", names.join(", ")),
            }))
        }
        Err(refusal) => Err(refusal.into()),
    }
}
