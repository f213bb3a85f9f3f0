//! Executes a team's plan on Linux.
//!
//! The team device is one end of a veth pair ([`TeamDevice`]). Two dataplanes
//! execute the same [`Plan`]: eBPF at tc, which forwards inside the kernel and
//! goes on when the process that set it up dies, and packet sockets, for user
//! namespaces and locked-down kernels. In both, a member's frames reach the
//! host through the team alone, never a second time through the member.

#[cfg(nicteam_bpf)]
mod bpf;
#[cfg(not(nicteam_bpf))]
#[path = "bpf/absent.rs"]
mod bpf;
mod device;
mod packet;

use std::os::fd::BorrowedFd;

use std::time::Duration;

use nicteam_sys::packet::Received;
use nicteam_team::lacp::Answer;
use nicteam_team::stripe::Note;
use nicteam_team::stripe::redundant::StreamCounters;
use nicteam_team::{Loads, MemberId, Plan};
use nicteam_wire::Mac;

pub use bpf::{BpfDataplane, DryRun};
pub use device::TeamDevice;

/// Which dataplane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// eBPF at tc.
    Bpf,
    /// Packet sockets.
    Packet,
}

/// What the user wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// eBPF where it can be had, else packet sockets.
    #[default]
    Auto,
    /// This one or an error.
    Force(Kind),
}

/// A device that joins a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its place in the team.
    pub id: MemberId,
    /// Its name.
    pub name: String,
    /// Its interface index.
    pub index: u32,
}

/// What a member carried since it joined. Bytes run from the destination
/// address to the end of the payload; a super-frame counts as one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames sent.
    pub tx_frames: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Frames that could not be sent.
    pub tx_drops: u64,
    /// Frames received for the team.
    pub rx_frames: u64,
    /// Bytes received for the team.
    pub rx_bytes: u64,
    /// Frames received and dropped: the member is a standby.
    pub rx_drops: u64,
}

/// What an ended process last said to the partner of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// Interface index of the member.
    pub index: u32,
    /// What it said, and to what.
    pub answer: Answer,
    /// How long ago the partner last said that.
    pub silence: Duration,
}

/// A dataplane that cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error(transparent)]
    System(#[from] nicteam_sys::Error),
    /// The machine or this build lacks what the dataplane needs.
    #[error("the {kind} dataplane is not available: {reason}")]
    Unavailable {
        /// Which.
        kind: Kind,
        /// What is missing, and how to get it.
        reason: String,
    },
    /// The eBPF loader failed.
    #[error("cannot {operation}: {message}")]
    Bpf {
        /// What was tried.
        operation: String,
        /// What the loader said.
        message: String,
    },
    /// The name cannot be a team device's.
    #[error("`{0}` cannot be a team's name: 1 to 12 characters, no `/`, no space")]
    Name(String),
    /// A device of the team's name is there and is not a team.
    #[error("a device `{0}` exists and is no team; hint: choose another name, or remove it with `ip link del {0}`")]
    Taken(String),
}

/// Executes plans for one team, in the network namespace it was opened in;
/// members are attached, detached and removed by threads of that namespace.
/// Dropping one leaves the kernel as it is; [`Dataplane::remove`] undoes it.
pub trait Dataplane: Send {
    /// Which one it is.
    fn kind(&self) -> Kind;

    /// True if it leaves a member without carrier by itself ([`Plan::failover`]), also while its
    /// process does not run. Else members are left by the next plan alone.
    fn sees_carriers(&self) -> bool;

    /// Takes a member in: from now on its frames are the team's. Until a plan
    /// names it, they are dropped.
    fn attach(&mut self, port: &Port) -> Result<(), Error>;

    /// Lets a member go: its frames are its own again.
    fn detach(&mut self, id: MemberId) -> Result<(), Error>;

    /// Executes this plan from now on.
    fn apply(&mut self, plan: &Plan) -> Result<(), Error>;

    /// Sends one frame of the control side by a member, past the plan.
    fn transmit(&mut self, id: MemberId, frame: &[u8]) -> Result<(), Error>;

    /// What happened to the frames of peers that stripe since the last call, in no
    /// order; an address may be in it more than once.
    fn take_notes(&mut self) -> Result<Vec<Note>, Error>;

