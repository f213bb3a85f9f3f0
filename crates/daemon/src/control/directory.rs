//! The teams of a network namespace.

use std::collections::BTreeMap;
use std::fs;

use nicteam_sys::Context;
use serde::{Deserialize, Serialize};

use super::{PREFIX, Refusal, RefusalKind};
use crate::{Error, Shelf, lock};

/// A team of this network namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its device.
    pub team: String,
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
pub fn teams() -> Result<Vec<Listed>, Error> {
    const SOCKETS: &str = "/proc/thread-self/net/unix";
    let sockets = fs::read_to_string(SOCKETS).context(|| format!("read {SOCKETS}"))?;
    let mut found: BTreeMap<String, TeamState> = BTreeMap::new();
    for name in Shelf::here()?.names() {
        found.insert(name, TeamState::Stopped);
    }
    for (prefix, state) in [(lock::PREFIX, TeamState::Held), (PREFIX, TeamState::Running)] {
        found.extend(named(&sockets, prefix).map(|name| (name, state)));
    }
    Ok(found.into_iter().map(|(team, state)| Listed { team, state }).collect())
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
        Some(TeamState::Held) if Shelf::here().is_ok_and(|shelf| shelf.path(team).exists()) => Refusal::new(
            RefusalKind::NotRunning,
            format!("the process of team {team} is just ending, or starting"),
            "try again",
        ),
        Some(TeamState::Held) => Refusal::new(
            RefusalKind::Busy,
            format!("team {team} is controlled by the program that runs it alone"),
            format!("`ss -xlp` shows who holds `@nicteam-team-{team}`"),
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

/// The rest of every abstract socket's name that begins like this (proc(5), `/proc/net/unix`).
fn named<'a>(sockets: &'a str, prefix: &str) -> impl Iterator<Item = String> + use<'a> {
    let begin = format!("@{prefix}");
    sockets.lines().filter_map(move |line| line.split_whitespace().nth(7)?.strip_prefix(&begin).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOCKETS: &str = "\
Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 44811 @nicteam-control-team0
0000000000000000: 00000002 00000000 00000000 0002 01 44810 @nicteam-team-team0
0000000000000000: 00000002 00000000 00000000 0002 01 44899 @nicteam-team-lab1
0000000000000000: 00000003 00000000 00000000 0001 03 44900
0000000000000000: 00000002 00000000 00010000 0001 01 20000 /run/nicteam-control-no
";

    #[test]
    fn names_are_read_from_the_table_of_sockets() {
        assert!(named(SOCKETS, PREFIX).eq(["team0"]));
        assert!(named(SOCKETS, lock::PREFIX).eq(["team0", "lab1"]));
    }

    #[test]
    fn a_slip_is_recognised() {
        let listed = |team: &str| Listed { team: team.to_owned(), state: TeamState::Running };
        assert_eq!(suggestion("team1", &[listed("team0"), listed("uplink")]), "did you mean `team0`?");
        assert_eq!(suggestion("bond9", &[listed("team0"), listed("uplink")]), "the teams here are team0, uplink");
        assert!(suggestion("x", &[]).contains("team add"));
    }
}
