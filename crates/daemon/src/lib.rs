//! Teams on a host over time.
//!
//! [`RunningTeam`] is the shell around the sans-IO control side: one thread a
//! team waits for link events, requests and deadlines, hands them to
//! [`nicteam_team::Team`], and does what it asks for. It works in the network
//! namespace of the thread that starts it.
#![forbid(unsafe_code)]

mod clock;
mod ports;
mod running;
mod shell;

use nicteam_dataplane::Choice;
use nicteam_team::{Config, Event};
use nicteam_wire::Mac;

pub use running::{MemberReport, RunningTeam, TeamReport};

/// A team to be.
#[derive(Clone, Debug)]
pub struct TeamSpec {
    /// Name of its device, 1 to 12 characters.
    pub name: String,
    /// Its configuration.
    pub config: Config,
    /// Its members' devices, by place.
    pub members: Vec<String>,
    /// Its address; `None`: the first member's.
    pub mac: Option<Mac>,
    /// Its MTU, which the members get, too; `None`: the smallest of the members'.
    pub mtu: Option<u32>,
    /// What executes its plan.
    pub dataplane: Choice,
}

/// What a running team tells while it runs.
#[derive(Debug)]
pub enum Notice {
    /// Something happened to it.
    Event(Event),
    /// Something could not be done; the team goes on.
    Trouble(Error),
}

/// Where notices go.
pub type Notify = Box<dyn Fn(Notice) + Send>;

/// A team that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error(transparent)]
    System(#[from] nicteam_sys::Error),
    /// The dataplane refused.
    #[error(transparent)]
    Dataplane(#[from] nicteam_dataplane::Error),
    /// The team refused.
    #[error(transparent)]
    Team(#[from] nicteam_team::TeamError),
    /// A team without members.
    #[error("team {0} has no members; hint: name at least one device")]
    NoMembers(String),
    /// There is no such device.
    #[error("no device `{device}` for team {team}; hint: `ip link` lists the devices of this network namespace")]
    NoDevice {
        /// The team.
        team: String,
        /// The device.
        device: String,
    },
    /// The device belongs to somebody else.
    #[error("`{device}` has a master already; hint: `ip link set {device} nomaster` frees it")]
    Enslaved {
        /// The device.
        device: String,
    },
    /// The team's thread is gone.
    #[error("team {0} has ended")]
    Ended(String),
}
