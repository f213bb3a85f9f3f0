//! Flows to plain hosts: the member that each keeps, and of a connection what it sent, by which members, and how long
//! that took.

use nicteam_machine::{MemberId, constants};
use nicteam_wire::Segment;

use super::super::{flows, gaps};
use super::look::Look;
use super::trip::RoundTrip;

/// Frames of a connection of which the member is remembered.
const FRAMES: usize = constants::PLAIN_FRAMES;
/// No frame is longer, bytes.
const LONGEST_FRAME: u32 = constants::PLAIN_LONGEST;
/// What was not acknowledged for so long is not waited for.
const LOST_NS: u64 = constants::PLAIN_LEAVES_NS;
/// Of a window: the acknowledgement of a flow with less on the wire may be delayed.
const SAMPLED_NS: u64 = constants::PLAIN_SAMPLED_NS;
/// The shortest round trip is forgotten after this.
const SHORTEST_NS: u64 = constants::PLAIN_SHORTEST_NS;

/// What is known of all flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    /// By number or hash; empty until there is one.
    buckets: Vec<Flow>,
}

/// Those of one bucket; times in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// By the number of the host, and by member.
    sends: flows::Flow<(usize, MemberId)>,
    /// How long it waits for its member's wire.
    backlog: u64,
    /// The connection that sent data last.
    connection: Option<Connection>,
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    flow: u32,
    /// How far it has sent, and how far that was acknowledged.
    end: u32,
    acked: u32,
    sample: Option<Sample>,
    /// The shortest round trip, and when it was.
    shortest: Option<(u64, u64)>,
    /// Where the last frames began, and the members that carried them; the next one takes the place of the oldest.
    frames: Vec<(u32, MemberId)>,
    next: usize,
}

/// A frame whose round trip is measured.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Where it ends.
    end: u32,
    left: u64,
    /// How long it waits for its member's wire.
    backlog: u64,
    /// Its flow sends so much that acknowledgements are not delayed.
    counts: bool,
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acked {
    /// Bytes that it is the first to acknowledge.
    pub(super) bytes: u32,
    pub(super) round_trip: Option<RoundTrip>,
}

impl Flows {
    /// Those with this hash.
    pub(super) fn with_hash(&mut self, hash: u32) -> &mut Flow {
        &mut self.buckets()[hash as usize % gaps::BUCKETS]
    }

    /// Those of the bucket that a connection with this number has, or is to have: of its two places that which is its own, or the
    /// one that was used less lately.
    pub(super) fn with_number(&mut self, flow: u32) -> &mut Flow {
        let buckets = self.buckets();
        let first = gaps::bucket(flow);
        let second = first ^ 1;
        let is_seconds = buckets[second].is_of(flow) || buckets[second].sends.last() < buckets[first].sends.last();
        &mut buckets[if !buckets[first].is_of(flow) && is_seconds { second } else { first }]
    }

    fn buckets(&mut self) -> &mut [Flow] {
        if self.buckets.is_empty() {
            self.buckets = vec![Flow::default(); gaps::BUCKETS];
        }
        &mut self.buckets
    }
}

impl Flow {
    /// The member that a frame to this host is to keep, if it is to keep one.
    pub(super) fn kept(&self, host: usize, now: u64) -> Option<MemberId> {
        let (to, member) = self.sends.kept(now)?;
        (to == host).then_some(member)
    }

    /// A frame leaves for this host by a member.
    pub(super) fn take(&mut self, host: usize, look: &Look, now: u64) {
        self.sends.turn(now);
        self.sends.take((host, look.member), look.wire_ns, now);
        self.backlog = look.start.saturating_sub(now);
    }

