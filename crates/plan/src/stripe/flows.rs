//! Which flows keep their path.
//!
//! Where others send to the same peer, too, frames wait in queues of the switch that no sender sees. These queues are
//! of unlike length in time where members have unlike rates. Frames that are striped one by one then arrive in
//! disorder, as they do where paths have unlike delays. Towards such a peer ([`super::Peer::keeps_flows`]), and towards
//! each plain host (`plain/flows.rs`), a flow that takes less than most of a path stays on the one that it has. It may
//! take another path after a pause of [`SLACK`], or when the transmit backlog of its path ends later by that than the
//! best one's. A *wide* flow, which takes more, is striped frame by frame.
//!
//! Flows that share a bucket by their hash count as one. Mirrored in `bpf/stripe.h`.

use std::time::Duration;

use nicteam_machine::MemberId;
use nicteam_wire::Mac;

/// Buckets; a power of two.
const FLOWS: usize = nicteam_machine::constants::FLOW_BUCKETS;
/// After such a pause, or for such an advantage, a flow may take another path.
pub(super) const SLACK: Duration = Duration::from_nanos(nicteam_machine::constants::SLACK_NS);
/// How long a flow's frames are added up.
const WINDOW: Duration = Duration::from_nanos(nicteam_machine::constants::FLOW_WINDOW_NS);
/// Of a window: with more on the wire a flow is wide from then on.
const WIDE_NS: u64 = nicteam_machine::constants::FLOW_WIDE_NS;
/// Eighths of a window: a wide flow with less is none any more.
const NARROW_EIGHTHS: u64 = nicteam_machine::constants::FLOW_NARROW_EIGHTHS;

/// What is known of all flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    /// By hash; empty until there is one.
    buckets: Vec<Flow<Ends>>,
}

/// The ends of a path.
pub(super) type Ends = (MemberId, Mac);

/// A flow, or those of one bucket; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow<Path> {
    /// Since when frames are added up.
    since: u64,
    /// When the last frame left.
    last: u64,
    /// How long its frames took on the wire.
    taken: u64,
    path: Option<Path>,
    wide: bool,
}

impl<Path> Default for Flow<Path> {
    fn default() -> Flow<Path> {
        Flow { since: 0, last: 0, taken: 0, path: None, wide: false }
    }
}

impl<Path: Copy> Flow<Path> {
    /// Its frames are added up anew if their window is over; a flow that took little of it is wide no more.
    pub(super) fn turn(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.since);
        if elapsed >= WINDOW.as_nanos() as u64 {
            self.wide &= self.taken * 8 >= elapsed * NARROW_EIGHTHS;
            (self.since, self.taken) = (now, 0);
        }
    }

    /// The path that its next frame is to keep, if it still is one.
    pub(super) fn kept(&self, now: u64) -> Option<Path> {
        let paused = now.saturating_sub(self.last) >= SLACK.as_nanos() as u64;
        self.path.filter(|_| !self.wide && !paused)
    }

    /// A frame goes by this path, and takes so long on its wire.
    pub(super) fn take(&mut self, path: Path, wire_ns: u64, now: u64) {
        self.taken += wire_ns;
        self.wide |= self.taken > WIDE_NS;
        (self.last, self.path) = (now, Some(path));
    }

    /// The path of the last frame.
    pub(super) fn path(&self) -> Option<Path> {
        self.path
    }

    /// When the last frame left.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// How long the frames of this window take on the wire.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }
}

impl Flows {
    /// The path that a frame with this hash is to keep, if it still is one.
    pub(super) fn kept(&mut self, hash: u32, now: u64) -> Option<Ends> {
        if self.buckets.is_empty() {
            self.buckets = vec![Flow::default(); FLOWS];
        }
        let flow = &mut self.buckets[hash as usize % FLOWS];
        flow.turn(now);
        flow.kept(now)
    }

    /// The frame goes by this path, and takes so long on its wire.
    pub(super) fn take(&mut self, hash: u32, path: Ends, wire_ns: u64, now: u64) {
        if let Some(flow) = self.buckets.get_mut(hash as usize % FLOWS) {
            flow.take(path, wire_ns, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const HASH: u32 = 7;

    fn path(place: u8) -> Ends {
        (MemberId::new(place.into()).unwrap(), Mac([2, 0, 0, 0, 0, place]))
    }

    /// Sends each millisecond from `from` on, each frame so long on the wire.
    fn send(flows: &mut Flows, from: u64, frames: u64, wire_ns: u64) {
        for ms in from..from + frames {
            flows.kept(HASH, ms * MS);
            flows.take(HASH, path(1), wire_ns, ms * MS);
        }
    }

    #[test]
    fn a_narrow_flow_keeps_its_path_until_it_pauses() {
        let mut flows = Flows::default();
        assert_eq!(flows.kept(HASH, MS), None, "it has none yet");
        send(&mut flows, 1, 100, MS / 2);
        assert_eq!(flows.kept(HASH, 103 * MS), Some(path(1)));
        assert_eq!(flows.kept(HASH + 1, 103 * MS), None, "another flow has its own");
        assert_eq!(flows.kept(HASH, 104 * MS), None);
    }

    #[test]
    fn a_flow_is_wide_from_three_fourths_of_a_path_until_it_takes_three_eighths() {
        let mut flows = Flows::default();
        send(&mut flows, 1, 15, MS);
        assert_eq!(flows.kept(HASH, 16 * MS), Some(path(1)));
        send(&mut flows, 16, 1, MS);
        assert_eq!(flows.kept(HASH, 17 * MS), None);
        send(&mut flows, 17, 60, MS / 2);
        assert_eq!(flows.kept(HASH, 77 * MS), None, "half of a path is still wide");
        send(&mut flows, 77, 60, MS / 4);
        assert_eq!(flows.kept(HASH, 137 * MS), Some(path(1)));
    }
}
