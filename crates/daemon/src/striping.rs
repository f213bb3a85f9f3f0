//! stripe at one moment, for those who look at it.

use nicteam_dataplane::Dataplane;
use nicteam_team::Team;
use nicteam_team::stripe::redundant::StreamCounters;
use nicteam_team::stripe::{Discovery, Neighbour, PathStatus};
use serde::{Deserialize, Serialize};

use crate::Error;

/// A team that stripes, too, and the paths to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerState {
    /// Its team's address.
    pub team: String,
    /// The paths that are used or tried, by our members' places.
    pub paths: Vec<PathState>,
    /// Frames that went twice, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redundant: Option<RedundantState>,
}

/// Numbered frames to and from a peer (`redundant`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedundantState {
    /// Sent, each by two paths, or by the only one.
    pub sent: u64,
    /// Received and handed on.
    pub received: u64,
    /// Second copies that were dropped.
    pub duplicates: u64,
    /// Dropped because they came too late to tell whether they were second copies.
    pub late: u64,
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
    pub(crate) fn all(team: &Team, dataplane: &dyn Dataplane) -> Result<Vec<PeerState>, Error> {
        let neighbours = team.discovery().map(Discovery::neighbours).into_iter().flatten();
        let state = |neighbour: &Neighbour| {
            let redundant = RedundantState::of(dataplane.stream(neighbour.team)?);
            Ok(PeerState { redundant, ..PeerState::of(neighbour, team) })
        };
        neighbours.map(state).collect()
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
        let paths = neighbour.paths().filter_map(state).collect();
        PeerState { team: neighbour.team.to_string(), paths, redundant: None }
    }
}

impl RedundantState {
    /// Nothing of a peer with whom there were none.
    fn of(counters: StreamCounters) -> Option<RedundantState> {
        let StreamCounters { sent, passed: received, duplicates, outside: late } = counters;
        let any = counters != StreamCounters::default();
        any.then_some(RedundantState { sent, received, duplicates, late })
    }
}