    fn is_of(&self, flow: u32) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.flow == flow)
    }

    /// The connection of this number, and to which host it sends; nothing if the bucket is another's.
    pub(super) fn connection(&mut self, flow: u32) -> Option<(usize, &mut Connection)> {
        let connection = self.connection.as_mut().filter(|connection| connection.flow == flow)?;
        let host = self.sends.path().map_or(0, |(host, _)| host);
        Some((host, connection))
    }

    /// New data leaves by a member. A connection that finds another's takes its place.
    pub(super) fn note_sent(&mut self, segment: &Segment, member: MemberId, now: u64) {
        let connection = match &mut self.connection {
            Some(connection) if connection.flow == segment.flow => connection,
            other => other.insert(Connection::new(segment)),
        };
        let Segment { sequence, end, .. } = *segment;
        let sample = Sample { end, left: now, backlog: self.backlog, counts: self.sends.taken() >= SAMPLED_NS };
        connection.note_sent(sequence, member, sample);
    }
}

impl Connection {
    fn new(segment: &Segment) -> Connection {
        let Segment { flow, sequence, .. } = *segment;
        Connection { flow, end: sequence, acked: sequence, sample: None, shortest: None, frames: Vec::new(), next: 0 }
    }

    /// True of a segment that begins before the end of what was sent already.
    pub(super) fn has_sent(&self, segment: &Segment) -> bool {
        gaps::is_ahead(self.end, segment.sequence)
    }

    /// The member that carried the byte with this number; nothing if that was too long ago.
    pub(super) fn carrier(&self, sequence: u32) -> Option<MemberId> {
        let behind = |start: u32| sequence.wrapping_sub(start);
        let carried = self.frames.iter().filter(|(start, _)| behind(*start) < LONGEST_FRAME);
        carried.min_by_key(|(start, _)| behind(*start)).map(|(_, member)| *member)
    }

    /// Something is sent again: nobody knows which of both is acknowledged.
    pub(super) fn note_sent_again(&mut self) {
        self.sample = None;
    }

    /// A frame that begins with this number, and may be measured.
    fn note_sent(&mut self, sequence: u32, member: MemberId, frame: Sample) {
        self.end = frame.end;
        let now = frame.left;
        if self.sample.is_none_or(|sample| now.saturating_sub(sample.left) >= LOST_NS) {
            self.sample = Some(frame);
        }
        let frame = (sequence, member);
        match self.frames.get_mut(self.next) {
            Some(oldest) => *oldest = frame,
            None => self.frames.push(frame),
        }
        self.next = (self.next + 1) % FRAMES;
    }

