//! stripe at one moment, for those who look at it.

use nicteam_team::Team;
use nicteam_team::stripe::{Discovery, Neighbour, PathStatus};
use serde::{Deserialize, Serialize};

/// A team that stripes, too, and the paths to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerState {
    /// Its team's address.
    pub team: String,
    /// The paths that are used or tried, by our members' places.
    pub paths: Vec<PathState>,
}

/// A way from a member of ours to one of a peer's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathState {
    /// Our member's device.
    pub member: String,
    /// The address of the peer's member.
    pub to: String,
    /// True if it carries frames: probes come back.
    pub works: bool,
    /// How long the last probe took, microseconds.
    pub round_trip_us: Option<u64>,
}

impl PeerState {
    /// Those of a team; none if its mode is another one.
    pub(crate) fn all(team: &Team) -> Vec<PeerState> {
        let neighbours = team.discovery().map(Discovery::neighbours).into_iter().flatten();
        neighbours.map(|neighbour| PeerState::of(neighbour, team)).collect()
    }

    /// How many of the paths carry frames.
    pub fn working(&self) -> usize {
        self.paths.iter().filter(|path| path.works).count()
    }

    fn of(neighbour: &Neighbour, team: &Team) -> PeerState {
        let names = team.members();
        let state = |path: PathStatus| {
            let member = names.iter().find(|member| member.id == path.member)?;
            let to = neighbour.members.iter().find(|member| member.place == path.place)?;
            let round_trip_us = path.round_trip.and_then(|time| u64::try_from(time.as_micros()).ok());
            Some(PathState { member: member.name.clone(), to: to.mac.to_string(), works: path.works, round_trip_us })
        };
        PeerState { team: neighbour.team.to_string(), paths: neighbour.paths().filter_map(state).collect() }
    }
}
