//! Teams on a host over time.
//!
//! [`RunningTeam`] is the shell around the sans-IO control side: one thread a
//! team waits for link events, requests and deadlines, hands them to
//! [`nicteam_team::Team`], and does what it asks for. It works in the network
//! namespace of the thread that starts it.
//!
//! [`Service`] is a running team with what it needs on a host: the socket on
//! which it is asked and told ([`control`]), and a file that keeps what the user
//! set, so that the next process goes on where a crashed one stopped ([`PersistedTeam`]).
//! [`show`] writes its status as people and other programs expect it (`nicteam-status`).
//!
//! What a member was before it joined stands in its alias (`ip link` shows it),
//! so that any later process of the team can give it back; what runs a team
//! has the lock of a file in the folder of its network namespace, so that there is one.
//!
//! Folders: `shell` is the team's thread, `control` how it is talked to, `folder` its files.
//! `running` and `service` put them together; the other files beside them use `folder` alone.
#![forbid(unsafe_code)]

mod claim;
mod clock;
pub mod control;
mod first_error;
mod flood;
mod folder;
mod heartbeat;
mod journal;
mod lock;
mod notes;
mod original;
mod persisted;
mod persistence;
mod ports;
mod repairs;
mod request;
mod running;
mod saved;
mod service;
mod shell;
mod take_down;
mod tcp;
mod upper_devices;

use std::path::PathBuf;

use nicteam_dataplane::Choice;
use nicteam_sys::capabilities::Capability;
use nicteam_team::{ActiveSlave, Config, Event};
use nicteam_wire::Mac;

pub use folder::{keep_privately, private_folder, remove_gone};
pub use heartbeat::{Heartbeat, HeartbeatListener, ProcessOptions};
pub use journal::{Entry, Happened, Journal, OptionChange};
pub use nicteam_status::{
    Aggregation, Aggregator, BondLacp, BondMemberState, BondState, BucketLoad, ControlFrames, HelloState, MemberState,
    OneSidedState, PagpState, PathState, PeerState, PlainHostState, PlainMemberState, PortEnd, PortState, Problem,
    RedundantState, RepairState, STATUS_SCHEMA, TeamStatus, show,
};
pub use notes::{Notes, NotesLock};
pub use original::team_of;
pub use persisted::{PersistedTeam, StateStore};
pub use request::{MemberReport, TeamReport};
pub use running::{RunningTeam, TeamHandle};
pub use saved::Whose;
pub use service::Service;
pub use take_down::take_down;

/// The capabilities that a running team needs: to change devices and what is on them, to hear and speak for itself, and to load
/// the programs of its next mode. Taking over what an ended process left takes `CAP_SYS_ADMIN` beside them, and comes first.
pub const NEEDED: [Capability; 4] = [Capability::NET_ADMIN, Capability::NET_RAW, Capability::PERFMON, Capability::BPF];

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

impl TeamSpec {
    /// Refuses what cannot become a team on any host. A team that is taken over
    /// may differ: its primary may have left while it ran.
    pub fn check(&self) -> Result<(), Error> {
        if self.members.is_empty() {
            return Err(Error::NoMembers(self.name.clone()));
        }
        match &self.config.primary {
            // The kernel takes it and waits for such a member to join; here all members are known.
            Some(primary) if !self.members.contains(primary) => Err(Error::PrimaryNoMember {
                team: self.name.clone(),
                primary: primary.clone(),
                members: self.members.clone(),
            }),
            _ => self.check_active_slave(),
        }
    }