    /// The process of the team lives, and this is what it says to partners that
    /// say on what they last said. Where the dataplane goes on without its
    /// process, this renews the lease of the plan ([`Plan::lease`]), and for a
    /// process that does not call this for 400 ms the partners are answered: as
    /// long as the lease runs with these, then three times more, that the member
    /// is not in sync. Elsewhere nothing happens. Cheap if nothing changed.
    fn renew(&mut self, answers: &[Answer]) -> Result<(), Error>;

    /// What the process said that ended before this one took over; nothing of
    /// partners that have said something else since.
    fn remembered(&self) -> Result<Vec<Remembered>, Error>;

    /// LACPDUs that were answered for a process that did not.
    fn answered(&self) -> Result<u64, Error>;

    /// Acknowledgements that were withheld: they spoke of nothing but a gap that was not old enough
    /// to be told ([`nicteam_team::Stripe::sack_delay`]).
    fn withheld(&self) -> Result<u64, Error>;

    /// What each member carried, by place.
    fn counters(&self) -> Result<Vec<(MemberId, Counters)>, Error>;

    /// Frames from the stack that no member could send.
    fn unsent(&self) -> Result<u64, Error>;

    /// What the stack sent, by bucket, since the team began; of the plans that count.
    fn loads(&self) -> Result<Loads, Error>;

    /// What was sent to a peer and received from it as numbered frames
    /// (`redundant`), by the address of its team.
    fn stream(&self, peer: Mac) -> Result<StreamCounters, Error>;

    /// What becomes readable when a frame was punted; none before the first
    /// plan that punts.
    fn punts(&self) -> Option<BorrowedFd<'_>>;

    /// The frames that were punted since the last call, from the destination
    /// address on, a tag among the bytes. Those that nobody fetches in time are lost.
    fn take_punted(&mut self) -> Result<Vec<Vec<u8>>, Error>;

    /// Lets every member go and takes everything out of the kernel.
    fn remove(self: Box<Self>) -> Result<(), Error>;
}

/// Opens the wanted dataplane for a team device, in the caller's network
/// namespace. What the other kind left on the device is removed.
pub fn open(device: &TeamDevice, choice: Choice) -> Result<Box<dyn Dataplane>, Error> {
    let kind = match choice {
        Choice::Auto => probe().0,
        Choice::Force(kind) => kind,
    };
    let unavailable = |reason| Error::Unavailable { kind, reason };
    match kind {
        // Loading the programs takes long: whether that can be done at all is asked if it could not.
        Kind::Bpf => match BpfDataplane::open(device) {
            Ok(dataplane) => Ok(Box::new(dataplane)),
            Err(error) => Err(bpf::available().err().map_or(error, unavailable)),
        },
        Kind::Packet => {
            packet::available().map_err(unavailable)?;
            bpf::clear(device)?;
            packet::open(device)
        }
    }
}

/// True if a team's eBPF program is on this device of the caller's network namespace.
pub fn is_member(device: &str, index: u32) -> bool {
    bpf::is_member(device, index)
}

/// The dataplane that [`Choice::Auto`] takes here, and why not eBPF if it does
/// not. Found out once a process, by loading the programs.
pub fn probe() -> (Kind, Option<String>) {
    match bpf::available() {
        Ok(()) => (Kind::Bpf, None),
        Err(reason) => (Kind::Packet, Some(reason)),
    }
}

/// Programs of this project that the kernel holds now, on whatever device and in
/// whatever namespace: number and name. Empty without the right to ask.
pub fn loaded_programs() -> Vec<String> {
    bpf::loaded_programs()
}

/// A received frame with the tag beside it put back among its bytes.
fn with_tag(received: &Received<'_>) -> Vec<u8> {
    const MACS: usize = 12;
    let (macs, rest) = received.bytes.split_at(MACS.min(received.bytes.len()));
    let tag = received.tag.map(|tag| [tag.protocol.to_be_bytes(), tag.tci.to_be_bytes()].concat());
    [macs, &tag.unwrap_or_default(), rest].concat()
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Bpf => "bpf",
            Kind::Packet => "packet",
        })
    }
}
