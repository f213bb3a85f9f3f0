//! Who else manages the network of this host, and claims a device that a team is to have.
//!
//! A manager a file, and a line in [`MANAGERS`].

use std::path::Path;

use nicteam_formats::Place;
use nicteam_sys::netlink::Link;
use serde::{Deserialize, Serialize};

/// How bad a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The team and the manager would undo each other's work: the team does not come up.
    Refuse,
    /// To be known.
    Warn,
}

/// A device that a manager of the network claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The manager, by its name: `systemd-networkd`.
    pub manager: &'static str,
    /// Where it is told so, if a file tells it.
    pub place: Option<Place>,
    /// Why the device is its: "`en*` with DHCP matches eth1".
    pub why: String,
    /// What to do, as a sentence or a command.
    pub cure: String,
    /// How bad that is.
    pub severity: Severity,
}

/// A manager of the network.
pub trait Manager: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What it claims of a member to be. `root`: `/`, or a folder that stands for it.
    fn claims(&self, root: &Path, links: &[Link], member: &str) -> Vec<Claim>;
}

/// Every manager that is known.
pub static MANAGERS: &[&dyn Manager] = &[];

/// What all of them claim of a member to be.
pub fn claims(root: &Path, links: &[Link], member: &str) -> Vec<Claim> {
    MANAGERS.iter().flat_map(|manager| manager.claims(root, links, member)).collect()
}
