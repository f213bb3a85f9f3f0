//! A host's bundles at one moment, with what was counted until then.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_bundles::{Bundle, Kind, Sample};
use nicteam_daemon::TeamStatus;
use nicteam_observe::Host;
use serde::{Deserialize, Serialize};

/// A look at a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// When, of Unix time.
    pub unix: Duration,
    /// How long the look took.
    pub took: Duration,
    /// The bundles.
    pub host: Host,
    /// The counters of all devices.
    pub sample: Sample,
    /// What only teams of ours tell, by name.
    pub teams: BTreeMap<String, TeamStatus>,
    /// What the events of teams of ours were counted to, by name.
    pub tallies: BTreeMap<String, Tally>,
    /// What happened lately, the oldest first.
    pub happenings: Vec<Happening>,
}

/// Events of a team, counted since the watcher began and, from before, as far as the team has kept them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Another member became the active one.
    pub failovers: u64,
    /// Members that went down.
    pub member_downs: u64,
    /// Carrier of the team was lost.
    pub carrier_losses: u64,
}

/// Something that happened to a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happening {
    /// When, milliseconds of Unix time.
    pub unix_ms: u64,
    /// The team.
    pub team: String,
    /// What, in words.
    pub text: String,
}

impl Snapshot {
    /// What a bundle of ours tells beyond others.
    pub fn team(&self, bundle: &Bundle) -> Option<&TeamStatus> {
        self.teams.get(&bundle.name).filter(|_| bundle.kind == Kind::Nicteam)
    }
}