    /// The kernel, too, refuses an `active_slave` that is not a member yet.
    fn check_active_slave(&self) -> Result<(), Error> {
        match &self.config.active_slave {
            Some(ActiveSlave::Member(device)) if !self.members.contains(device) => {
                Err(Error::NoMember { team: self.name.clone(), device: device.clone(), members: self.members.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// What a running team tells while it runs.
#[derive(Debug)]
pub enum Notice {
    /// Something happened to it.
    Event(Event),
    /// Something could not be done; the team goes on, except after [`Error::DeviceGone`] and [`Error::DeviceMoved`].
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
    /// What is known of teams here is not for this user.
    #[error(
        "the teams of this network namespace belong to another user: {0}; hint: run this as root (sudo); members of the group `{GROUP}` may look, where there is one",
        GROUP = folder::GROUP
    )]
    Forbidden(nicteam_sys::Error),
    /// The dataplane refused.
    #[error(transparent)]
    Dataplane(#[from] nicteam_dataplane::Error),
    /// The team refused.
    #[error(transparent)]
    Team(#[from] nicteam_team::TeamError),
    /// A team without members.
    #[error("team {0} has no members; hint: name at least one device")]
    NoMembers(String),
    /// The preferred member is none of the team's.
    #[error("`primary` {primary} is no member of team {team}; hint: its members are {}", members.join(", "))]
    PrimaryNoMember {
        /// The team.
        team: String,
        /// What `primary` names.
        primary: String,
        /// Its members.
        members: Vec<String>,
    },
    /// There is no such device.
    #[error("no device `{device}` for team {team}; hint: `ip link` lists the devices of this network namespace")]
    NoDevice {
        /// The team.
        team: String,
        /// The device.
        device: String,
    },
    /// No member of this team has this device.
    #[error("`{device}` is no member of team {team}; hint: its members are {}", members.join(", "))]
    NoMember {
        /// The team.
        team: String,
        /// The device.
        device: String,
        /// Its members' devices.
        members: Vec<String>,
    },
    /// A team keeps one member.
    #[error("`{device}` is the last member of team {team}; hint: `nicteam team del {team}` takes the team down")]
    LastMember {
        /// The team.
        team: String,
        /// The device.
        device: String,
    },
    /// What the user wants of queues, only one dataplane can do.
    #[error(
        "`queue_id` needs the eBPF dataplane: which queue a frame is meant for, a packet socket cannot see; hint: remove `queue_id`, or run team {0} with eBPF"
    )]
    QueuesNeedBpf(String),
    /// A team's own device cannot be its member.
    #[error("`{device}` belongs to the team itself and cannot be its member")]
    Itself {
        /// The device.
        device: String,
    },
    /// What was kept of a team is no team.
    #[error("what was kept of team {team} cannot be used: {reason}; hint: add the team anew with its options")]
    Damaged {
        /// The team.
        team: String,
        /// Why.
        reason: String,
    },
    /// The loopback device and its kin.
    #[error("`{device}` has no Ethernet address and cannot be a member")]
    NotEthernet {
        /// The device.
        device: String,
    },
    /// The device belongs to somebody else.
    #[error("`{device}` has a master already; hint: `ip link set {device} nomaster` frees it")]
    Enslaved {
        /// The device.
        device: String,
    },
    /// The device belongs to a team that is running.
    #[error(
        "`{device}` is a member of team {team}, which is running; hint: end that team first, or name another device"
    )]
    Member {
        /// The device.
        device: String,
        /// The team that has it.
        team: String,
    },
    /// The device's alias leaves no room for what the device was.
    #[error(
        "the alias of `{device}` is too long to be kept beside what the team has to note there; hint: `ip link set {device} alias TEXT` shortens it"
    )]
    LongAlias {
        /// The device.
        device: String,
    },
    /// Somebody runs a team of this name in this network namespace.
    #[error(
        "team {team} is run by another process, which has the lock {}; hint: `nicteam team set {team}` changes it and `nicteam team del {team}` takes it down; `lslocks` shows a process that neither reaches", lock.display()
    )]
    Running {
        /// The team.
        team: String,
        /// The file that is locked.
        lock: PathBuf,
    },
    /// Somebody deleted the team device.
    #[error(
        "the device of team {0} was deleted, so the team has ended and given its members back; hint: start it again"
    )]
    DeviceGone(String),
    /// A user has moved the team device into another network namespace.
    #[error(
        "the device of team {0} was moved into another network namespace, so the team has ended and given its members \
         back; hint: move the members there, and start the team there"
    )]
    DeviceMoved(String),
    /// The team's thread is gone.
    #[error("team {0} has ended")]
    Ended(String),
}
