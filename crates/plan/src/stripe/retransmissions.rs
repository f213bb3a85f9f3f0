//! Retransmissions go by the path that brought the peer's last frame.
//!
//! A path that passes nothing gets its share of the frames until probes detect it, and so it gets its share of the
//! retransmissions of what was lost there. A sender that is not in loss recovery asks when it hears nothing, by a tail
//! loss probe (RFC 8985). A sender in loss recovery waits for its retransmission timer, 200 ms or more, if a
//! retransmission is lost as well, or the last acknowledgement. A path that brings the peer's frames is a path that
//! works, mostly. So two kinds of frames go by the path that brought the last of them, unless its transmit backlog ends
//! later than that of the best one by more than [`super::flows::SLACK`]:
//!
//! - retransmissions of a TCP connection: segments that begin before the end of what it sent already;
//! - frames too short to carry much, as acknowledgements are, to a peer to which a gap was reported ([`super::gaps`])
//!   in the last 20 ms (`LOSS_RECOVERY_NS`).
//!
//! Each connection has a bucket by its hash. A connection that finds another one in its bucket takes the bucket over.
//! Then no retransmission of either is recognised. Mirrored in the file of the same name in `bpf`; a change here is a
//! change there.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_wire::{Frame, Mac, Segment};

use super::flows::Ends;
use super::gaps;
use super::gaps::{BUCKETS, SHORTEST};
use super::limits::MAX_PEERS;
use super::peer::Peer;
use super::plan::Stripe;

/// For so long after the report of a gap the peer counts as a sender in loss recovery: longer than it takes to detect a
/// path that passes nothing.
const LOSS_RECOVERY: Duration = Duration::from_nanos(nicteam_machine::constants::LOSS_RECOVERY_NS);
/// So long after its last segment a connection's numbers may be another's (Linux, include/net/tcp.h:
/// `TCP_TIMEWAIT_LEN`).
const FORGOTTEN: Duration = Duration::from_nanos(nicteam_machine::constants::SENT_FORGOTTEN_NS);

/// What connections sent, what came from peers, and what was reported to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Retransmissions {
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
    /// The path by which the peer's last frame came.
    path: Option<Ends>,
    /// Until then the peer counts as a sender in loss recovery, because a gap was reported to it; nanoseconds.
    recovers_until: u64,
}

impl Retransmissions {
    /// The team gets a frame that came by this path of a peer's.
    pub(super) fn hear(&mut self, stripe: &Stripe, peer: &Peer, path: Ends) {
        self.peer(stripe, peer).path = Some(path);
    }

    /// A gap is reported to the peer.
    pub(super) fn tell(&mut self, stripe: &Stripe, peer: &Peer, now: u64) {
        self.peer(stripe, peer).recovers_until = now + LOSS_RECOVERY.as_nanos() as u64;
    }

    /// The path for a frame to the peer, if it is a retransmission, or an acknowledgement for a loss recovery; `now` in
    /// nanoseconds.
    pub(super) fn path_of(&mut self, peer: &Peer, frame: &Frame<'_>, now: u64) -> Option<Ends> {
        let heard = self.peers.get(&peer.team).copied().unwrap_or_default();
        let is_for_recovery = match frame.payload().len() < SHORTEST {
            true => now < heard.recovers_until,
            false => Segment::of(frame).is_some_and(|segment| self.is_sent_again(&segment, now)),
        };
        heard.path.filter(|_| is_for_recovery)
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
