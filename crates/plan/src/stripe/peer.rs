//! A peer that stripes, too, and the paths to it.

use nicteam_machine::MemberId;
use nicteam_wire::Mac;

/// A member of ours that can send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Which.
    pub id: MemberId,
    /// Its own address.
    pub mac: Mac,
    /// Its rate, Mbit/s; at least 1.
    pub rate_mbps: u32,
    /// What a report that it lost its carrier carries as a proof; 0 without a key.
    pub lost_token: u64,
}

/// A team that stripes, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its team's address.
    pub team: Mac,
    /// Its number ([`nicteam_wire::Hello::system`]).
    pub system: u64,
    /// True if it takes frames with a redundancy tag.
    pub takes_rtags: bool,
    /// True if flows keep their path to it, but for those that need more than one: others
    /// send to it, too, and its members are unlike, or a way there is long.
    pub keeps_flows: bool,
    /// How many, with us, may act upon the same queue on the way to it: teams that it has traffic with,
    /// times those that we have; at least 1.
    pub sharers: u32,
    /// The member of ours that takes its group-addressed frames, of which other
    /// segments bring copies; none: whichever brings them.
    pub group_from: Option<MemberId>,
    /// Its members that can receive; at most [`MAX_MEMBERS`](nicteam_machine::MAX_MEMBERS).
    pub receivers: Vec<Receiver>,
    /// Addresses of its other members: what is meant for them is the peer's, too.
    pub others: Vec<Mac>,
    /// The ways to it; 1 to [`MAX_PATHS`](super::MAX_PATHS), or none: then it is like any other.
    pub paths: Vec<Path>,
}

/// A peer's member that can receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// Its own address.
    pub mac: Mac,
    /// Its rate, Mbit/s; at least 1.
    pub rate_mbps: u32,
    /// What of it is ours while others send there, too, Mbit/s; at least 1.
    pub share_mbps: u32,
    /// The token without which no report that it lost its carrier is obeyed, and with which one is; 0: none is needed.
    pub lost_token: u64,
}

/// A way from a member of ours to one of a peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Index into [`Stripe::senders`](super::Stripe::senders).
    pub sender: usize,
    /// Index into [`Peer::receivers`].
    pub receiver: usize,
    /// How much longer a frame is under way by it than by the quickest path to
    /// this peer, microseconds; 65535 stands for all that is longer, too.
    pub delay_us: u16,
}

impl Path {
    /// How many ends it has in common with another.
    pub(super) fn shares(self, other: &Path) -> u32 {
        u32::from(self.sender == other.sender) + u32::from(self.receiver == other.receiver)
    }
}

impl Peer {
    /// All its addresses, its team's first.
    pub fn addresses(&self) -> impl Iterator<Item = Mac> + '_ {
        let members = self.receivers.iter().map(|receiver| receiver.mac);
        std::iter::once(self.team).chain(members).chain(self.others.iter().copied())
    }
}
