//! What must come out of runs, as the experiment file says it.

use serde::{Deserialize, Serialize};

/// A section `[[expect]]`, of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// The run of the file.
    pub run: String,
    /// Line of the file, from 1.
    pub line: usize,
    /// The figure; none: a finding is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// The workload that the figure is of; none: the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The host or switch that the figure is of; none: the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The run by whose figure it is divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_to: Option<String>,
    /// The run whose figure is taken from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_to: Option<String>,
    /// The bundle that has this other run, as the file names it; none: it is of the same record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The lowest value, in the figure's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The highest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The cause of a finding that must be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// The cause of a finding that must not be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_finding: Option<String>,
}
