//! What is wrong, and the cure.

use serde::Serialize;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Name of the trap.
    pub trap: &'static str,
    /// Where: host, cable and end, workload, target.
    pub place: String,
    /// What, in a sentence.
    pub wrong: String,
    /// What to do on the systems that people have.
    pub cures: Vec<Cure>,
    /// What to do in the lab; empty: nothing there, or it is advice.
    pub edits: Vec<Edit>,
    /// False: it is advice; the network step may go on without.
    pub must: bool,
}

/// What to do on one kind of system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cure {
    /// Which: `ESXi`, `open-iscsi`, `tgt`, `Linux`, `Catalyst 2960S`.
    pub system: &'static str,
    /// The command, or the line of its configuration.
    pub line: String,
}

impl Cure {
    pub(crate) fn new(system: &'static str, line: impl Into<String>) -> Cure {
        Cure { system, line: line.into() }
    }
}

/// A change of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// A key of the workload that is measured; none: the key goes.
    Workload {
        /// The key.
        key: &'static str,
        /// Its value.
        value: Option<toml::Value>,
    },
    /// A key of its target, in the run.
    Target {
        /// The key.
        key: &'static str,
        /// Its value.
        value: toml::Value,
    },
    /// MTU of both ends of the cables of a `[[links]]`, by its place in the file.
    LinkMtu {
        /// Its place, from 0.
        section: usize,
        /// Bytes.
        mtu: u32,
    },
}
