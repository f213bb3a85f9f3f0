//! Gaps in a TCP stream that only the order of frames makes: the team delays the reports of them.
//!
//! A receiver reports every gap at once by SACK ([`GapReport`]). The sender takes the missing segments for lost when
//! segments that it sent a little later have arrived. With striped frames that happens whenever one of them waited a
//! little longer than the next. The sender then retransmits what is still under way, and halves its window. But
//! nothing is lost: the receiver keeps the early segments until the missing ones arrive. So the team suppresses the report
//! of a gap until the gap is as old as the team's `sack_delay`. It drops an acknowledgement that says nothing else, and
//! sends another one without the report. Most gaps have closed by then. A real loss is reported after that time.
//!
//! A real loss is reported earlier when frames show it, because frames on one path seldom overtake each other. Once
//! each path by which the connection's frames come has brought two frames from behind the gap, hardly anything can
//! still close it, and it is reported at half that age. For this the team notes the path of each frame that is long
//! enough to carry data.
//!
//! The age of a gap counts from the first report with its number. A sender that has nothing more to send gets no
//! further reports after a loss. It asks by a tail loss probe (RFC 8985): a single segment, two milliseconds later or
//! more. So a report after a silence of half the delay passes. With a delay above four milliseconds that may be too
//! late, and the sender waits for its retransmission timer. A gap that was reported once stays reported: when the first
//! of two gaps closes, the report of the second is not suppressed again.
//!
//! A sender in loss recovery does not ask. It waits for the reports, also for suppressed ones, until its retransmission
//! timer expires. So once the report of a gap has passed because it was due, no report of that connection is suppressed
//! for as long again as the gap had lasted, not even the report of another gap.
//!
//! Each flow has a bucket by its hash. While the bucket belongs to another flow, all reports of this flow pass. That
//! ends when the other flow has reported nothing for a while.
//! Mirrored in `bpf/gaps.h`; a change here is a change there.

use std::time::Duration;

use nicteam_wire::{Frame, GapReport, Segment};

/// What nothing was heard of for so long after it was to be told leaves its bucket to another flow.
const FORGOTTEN: Duration = Duration::from_nanos(nicteam_machine::constants::GAP_FORGOTTEN_NS);
/// A path that brought nothing for one to two of these is none of the connection's.
const TURN: Duration = Duration::from_nanos(nicteam_machine::constants::GAP_TURN_NS);
/// A gap that was overtaken is reported at this part of its age, because no path keeps all of the order. So is a gap
/// that was not reported for as long: its sender has nothing more to send, and asks.
const SETTLED: u64 = nicteam_machine::constants::GAP_SETTLED;
/// Of the hash so many bits say which bucket.
const BUCKET_BITS: u32 = nicteam_machine::constants::GAP_BUCKET_BITS;
pub(super) const BUCKETS: usize = 1 << BUCKET_BITS;
/// Bytes behind the Ethernet header: shorter frames are acknowledgements, mostly, and are not noted.
pub(super) const SHORTEST: usize = nicteam_machine::constants::GAP_SHORTEST;

/// The gaps of all flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// By hash; empty until there is one.
    buckets: Vec<Gap>,
}

/// A gap that was reported, and the paths by which frames come.
#[derive(Clone, Copy, Debug, Default)]
struct Gap {
    /// Since when, nanoseconds; 0: there is none.
    since: u64,
    flow: u32,
    ack: u32,
    /// What the last report said besides, and when it came.
    window: u16,
    sequence: u32,
    heard: u64,
    /// Gaps before this number were told.
    told_to: u32,
    /// Until then nothing is kept back, nanoseconds.
    frank_until: u64,
    /// The paths that have brought something from behind it, and two.
    passed: u64,
    passed_twice: u64,
    /// Those that brought something at all since `turned`, and in the turn before, of all flows here.
    used: u64,
    used_before: u64,
    /// Nanoseconds.
    turned: u64,
}

/// What becomes of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It goes as it is.
    All,
    /// It goes without the gap.
    WithoutGap,
    /// It does not go.
    Nothing,
}

