//! Gaps that the order of frames makes, and TCP is not told of.
//!
//! A receiver tells of every gap at once ([`GapReport`]), and who sends takes what is missing for lost
//! when what it sent a little later has arrived: of striped frames that is so
//! whenever one of them waited a little longer than the next. It sends again what is under way,
//! and halves its window. But the receiver has all it needs: it keeps what came early until
//! the rest is there. So what it says of a gap is not told the other end before the gap is as old as the team's
//! `sack_delay`: an acknowledgement that says nothing else stays here, another one goes without
//! it. Most gaps are closed by then. What is lost indeed is told after that time.
//!
//! A gap is as old as the first report with its number. Who sends nothing more after a loss is told nothing
//! more either: its next segment (a tail loss probe, RFC 8985) brings the answer.
//!
//! Flows have a bucket each by their hash. One that finds another's in its own is told everything at once,
//! until that one has told nothing for a while.
//! Mirrored in `bpf/gaps.h`; a change here is a change there.

use std::time::Duration;

use nicteam_wire::GapReport;

/// So long after a gap was to be told its bucket is another flow's.
const FORGOTTEN: Duration = Duration::from_millis(100);
/// Of the hash so many bits say which bucket.
const BUCKET_BITS: u32 = 10;

/// The gaps of all flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// By hash; empty until there is one.
    buckets: Vec<Gap>,
}

/// A gap that was reported.
#[derive(Clone, Copy, Debug, Default)]
struct Gap {
    /// Since when, nanoseconds; 0: there is none.
    since: u64,
    flow: u32,
    ack: u32,
    window: u16,
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
        if self.buckets.is_empty() {
            self.buckets = vec![Gap::default(); 1 << BUCKET_BITS];
        }
        let GapReport { flow, ack, window, is_bare, .. } = *report;
        // Ports differ in a few bits, wherever those stand in the word.
        let bucket = flow.wrapping_mul(0x9e37_79b1) >> (u32::BITS - BUCKET_BITS);
        let gap = &mut self.buckets[bucket as usize];
        let (age, is_same) = (now.saturating_sub(gap.since), gap.flow == flow);
        let is_free = gap.since == 0 || age >= delay.saturating_add(FORGOTTEN.as_nanos() as u64);
        if is_same && gap.ack == ack && gap.since != 0 {
            if age >= delay {
                return Told::All;
            }
            if is_bare && gap.window == window {
                return Told::Nothing;
            }
            gap.window = window;
            return Told::WithoutGap;
        }
        let is_newer = is_same && (ack.wrapping_sub(gap.ack) as i32) > 0;
        if !is_free && !is_newer {
            return Told::All;
        }
        *gap = Gap { since: now, flow, ack, window };
        Told::WithoutGap
    }
}

#[cfg(test)]
mod tests {
    use nicteam_wire::Frame;
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

    #[test]
    fn a_gap_is_told_when_it_is_old_enough() {
        let mut gaps = Gaps::default();
        assert_eq!(gaps.tell(&at(1000), DELAY, MS), Told::WithoutGap, "its number may be new to the sender");
        assert_eq!(gaps.tell(&at(1000), DELAY, MS), Told::Nothing);
        assert_eq!(gaps.tell(&at(1000), DELAY, 4 * MS - 1), Told::Nothing);
        assert_eq!(gaps.tell(&at(1000), DELAY, 4 * MS), Told::All);
        assert_eq!(gaps.tell(&at(1000), DELAY, 40 * MS), Told::All);
        assert_eq!(gaps.tell(&at(1000), DELAY, 400 * MS), Told::All, "however long it lasts");
        assert_eq!(gaps.tell(&at(2000), DELAY, 401 * MS), Told::WithoutGap, "the next one");
    }

    #[test]
    fn what_else_is_said_goes() {
        let mut gaps = Gaps::default();
        gaps.tell(&at(1000), DELAY, MS);
        assert_eq!(gaps.tell(&report(PORTS, 1000, 500, &[1, 2]), DELAY, MS), Told::WithoutGap);
        assert_eq!(gaps.tell(&report(PORTS, 1000, 900, &[]), DELAY, MS), Told::WithoutGap, "there is more room");
        assert_eq!(gaps.tell(&report(PORTS, 1000, 900, &[]), DELAY, MS), Told::Nothing);
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
        assert_eq!(gaps.tell(&other, DELAY, 105 * MS), Told::WithoutGap, "that has the bucket then");
    }

    #[test]
    fn of_two_flows_in_a_bucket_one_is_told_at_once() {
        let mut gaps = Gaps::default();
        let bucket = |ports: [u8; 4]| report(ports, 1, 1, &[]).flow.wrapping_mul(0x9e37_79b1) >> 22;
        let mut others = (1..=u16::MAX).map(|port| [port.to_be_bytes(), [0x13, 0x89]].concat());
        let other = others.find(|ports| bucket(ports[..].try_into().unwrap()) == bucket(PORTS)).unwrap();
        let other = |ack| report(other[..].try_into().unwrap(), ack, 500, &[]);
        gaps.tell(&at(1000), DELAY, MS);
        assert_eq!(gaps.tell(&other(7), DELAY, MS), Told::All);
        assert_eq!(gaps.tell(&at(1000), DELAY, 2 * MS), Told::Nothing, "the first has what it had");
        assert_eq!(gaps.tell(&other(7), DELAY, 103 * MS), Told::All);
        assert_eq!(gaps.tell(&other(7), DELAY, 104 * MS), Told::WithoutGap);
        assert_eq!(gaps.tell(&at(1000), DELAY, 104 * MS), Told::All);
    }

    #[test]
    fn connections_with_ports_in_a_row_have_buckets_of_their_own() {
        let bucket = |port: u16| {
            let [high, low] = port.to_be_bytes();
            report([high, low, 0x13, 0x89], 1, 1, &[]).flow.wrapping_mul(0x9e37_79b1) >> 22
        };
        let buckets: std::collections::BTreeSet<u32> = (40_000..40_064).map(bucket).collect();
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
