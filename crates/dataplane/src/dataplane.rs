//! What every dataplane does, and what it is told and says.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nicteam_team::lacp::Answer;
use nicteam_team::stripe::redundant::StreamCounters;
use nicteam_team::stripe::{Note, PlainReport};
use nicteam_team::{Loads, MemberId, Plan};
use nicteam_wire::Mac;

use crate::{Error, Kind};

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

    /// Acknowledgements that were suppressed: they reported nothing but a gap younger than
    /// [`nicteam_team::Stripe::sack_delay`].
    fn withheld(&self) -> Result<u64, Error>;

    /// What it has seen of hosts that do not stripe ([`nicteam_team::stripe::Plain`]).
    fn plain(&self) -> Result<PlainReport, Error>;

    /// What each member carried, by place.
    fn counters(&self) -> Result<Vec<(MemberId, Counters)>, Error>;

    /// Frames from the stack that no member could send.
    fn unsent(&self) -> Result<u64, Error>;

    /// What the stack sent, by bucket, since the team began; of the plans that count.
    fn loads(&self) -> Result<Loads, Error>;

    /// The source addresses that the stack sent in the last 300 s, with their VLANs, 0 for none, in no order; of plans that note
    /// them ([`Plan::notes_sources`]).
    fn sources(&self) -> Result<Vec<(Mac, u16)>, Error>;

    /// What was sent to a peer and received from it as numbered frames
    /// (`redundant`), by the address of its team.
    fn stream(&self, peer: Mac) -> Result<StreamCounters, Error>;

    /// What becomes readable when a frame was punted; none before the first
    /// plan that punts.
    fn punts(&self) -> Option<BorrowedFd<'_>>;

    /// The frames that were punted since the last call, from the destination
    /// address on, a tag among the bytes. Those that nobody fetches in time are lost.
    fn take_punted(&mut self) -> Result<Vec<Vec<u8>>, Error>;

    /// What it has put on devices and is not there any more: somebody took it away.
    fn missing(&mut self) -> Result<Vec<Missing>, Error>;

    /// Puts that back.
    ///
    /// # Errors
    /// Another program has its place, or the system refuses.
    fn restore(&mut self, missing: &Missing) -> Result<(), Error>;

    /// What becomes readable when [`Dataplane::missing`] may find something, beside changes of links and filters; none where these
    /// say it all.
    fn alarm(&self) -> Option<BorrowedFd<'_>>;

    /// Lets every member go and takes everything out of the kernel.
    fn remove(self: Box<Self>) -> Result<(), Error>;
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
/// address to the end of the payload; a GSO frame counts as one frame.
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

/// Something of the dataplane's that is not on a device any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// The device.
    pub device: String,
    /// What, in words.
    pub what: &'static str,
    /// Which of those it knows.
    pub(crate) number: usize,
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