impl Gaps {
    /// What becomes of a report, where gaps are told when they are so old, nanoseconds.
    pub(super) fn tell(&mut self, report: &GapReport, delay: u64, now: u64) -> Told {
        let GapReport { flow, ack, sequence, end, window, is_bare, .. } = *report;
        let gap = self.bucket(flow);
        let (age, silence) = (now.saturating_sub(gap.since), now.saturating_sub(gap.heard));
        let is_free = gap.since == 0 || silence >= delay.saturating_add(FORGOTTEN.as_nanos() as u64);
        let is_mine = gap.since != 0 && gap.flow == flow;
        if is_mine && gap.ack == ack || is_mine && !is_free && is_ahead(gap.told_to, ack) {
            let says_more = !is_bare || (gap.window, gap.sequence) != (window, sequence);
            (gap.window, gap.sequence, gap.heard) = (window, sequence, now);
            let is_settled = age >= delay / SETTLED && gap.is_overtaken();
            let is_due = age >= delay || is_settled || silence >= delay / SETTLED;
            if is_due {
                gap.frank_until = now + age.min(FORGOTTEN.as_nanos() as u64);
            }
            // A report that is late itself has less.
            let is_newest = !is_ahead(gap.ack, ack);
            if !is_due && !is_ahead(gap.told_to, ack) && now >= gap.frank_until {
                return if says_more { Told::WithoutGap } else { Told::Nothing };
            }
            if is_newest && is_ahead(end, gap.told_to) {
                gap.told_to = end;
            }
            return Told::All;
        }
        let begins = is_free || is_mine && is_ahead(ack, gap.ack);
        if !begins {
            return Told::All;
        }
        let is_frank = is_mine && now < gap.frank_until;
        let fresh = Gap {
            since: now,
            flow,
            ack,
            window,
            sequence,
            heard: now,
            told_to: if is_frank { end } else { ack },
            frank_until: if is_mine { gap.frank_until } else { 0 },
            ..Gap::default()
        };
        *gap = Gap { used: gap.used, used_before: gap.used_before, turned: gap.turned, ..fresh };
        if is_frank { Told::All } else { Told::WithoutGap }
    }

    /// A frame came by a path: from this place among the peer's receivers, to this one of ours. Of more than
    /// eight members some paths count as one: what is lost is told too early then, at times.
    pub(super) fn note(&mut self, frame: &Frame<'_>, from: usize, to: usize, now: u64) {
        if frame.payload().len() < SHORTEST {
            return;
        }
        let Some(Segment { flow, sequence, .. }) = Segment::of(frame) else { return };
        let path = 1 << ((from * 8 + to) % 64);
        let gap = self.bucket(flow);
        let turn = TURN.as_nanos() as u64;
        let elapsed = now.saturating_sub(gap.turned);
        if elapsed >= turn {
            gap.used_before = if elapsed < 2 * turn { gap.used } else { 0 };
            (gap.used, gap.turned) = (0, now);
        }
        gap.used |= path;
        if gap.flow == flow && is_ahead(sequence, gap.ack) {
            gap.passed_twice |= gap.passed & path;
            gap.passed |= path;
        }
    }

    fn bucket(&mut self, flow: u32) -> &mut Gap {
        if self.buckets.is_empty() {
            self.buckets = vec![Gap::default(); BUCKETS];
        }
        &mut self.buckets[bucket(flow)]
    }
}

impl Gap {
    /// True if each path has brought two frames from behind it.
    fn is_overtaken(&self) -> bool {
        self.passed_twice != 0 && (self.used | self.used_before) & !self.passed_twice == 0
    }
}

/// Numbers of TCP wrap.
pub(super) fn is_ahead(number: u32, of: u32) -> bool {
    number.wrapping_sub(of) as i32 > 0
}

