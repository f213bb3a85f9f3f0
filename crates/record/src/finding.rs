//! What a rule of the report found out about a run.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cure::Cure;

/// Why some connections of a run got what they got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The cause, by the name of the rule that recognised it: `hash`, `broadcast`.
    /// The set is open: readers meet names that they do not know.
    pub cause: String,
    /// Where it lies.
    pub side: Side,
    /// Host or switch that chose among the links; none if no such choice is the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What it chose by: the hash policy, or the mode where that does not hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The connections concerned: their places in the run, which are their `index`.
    pub connections: Vec<u32>,
    /// Part of the run's limit that was lost to it, 0 to 1. What a run lacks
    /// (`1 - of_limit`) is divided among its findings by what their links left unused.
    pub lost: f64,
    /// The links it shows on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<LinkLoads>,
    /// What would hold the same connections back as much if this went away;
    /// `lost` is what would be lost to it then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub as_narrow: Vec<Finding>,
    /// What would help, by prediction, the best last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cures: Vec<Cure>,
    /// What else the rule found, in fields of its own.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// Where a run's limit was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Nowhere: the links were full.
    Nowhere,
    /// How the sending host chose its members.
    Sending,
    /// How the last switch chose its links to the receiving host, or that host its own.
    Receiving,
    /// How one switch chose its links to another.
    Between,
    /// In several places: directions or pairs of hosts have each their own reason.
    Both,
    /// What links were declared to do to frames.
    Links,
    /// What one of the hosts can do: its processor, its receive window.
    Hosts,
    /// The machine that ran the lab.
    Machine,
    /// The counters do not say.
    #[serde(other)]
    Unknown,
}

/// The links from one node to the next, and how full they were in the direction of the payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkLoads {
    /// Host or switch that sends by them.
    pub node: String,
    /// Host or switch at their other ends.
    pub peer: String,
    /// The links, by place.
    pub links: Vec<LinkLoad>,
}

/// One link, and how full it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkLoad {
    /// Device at the sending end.
    pub device: String,
    /// Device at the other end.
    pub far_device: String,
    /// Place among the team's members, from 0.
    pub place: u32,
    /// Part of what it can carry that it carried, 0 to 1.
    pub load: f64,
    /// Set if not a frame passed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub silent: bool,
}

impl Finding {
    /// The details as their rule has them; nothing if they are another's, or another version's.
    pub fn details<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_value(Value::Object(self.details.clone())).ok()
    }

    /// The same finding with these details, a struct of named fields.
    pub fn with_details(mut self, details: &impl Serialize) -> Finding {
        if let Ok(Value::Object(fields)) = serde_json::to_value(details) {
            self.details = fields;
        }
        self
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
