//! What a plan says of stripe.

use std::time::Duration;

use nicteam_machine::{MemberId, MemberSet};
use nicteam_wire::Mac;

use super::super::action::Leg;
use super::super::balance::Balance;
use super::peer::{Path, Peer, Sender};
use super::peers::Peers;
use nicteam_options::{Classes, StripePlain};

/// How a frame finds its member in mode stripe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripe {
    /// The team's address: what its stack sends from there is striped.
    pub team: Mac,
    /// The members that can send, by place.
    pub senders: Vec<Sender>,
    /// Those that frames are striped to, by address; at most [`MAX_PEERS`](super::MAX_PEERS), with at most
    /// [`MAX_ADDRESSES`](super::MAX_ADDRESSES).
    pub peers: Peers,
    /// Group-addressed frames leave by these, and are taken from these: one member
    /// of each segment; at least one.
    pub group: MemberSet,
    /// What goes by two paths, towards peers that take it.
    pub redundant: Classes,
    /// The age at which a gap in what a TCP connection received from a peer is reported to that peer; 0: at once.
    pub sack_delay: Duration,
    /// What goes by several members towards hosts that do not stripe.
    pub plain: Plain,
    /// What becomes of all other frames.
    pub other: Balance,
}

/// How frames go to hosts, and next hops, that do not stripe: one-sided striping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain {
    /// Which frames.
    pub kind: StripePlain,
    /// The members that may send them: senders that are neither silent nor lossy. Empty if `kind` is off.
    pub members: MemberSet,
}

impl Stripe {
    /// The peer with this address: its team's or a member's.
    pub fn peer(&self, mac: Mac) -> Option<&Peer> {
        if self.is_own(mac) {
            return None;
        }
        self.peers.with_address(mac)
    }

    /// True of the team's address and of those of its members that can send: a
    /// frame from there is one that came back.
    pub fn is_own(&self, mac: Mac) -> bool {
        self.team == mac || self.senders.iter().any(|sender| sender.mac == mac)
    }

    /// True if this is the address of a member of ours that can send, and it is this one's.
    pub(super) fn is_senders(&self, member: MemberId, mac: Mac) -> bool {
        self.senders.iter().any(|sender| sender.id == member && sender.mac == mac)
    }

    /// True if a member takes a group-addressed frame from there: one of each
    /// segment does, and of those that bring the frames of a peer one.
    pub fn takes_group(&self, member: MemberId, src: Mac) -> bool {
        let from = self.peer(src).and_then(|peer| peer.group_from);
        self.group.contains(member) && from.is_none_or(|from| from == member)
    }

    /// The team behind a source address: frames that peers stripe come from their members' own.
    pub fn source(&self, src: Mac) -> Mac {
        self.peer(src).map_or(src, |peer| peer.team)
    }

    /// The member and the addresses of a frame that takes a path.
    pub(super) fn leg(&self, peer: &Peer, path: Path) -> Leg {
        let (sender, receiver) = (self.senders[path.sender], peer.receivers[path.receiver]);
        Leg { member: sender.id, src: sender.mac, dst: receiver.mac }
    }
}