/// Ports differ in a few bits, wherever those stand in the word.
pub(super) fn bucket(flow: u32) -> usize {
    (flow.wrapping_mul(0x9e37_79b1) >> (u32::BITS - BUCKET_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;
    const DELAY: u64 = 3 * MS;

    /// Of a flow with these ports.
    fn report(ports: [u8; 4], ack: u32, window: u16, payload: &[u8]) -> GapReport {
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend(ports);
        frame.extend([0; 4]);
        frame.extend(ack.to_be_bytes());
        frame.extend([0x80, 0x10]);
        frame.extend(window.to_be_bytes());
        frame.extend([0, 0, 0, 0, 1, 1, 5, 10]);
        frame.extend(ack.wrapping_add(1000).to_be_bytes());
        frame.extend(ack.wrapping_add(2000).to_be_bytes());
        frame.extend(payload);
        GapReport::of(&Frame::parse(&frame).unwrap()).unwrap()
    }

    const PORTS: [u8; 4] = [0x9c, 0x40, 0x13, 0x89];

    fn at(ack: u32) -> GapReport {
        report(PORTS, ack, 500, &[])
    }

    /// It is reported each millisecond of these, and told to nobody.
    fn keep(gaps: &mut Gaps, ack: u32, delay: u64, ms: std::ops::Range<u64>) {
        for ms in ms {
            assert_eq!(gaps.tell(&at(ack), delay, ms * MS), Told::Nothing, "{ms} ms");
        }
    }

    #[test]
    fn a_gap_is_told_when_it_is_old_enough() {
        let mut gaps = Gaps::default();
        assert_eq!(gaps.tell(&at(1000), DELAY, MS), Told::WithoutGap, "its number may be new to the sender");
        keep(&mut gaps, 1000, DELAY, 1..4);
        assert_eq!(gaps.tell(&at(1000), DELAY, 4 * MS - 1), Told::Nothing);
        assert_eq!(gaps.tell(&at(1000), DELAY, 4 * MS), Told::All);
        assert_eq!(gaps.tell(&at(1000), DELAY, 40 * MS), Told::All);
        assert_eq!(gaps.tell(&at(1000), DELAY, 400 * MS), Told::All, "however long it lasts");
        assert_eq!(gaps.tell(&at(3000), DELAY, 500 * MS), Told::WithoutGap, "the next one");
    }

    #[test]
    fn who_asks_after_a_silence_is_told() {
        let mut gaps = Gaps::default();
        gaps.tell(&at(1000), 10 * MS, MS);
        keep(&mut gaps, 1000, 10 * MS, 2..4);
        assert_eq!(gaps.tell(&at(1000), 10 * MS, 8 * MS - 1), Told::Nothing);
        gaps.tell(&at(3000), 10 * MS, 9 * MS);
        assert_eq!(gaps.tell(&at(3000), 10 * MS, 14 * MS), Told::All);
        assert_eq!(gaps.tell(&at(3000), 10 * MS, 14 * MS + 1), Told::All, "and from then on");
    }

    #[test]
    fn what_was_told_is_not_kept_back_again() {
        let mut gaps = Gaps::default();
        gaps.tell(&at(1000), DELAY, MS);
        assert_eq!(gaps.tell(&at(1000), DELAY, 4 * MS), Told::All, "received: 2000 to 3000");
        assert_eq!(gaps.tell(&at(1500), DELAY, 4 * MS), Told::All, "a part of it closed");
        assert_eq!(gaps.tell(&at(2000), DELAY, 4 * MS), Told::All, "received: 3000 to 4000, too");
        for ms in [5, 100, 200] {
            assert_eq!(gaps.tell(&at(2999), DELAY, ms * MS), Told::All, "however long what was lost takes");
        }
        assert_eq!(gaps.tell(&at(3998), DELAY, 300 * MS), Told::All, "the gaps behind were told with it");
        assert_eq!(gaps.tell(&at(5998), DELAY, 400 * MS), Told::WithoutGap, "another gap, of which nobody has heard");
    }

    #[test]
    fn a_sender_in_loss_recovery_gets_every_report() {
        let mut gaps = Gaps::default();
        gaps.tell(&at(1000), DELAY, MS);
        assert_eq!(gaps.tell(&at(1000), DELAY, 4 * MS), Told::All, "3 ms old");
        assert_eq!(gaps.tell(&at(3000), DELAY, 5 * MS), Told::All, "what was sent before he heard of that");
        assert_eq!(gaps.tell(&at(3000), DELAY, 5 * MS), Told::All);
        assert_eq!(gaps.tell(&at(6000), DELAY, 7 * MS), Told::WithoutGap, "as long again as it lasted");
        assert_eq!(gaps.tell(&at(6000), DELAY, 8 * MS), Told::Nothing);
        assert_eq!(gaps.tell(&at(9000), DELAY, 8 * MS), Told::WithoutGap, "one that was told early does not count");
    }

    #[test]
    fn what_else_is_said_goes() {
        let mut gaps = Gaps::default();
        gaps.tell(&at(1000), DELAY, MS);
        assert_eq!(gaps.tell(&report(PORTS, 1000, 500, &[1, 2]), DELAY, MS), Told::WithoutGap);
        assert_eq!(gaps.tell(&report(PORTS, 1000, 900, &[]), DELAY, MS), Told::WithoutGap, "there is more room");
        assert_eq!(gaps.tell(&report(PORTS, 1000, 900, &[]), DELAY, MS), Told::Nothing);
        let mut probe = report(PORTS, 1000, 900, &[]);
        probe.sequence = u32::MAX;
        assert_eq!(gaps.tell(&probe, DELAY, MS), Told::WithoutGap, "it asks for something");
    }

    #[test]
    fn one_that_is_late_itself_goes() {
        let mut gaps = Gaps::default();
        gaps.tell(&at(u32::MAX - 5), DELAY, MS);
        assert_eq!(gaps.tell(&at(5), DELAY, 2 * MS), Told::WithoutGap, "numbers wrap");
        assert_eq!(gaps.tell(&at(u32::MAX - 5), DELAY, 2 * MS), Told::All);
        assert_eq!(gaps.tell(&at(5), DELAY, 2 * MS), Told::Nothing);
        let other = at(u32::MAX / 2 + 100);
        assert_eq!(gaps.tell(&other, DELAY, 3 * MS), Told::All, "another connection with the same ports");
        assert_eq!(gaps.tell(&other, DELAY, 106 * MS), Told::WithoutGap, "that has the bucket then");
    }

    #[test]
    fn of_two_flows_in_a_bucket_one_is_told_at_once() {
        let mut gaps = Gaps::default();
        let bucket = |ports: [u8; 4]| bucket(report(ports, 1, 1, &[]).flow);
        let mut others = (1..=u16::MAX).map(|port| [port.to_be_bytes(), [0x13, 0x89]].concat());
        let other = others.find(|ports| bucket(ports[..].try_into().unwrap()) == bucket(PORTS)).unwrap();
        let other = |ack| report(other[..].try_into().unwrap(), ack, 500, &[]);
        gaps.tell(&at(1000), DELAY, MS);
        assert_eq!(gaps.tell(&other(7), DELAY, MS), Told::All);
        assert_eq!(gaps.tell(&at(1000), DELAY, 2 * MS), Told::Nothing, "the first has what it had");
        assert_eq!(gaps.tell(&other(7), DELAY, 104 * MS), Told::All);
        assert_eq!(gaps.tell(&other(7), DELAY, 105 * MS), Told::WithoutGap);
        assert_eq!(gaps.tell(&at(1000), DELAY, 105 * MS), Told::All);
    }

    /// A frame of the peer's with this number.
    fn data(ports: [u8; 4], sequence: u32) -> Vec<u8> {
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1]);
        frame.extend([&ports[2..], &ports[..2]].concat());
        frame.extend(sequence.to_be_bytes());
        frame.extend([0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
        frame.resize(14 + SHORTEST, 7);
        frame
    }

    /// Frames with these numbers come by these paths.
    fn come(gaps: &mut Gaps, now: u64, frames: &[(u32, usize)]) {
        for &(sequence, path) in frames {
            gaps.note(&Frame::parse(&data(PORTS, sequence)).unwrap(), path, path, now);
        }
    }

    #[test]
    fn a_gap_that_all_paths_have_overtaken_twice_is_told_sooner() {
        const SETTLED_AT: u64 = MS + DELAY / SETTLED;
        let mut gaps = Gaps::default();
        come(&mut gaps, MS, &[(0, 0), (100, 1), (200, 2), (300, 3), (500, 1)]);
        assert_eq!(gaps.tell(&at(400), DELAY, MS), Told::WithoutGap);
        keep(&mut gaps, 400, DELAY, 2..3);
        come(&mut gaps, MS, &[(600, 2), (700, 1), (800, 3), (900, 1), (1000, 2), (1100, 3), (1200, 0)]);
        assert_eq!(gaps.tell(&at(400), DELAY, SETTLED_AT), Told::Nothing, "it may come by the first");
        come(&mut gaps, MS, &[(300, 0)]);
        assert_eq!(gaps.tell(&at(400), DELAY, SETTLED_AT), Told::Nothing, "that was behind");
        come(&mut gaps, MS, &[(1300, 0)]);
        assert_eq!(gaps.tell(&at(400), DELAY, SETTLED_AT - 1), Told::Nothing);
        assert_eq!(gaps.tell(&at(400), DELAY, SETTLED_AT), Told::All);
        const NEXT: u64 = 10 * MS;
        const NEXT_SETTLED_AT: u64 = NEXT + DELAY / SETTLED;
        assert_eq!(gaps.tell(&at(2400), DELAY, NEXT), Told::WithoutGap, "each gap anew");
        keep(&mut gaps, 2400, DELAY, 10..12);
        come(&mut gaps, NEXT, &[(2500, 0), (2600, 1), (2700, 2), (2800, 3)]);
        assert_eq!(gaps.tell(&at(2400), DELAY, NEXT_SETTLED_AT), Told::Nothing);
        come(&mut gaps, NEXT, &[(2900, 0), (3000, 1), (3100, 2), (3200, 3)]);
        assert_eq!(gaps.tell(&at(2400), DELAY, NEXT_SETTLED_AT), Told::All);
    }

    #[test]
    fn a_path_that_brings_nothing_any_more_is_not_waited_for() {
        const LONG: u64 = 100 * MS * SETTLED;
        let mut gaps = Gaps::default();
        come(&mut gaps, MS, &[(0, 0), (100, 1)]);
        gaps.tell(&at(300), LONG, MS);
        keep(&mut gaps, 300, LONG, 2..102);
        come(&mut gaps, 102 * MS, &[(200, 0)]);
        come(&mut gaps, 122 * MS, &[(400, 1), (500, 1)]);
        keep(&mut gaps, 300, LONG, 102..123);
        come(&mut gaps, 142 * MS, &[(600, 1)]);
        assert_eq!(gaps.tell(&at(300), LONG, 123 * MS), Told::All, "the other brought nothing for a turn");
    }

    #[test]
    fn connections_with_ports_in_a_row_have_buckets_of_their_own() {
        let bucket = |port: u16| {
            let [high, low] = port.to_be_bytes();
            bucket(report([high, low, 0x13, 0x89], 1, 1, &[]).flow)
        };
        let buckets: std::collections::BTreeSet<usize> = (40_000..40_064).map(bucket).collect();
        assert!(buckets.len() > 56, "{} of 64", buckets.len());
    }

    proptest! {
        /// A gap that stays is told as soon as it is old enough, whatever else is reported.
        #[test]
        fn no_gap_is_hidden_for_longer(reports in prop::collection::vec((0..6_u8, 0..4_u32, 0..2_000_u64), 1..200)) {
            let mut gaps = Gaps::default();
            let mut since = std::collections::BTreeMap::new();
            let (mut now, mut newest) = (MS, [0; 6]);
            for (flow, step, wait) in reports {
                now += wait * 1000;
                newest[usize::from(flow)] += step;
                let number = newest[usize::from(flow)] * 1000 + 1;
                let first = *since.entry((flow, number)).or_insert(now);
                let told = gaps.tell(&report([1, flow, 2, 2], number, 1, &[]), DELAY, now);
                prop_assert!(told == Told::All || now - first < DELAY || step > 0);
            }
        }
    }
}
