//! What mends a loss goes by the path that brought something last.
//!
//! A path that passes nothing takes its share of the frames until probes find it out, and so it does of
//! those with which TCP mends what was lost there. Outside of that TCP asks when it hears nothing (RFC 8985), but who mends a
//! loss waits for his retransmission timer, 200 ms or more, when what he sent again is lost once more, or
//! the last acknowledgement. A path by which the peer's frames come is a path that lives, mostly. So two kinds of frames go by
//! the one that brought the last of them, unless its wires are taken for longer than the best one's by more than [`super::flows::SLACK`]:
//!
//! - what a TCP connection sends again: a segment that begins before the end of what it sent already;
//! - frames too short to carry much, as acknowledgements are, to a peer that was told of a gap ([`super::gaps`]) in
//!   the last [`MENDING`].
//!
//! Connections have a bucket each by their hash. One that finds another's in its own takes it over: then
//! nothing of either is seen to be sent again. Mirrored in `bpf/mending.h`; a change here is a change there.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_wire::{Frame, Mac, Segment};

use super::flows::Ends;
use super::gaps;
use super::gaps::{BUCKETS, SHORTEST};
use super::limits::MAX_PEERS;
use super::peer::Peer;
use super::plan::Stripe;

/// So long after it was told of a gap a peer mends it: longer than it takes until a path that passes nothing is found out.
const MENDING: Duration = Duration::from_nanos(nicteam_machine::constants::MENDING_NS);
/// So long after its last segment a connection's numbers may be another's (Linux, include/net/tcp.h:
/// `TCP_TIMEWAIT_LEN`).
const FORGOTTEN: Duration = Duration::from_nanos(nicteam_machine::constants::SENT_FORGOTTEN_NS);

/// What connections sent, and what peers hear and are told.
#[derive(Clone, Debug, Default)]
pub(super) struct Mending {
    /// By hash; empty until something was sent.
    sent: Vec<Sent>,
    /// By their teams' addresses.
    peers: BTreeMap<Mac, Heard>,
}

/// How far a connection has sent.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    flow: u32,
    end: u32,
    /// When it did last, nanoseconds.
    at: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    /// By which a frame of the peer's came last.
    path: Option<Ends>,
    /// Until then it mends a gap that it was told of, nanoseconds.
    mends_until: u64,
}

impl Mending {
    /// The team gets a frame that came by this path of a peer's.
    pub(super) fn hear(&mut self, stripe: &Stripe, peer: &Peer, path: Ends) {
        self.peer(stripe, peer).path = Some(path);
    }

    /// The peer is told of a gap.
    pub(super) fn tell(&mut self, stripe: &Stripe, peer: &Peer, now: u64) {
        self.peer(stripe, peer).mends_until = now + MENDING.as_nanos() as u64;
    }

    /// The path by which a frame to the peer is to go, if it mends something; `now` in nanoseconds.
    pub(super) fn path_of(&mut self, peer: &Peer, frame: &Frame<'_>, now: u64) -> Option<Ends> {
        let heard = self.peers.get(&peer.team).copied().unwrap_or_default();
        let mends = match frame.payload().len() < SHORTEST {
            true => now < heard.mends_until,
            false => Segment::of(frame).is_some_and(|segment| self.is_sent_again(&segment, now)),
        };
        heard.path.filter(|_| mends)
    }

    /// True if the segment begins before the end of what its connection sent already.
    fn is_sent_again(&mut self, segment: &Segment, now: u64) -> bool {
        if self.sent.is_empty() {
            self.sent = vec![Sent::default(); BUCKETS];
        }
        let sent = &mut self.sent[gaps::bucket(segment.flow)];
        let is_mine = sent.flow == segment.flow && now < sent.at + FORGOTTEN.as_nanos() as u64;
        let is_again = is_mine && gaps::is_ahead(sent.end, segment.sequence);
        if !is_again || gaps::is_ahead(segment.end, sent.end) {
            sent.end = segment.end;
        }
        (sent.flow, sent.at) = (segment.flow, now);
        is_again
    }

    fn peer(&mut self, stripe: &Stripe, peer: &Peer) -> &mut Heard {
        if self.peers.len() >= MAX_PEERS && !self.peers.contains_key(&peer.team) {
            self.peers.retain(|team, _| stripe.peers.with_address(*team).is_some());
        }
        self.peers.entry(peer.team).or_default()
    }
}