    /// All before this number was received; nothing if that is known, or cannot be.
    pub(super) fn take_ack(&mut self, ack: u32, now: u64) -> Option<Acked> {
        if !gaps::is_ahead(ack, self.acked) || gaps::is_ahead(ack, self.end) {
            return None;
        }
        let bytes = ack.wrapping_sub(self.acked);
        self.acked = ack;
        let sample = self.sample.take_if(|sample| !gaps::is_ahead(sample.end, ack));
        let round_trip = sample.map(|Sample { left, backlog, counts, .. }| {
            let took = now.saturating_sub(left);
            let is_old = |at: u64| now.saturating_sub(at) >= SHORTEST_NS;
            let known = self.shortest.filter(|(shortest, at)| took >= *shortest && !is_old(*at));
            let (shortest, _) = *self.shortest.insert(known.unwrap_or((took, now)));
            RoundTrip { left, took, shortest, queued: took.saturating_sub(shortest + backlog), counts }
        });
        Some(Acked { bytes, round_trip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const HOST: usize = 5;
    const FLOW: u32 = 0x1234_5678;

    fn id(place: usize) -> MemberId {
        MemberId::new(place).unwrap()
    }

    /// As a frame goes that is sent at once, and takes so long on the wire.
    fn by(place: usize, wire_ns: u64) -> Look {
        Look { member: id(place), start: 0, wire_ns }
    }

    fn segment(flow: u32, sequence: u32, bytes: u32) -> Segment {
        Segment { flow, sequence, end: sequence.wrapping_add(bytes) }
    }

    /// Its connection has sent so many frames of 1000 bytes, each by the next of three members.
    fn sent(first: u32, frames: u32) -> Flow {
        let mut flow = Flow::default();
        for number in 0..frames {
            let segment = segment(FLOW, first.wrapping_add(1000 * number), 1000);
            flow.note_sent(&segment, id(number as usize % 3), MS);
        }
        flow
    }

    #[test]
    fn a_narrow_flow_keeps_its_member_until_it_pauses_or_goes_elsewhere() {
        let mut flow = Flow::default();
        assert_eq!(flow.kept(HOST, MS), None);
        flow.take(HOST, &by(2, MS), 1000 * MS);
        assert_eq!(flow.kept(HOST, 1004 * MS - 1), Some(id(2)));
        assert_eq!(flow.kept(HOST, 1004 * MS), None);
        assert_eq!(flow.kept(HOST + 1, 1001 * MS), None);
    }

    #[test]
    fn a_flow_is_wide_from_three_fourths_of_a_member_until_it_takes_three_eighths() {
        let mut flow = Flow::default();
        let mut send = |from: u64, frames: u64, wire_ns: u64| {
            (from..from + frames).for_each(|ms| flow.take(HOST, &by(1, wire_ns), ms * MS));
            flow.kept(HOST, (from + frames) * MS - 1).is_none()
        };
        assert!(!send(1000, 15, MS));
        assert!(send(1015, 1, MS));
        assert!(send(1016, 60, MS / 2), "half of a member is still wide");
        assert!(!send(1076, 60, MS / 4));
    }

    #[test]
    fn who_carried_what_is_known_of_the_last_frames() {
        for first in [1000, 0_u32.wrapping_sub(9500)] {
            let mut flow = sent(first, 300);
            let (_, connection) = flow.connection(FLOW).unwrap();
            let carrier = |number: u32, within: u32| connection.carrier(first.wrapping_add(1000 * number + within));
            for number in 44..300 {
                for within in [0, 1, 999] {
                    assert_eq!(carrier(number, within), Some(id(number as usize % 3)), "frame {number}");
                }
            }
            assert_eq!(carrier(43, 999), None, "{FRAMES} frames are remembered");
            assert_eq!(connection.carrier(first.wrapping_sub(1)), None);
        }
    }

    #[test]
    fn what_begins_before_the_end_was_sent() {
        let mut flow = sent(0_u32.wrapping_sub(1500), 3);
        let (_, connection) = flow.connection(FLOW).unwrap();
        for (sequence, was_sent) in [(1499, true), (1500, false), (2500, false), (0, true)] {
            assert_eq!(connection.has_sent(&segment(FLOW, sequence, 100)), was_sent, "{sequence}");
        }
    }

    #[test]
    fn a_connection_takes_over_the_bucket_of_another() {
        let mut flow = sent(1000, 5);
        assert!(flow.connection(FLOW + 1).is_none());
        flow.note_sent(&segment(FLOW + 1, 3000, 1000), id(7), MS);
        assert!(flow.connection(FLOW).is_none());
        let (_, connection) = flow.connection(FLOW + 1).unwrap();
        assert_eq!((connection.carrier(3500), connection.carrier(2999)), (Some(id(7)), None), "nothing of the other's");
        assert_eq!(connection.take_ack(4000, 2 * MS).unwrap().bytes, 1000);
    }

    #[test]
    fn a_connection_has_two_places_and_takes_the_one_that_was_used_less_lately() {
        let mut flows = Flows::default();
        let numbers = |bucket: usize| (1..).filter(move |number: &u32| gaps::bucket(*number) == bucket);
        let own: Vec<u32> = numbers(6).take(3).collect();
        let neighbour = numbers(7).next().unwrap();
        let send = |flows: &mut Flows, number: u32, ms: u64| {
            let flow = flows.with_number(number);
            flow.take(HOST, &by(0, MS), ms * MS);
            flow.note_sent(&segment(number, 0, 1000), id(0), ms * MS);
        };
        for (ms, number) in [own[0], own[1], own[0]].into_iter().enumerate() {
            send(&mut flows, number, ms as u64 + 1);
        }
        assert!(own[..2].iter().all(|&number| flows.with_number(number).is_of(number)));
        send(&mut flows, own[2], 5);
        let known = [0, 1, 2].map(|at| flows.with_number(own[at]).is_of(own[at]));
        assert_eq!(known, [true, false, true]);
        send(&mut flows, neighbour, 6);
        assert!(!flows.with_number(own[0]).is_of(own[0]));
    }

    #[test]
    fn what_is_acknowledged_counts_once() {
        let mut flow = sent(0_u32.wrapping_sub(1500), 4);
        let (_, connection) = flow.connection(FLOW).unwrap();
        let mut bytes = |ack: u32| connection.take_ack(ack, 3 * MS).map(|acked| acked.bytes);
        assert_eq!(bytes(0_u32.wrapping_sub(1500)), None);
        assert_eq!(bytes(0_u32.wrapping_sub(500)), Some(1000));
        assert_eq!(bytes(1500), Some(2000));
        assert_eq!((bytes(1500), bytes(500)), (None, None), "known");
        assert_eq!(bytes(2501), None, "it was not sent");
        assert_eq!(bytes(2500), Some(1000));
    }

    #[test]
    fn a_round_trip_is_measured_by_one_frame_at_a_time() {
        let mut flow = Flow::default();
        let send = |flow: &mut Flow, number: u32, ms: u64| {
            flow.note_sent(&segment(FLOW, 1000 * number, 1000), id(0), ms * MS);
        };
        let ack = |flow: &mut Flow, number: u32, ms: u64| {
            let (_, connection) = flow.connection(FLOW).unwrap();
            connection
                .take_ack(1000 * number, ms * MS)
                .unwrap()
                .round_trip
                .map(|trip| (trip.took / MS, trip.shortest / MS))
        };
        (0..3).for_each(|number| send(&mut flow, number, 10 + u64::from(number)));
        assert_eq!(flow.connection(FLOW).unwrap().1.take_ack(500, 13 * MS).unwrap().round_trip, None);
        assert_eq!(ack(&mut flow, 1, 15), Some((5, 5)));
        assert_eq!(ack(&mut flow, 3, 16), None, "no further one was on its way");
        send(&mut flow, 3, 20);
        assert_eq!(ack(&mut flow, 4, 28), Some((8, 5)));
        send(&mut flow, 4, 30);
        flow.connection(FLOW).unwrap().1.note_sent_again();
        assert_eq!(ack(&mut flow, 5, 31), None, "it was sent again");
        send(&mut flow, 5, 40);
        assert_eq!(ack(&mut flow, 6, 43), Some((3, 3)));
        send(&mut flow, 6, 50);
        send(&mut flow, 7, 1050);
        assert_eq!(ack(&mut flow, 8, 1060), Some((10, 3)), "the one before is not waited for any more");
        send(&mut flow, 8, 10_035);
        assert_eq!(ack(&mut flow, 9, 10_043), Some((8, 8)), "the shortest was ten seconds ago");
    }

    #[test]
    fn what_our_own_backlog_explains_is_no_queue() {
        let mut flow = Flow::default();
        let mut trip = |number: u32, wait: u64, wire_ns: u64, took: u64| {
            let now = 1000 * MS + 10 * MS * u64::from(number);
            flow.take(HOST, &Look { member: id(0), start: now + wait, wire_ns }, now);
            flow.note_sent(&segment(FLOW, 1000 * number, 1000), id(0), now);
            let (_, connection) = flow.connection(FLOW).unwrap();
            let trip = connection.take_ack(1000 * number + 1000, now + took).unwrap().round_trip.unwrap();
            assert_eq!((trip.left, trip.took), (now, took));
            (trip.queued, trip.counts)
        };
        assert_eq!(trip(0, 0, SAMPLED_NS - 1, MS), (0, false));
        assert_eq!(trip(1, MS, 1, 4 * MS), (2 * MS, true));
        assert_eq!(trip(2, 7 * MS, 0, 4 * MS), (0, false), "a new window");
    }
}
