//! What the owner asks of a team's thread, and the quick answer.

use std::sync::{Arc, mpsc};

use nicteam_dataplane::{Counters, Kind};
use nicteam_team::{Config, MemberStatus};

use crate::{Error, OptionChange, PagpState, TeamStatus};

/// A team at one moment.
#[derive(Clone, Debug)]
pub struct TeamReport {
    /// Its device.
    pub name: String,
    /// What executes its plan.
    pub dataplane: Kind,
    /// Its configuration.
    pub config: Config,
    /// True if its stack sees a carrier.
    pub carrier: bool,
    /// The members at whose other end a port speaks PAgP.
    pub pagp: Vec<PagpState>,
    /// Its members, by place.
    pub members: Vec<MemberReport>,
}

/// A member at one moment.
#[derive(Clone, Debug)]
pub struct MemberReport {
    /// Its interface index.
    pub index: u32,
    /// Its state.
    pub status: MemberStatus,
    /// What it carried.
    pub counters: Counters,
}

/// What the owner asks of the team's thread.
#[derive(Debug)]
pub(crate) enum Request {
    /// How is it, quickly?
    Report(mpsc::Sender<Result<TeamReport, Error>>),
    /// How is it, with all that the system says?
    Status(mpsc::Sender<Result<Box<TeamStatus>, Error>>),
    /// Set these options.
    Set(Vec<(String, String)>, mpsc::Sender<Result<Vec<OptionChange>, Error>>),
    /// Take this device in.
    AddMember(String, mpsc::Sender<Result<(), Error>>),
    /// Let this member go.
    RemoveMember(String, mpsc::Sender<Result<Vec<String>, Error>>),
    /// Give this bucket this member.
    Migrate(u8, String, mpsc::Sender<Result<(), Error>>),
    /// Enable this member, or disable it.
    Enable(String, bool, mpsc::Sender<Result<(), Error>>),
    /// Make this member the active one.
    Activate(String, mpsc::Sender<Result<(), Error>>),
    /// What was it told lately?
    Record(mpsc::Sender<Vec<Arc<[u8]>>>),
    /// Take everything down and end.
    Remove(mpsc::Sender<Result<(), Error>>),
    /// End, and leave the kernel as it is.
    Leave,
}
