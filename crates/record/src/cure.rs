//! What would help, by prediction, and where a run's missing share went.

use serde::{Deserialize, Serialize};

/// Changes that would let a run deliver more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cure {
    /// What is changed, all of it at once.
    pub changes: Vec<Change>,
    /// Predicted part of the run's limit that it would deliver then, 0 to 1.
    pub of_limit: f64,
    /// How many links the finding's connections would use of those of the hop that it shows; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Links>,
}

/// Links in use, and all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    /// Those in use.
    pub used: u32,
    /// All.
    pub of: u32,
}

/// One thing that is changed at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Host or switch.
    pub node: String,
    /// What: an option of its team (`mode`, `xmit_hash_policy`), a key of the switch in the experiment file (`spread`, `lacp`),
    /// or `without`, with a member as its value.
    pub what: String,
    /// Its new value.
    pub value: String,
}

/// Where the share of the limit went that a run did not deliver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// What the network alone allows, by prediction from the record, as a part of the limit; none if it is not predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_of_limit: Option<f64>,
    /// Why it is not predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_predicted: Option<String>,
    /// What each cause took, the greatest part first.
    pub parts: Vec<MissingPart>,
    /// What no cause accounts for, as a part of the limit.
    pub unexplained: f64,
}

/// What one cause took of a run's limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MissingPart {
    /// The cause, as findings have it.
    pub cause: String,
    /// Host or switch that it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Hash policy or mode that it is due to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Part of the limit.
    pub lost: f64,
}
