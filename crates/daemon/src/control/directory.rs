//! The teams of a network namespace.

use std::collections::BTreeMap;

use nicteam_dataplane::TeamDevice;
use nicteam_netlink::Netlink;
use serde::{Deserialize, Serialize};

use super::sockets::{STATUS, reach};
use super::{Refusal, RefusalKind};
use crate::folder::{Folder, GROUP, Opened};
use crate::{Error, StateStore, lock};

/// A team of this network namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name.
    pub team: String,
    /// How its device is called, if a user has renamed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// What runs it.
    pub state: TeamState,
}

/// What runs a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TeamState {
    /// A process that can be talked to.
    Running,
    /// A process of somebody who controls it alone, such as a lab.
    Held,
    /// Nobody: its process ended without taking it down.
    Stopped,
}

/// Every team of the calling thread's network namespace, by name.
///
/// # Errors
/// The caller may not look, or others could have put teams there.
pub fn teams() -> Result<Vec<Listed>, Error> {
    let Some(folder) = Folder::here()?.open()? else { return Ok(Vec::new()) };
    let mut found: BTreeMap<String, TeamState> = BTreeMap::new();
    for name in folder.names() {
        // A file whose name no team can have belongs to no team.
        let Some((team, end)) = name.rsplit_once('.').filter(|(team, _)| TeamDevice::is_name(team)) else { continue };
        if matches!(end, "json" | "lock") && !found.contains_key(team) {
            found.extend(state(&folder, team, end == "json").map(|state| (team.to_owned(), state)));
        }
    }
    let mut netlink = Netlink::open()?;
    let mut listed = |(team, state): (String, TeamState)| {
        let device = TeamDevice::find(&mut netlink, &team).ok().flatten().map(|device| device.called());
        Listed { device: device.filter(|device| *device != team), team, state }
    };
    Ok(found.into_iter().map(&mut listed).collect())
}

/// The team that a user means: one of this name, or the one whose device is called so now.
///
/// A name of neither is given back: who looks for the team says that there is none.
pub fn meant(name: &str) -> String {
    let team_of = || TeamDevice::team_of(&mut Netlink::open().ok()?, name).ok()?;
    // No other team is asked, or a command to one would wake the processes of all.
    let called = || team_of().filter(|team| is_listed(team));
    let team = if is_listed(name) { None } else { called() };
    team.unwrap_or_else(|| name.to_owned())
}

/// True if [`teams`] has one of this name.
fn is_listed(team: &str) -> bool {
    let folder = Folder::here().and_then(|folder| folder.open()).ok().flatten();
    TeamDevice::is_name(team) && folder.is_some_and(|folder| state(&folder, team, false).is_some())
}

/// What runs a team of which there is a file; none if that is a lock of nobody.
fn state(folder: &Opened, team: &str, is_persisted: bool) -> Option<TeamState> {
    if reach(folder, team, STATUS).is_ok() {
        return Some(TeamState::Running);
    }
    // Who may not see whether it is locked sees that nobody answers.
    let held = folder.is_locked(&format!("{team}{}", lock::SUFFIX)).unwrap_or(false);
    match (held, is_persisted || folder.at(&format!("{team}.json")).exists()) {
        (true, _) => Some(TeamState::Held),
        (false, true) => Some(TeamState::Stopped),
        (false, false) => None,
    }
}

/// Somebody who may neither look at teams nor change them.
pub(super) fn forbidden(team: &str) -> Refusal {
    let message = format!("team {team} belongs to another user");
    Refusal::new(
        RefusalKind::NotPermitted,
        message,
        format!("run this as root (sudo); members of the group `{GROUP}` may look, where there is one"),
    )
}

/// Why a team cannot be reached, and what may have been meant.
pub(super) fn no_team(team: &str) -> Refusal {
    let teams = teams().unwrap_or_default();
    match teams.iter().find(|listed| listed.team == team).map(|listed| listed.state) {
        Some(TeamState::Stopped) => Refusal::new(
            RefusalKind::NotRunning,
            format!("team {team} is not running: its process ended without taking it down"),
            format!("`nicteam team restart {team}` takes it over, with the members and options it had"),
        ),
        // A process that is killed lets its sockets go one by one.
        Some(TeamState::Held) if StateStore::here().is_ok_and(|store| store.path(team).exists()) => Refusal::new(
            RefusalKind::NotRunning,
            format!("the process of team {team} is just ending, or starting"),
            "try again",
        ),
        Some(TeamState::Held) => Refusal::new(
            RefusalKind::Busy,
            format!("team {team} is controlled by the program that runs it alone"),
            format!("`lslocks` shows which process has `{team}{}`", lock::SUFFIX),
        ),
        // It came up this moment.
        Some(TeamState::Running) => {
            Refusal::new(RefusalKind::Failed, format!("team {team} is just starting"), "try again")
        }
        None => {
            let message = format!("no team `{team}` in this network namespace");
            Refusal::new(RefusalKind::NoTeam, message, suggestion(team, &teams))
        }
    }
}

fn suggestion(team: &str, teams: &[Listed]) -> String {
    let names: Vec<&str> = teams.iter().map(|listed| listed.team.as_str()).collect();
    let near = nicteam_team::nearest(team, names.iter().copied());
    match (near, names.as_slice()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "there is none; `nicteam team add` makes one".to_owned(),
        (None, names) => format!("the teams here are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised() {
        let listed = |team: &str| Listed { team: team.to_owned(), device: None, state: TeamState::Running };
        assert_eq!(suggestion("team1", &[listed("team0"), listed("uplink")]), "did you mean `team0`?");
        assert_eq!(suggestion("bond9", &[listed("team0"), listed("uplink")]), "the teams here are team0, uplink");
        assert!(suggestion("x", &[]).contains("team add"));
    }
}
