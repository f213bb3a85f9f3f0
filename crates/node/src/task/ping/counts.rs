//! What became of requests.

use std::time::Duration;

use nicteam_record::{Echo, EchoReply, Histogram, Probes, RoundTrips, TIMED_PAYLOAD_BYTES};

/// Of how many requests, the last ones, it is known what became of each: their numbers on the wire have 16 bits.
const REMEMBERED: usize = 1 << 16;
/// Answers that are recorded one by one.
const FIRST: usize = 10;

/// What became of requests; numbers are counted from 1.
#[derive(Debug)]
pub(super) struct Counts {
    has_time: bool,
    sent: u64,
    /// Of the last requests, by number modulo the length.
    requests: Vec<Request>,
    received: u64,
    duplicates: u64,
    reordered: u64,
    errors: u64,
    last_error: Option<String>,
    round_trips: RoundTrips,
    histogram: Histogram,
    most_outstanding: u64,
    first: Vec<EchoReply>,
    /// The highest number that was answered.
    highest: u64,
    silence: Silence,
    first_sent: Duration,
    last_sent: Duration,
    ended: bool,
}

/// One request.
#[derive(Clone, Copy, Debug, Default)]
struct Request {
    /// When it was sent, by the clock of the day.
    at: Duration,
    /// Answered, or refused.
    is_over: bool,
    answered: bool,
}

/// The longest time without an answer.
#[derive(Clone, Copy, Debug, Default)]
struct Silence {
    since: Duration,
    longest: Duration,
    from: Option<Duration>,
}

impl Silence {
    /// An answer came, or is missing until now.
    fn ends(&mut self, at: Duration) {
        let length = at.saturating_sub(self.since);
        if length > self.longest {
            (self.longest, self.from) = (length, Some(self.since));
        }
        self.since = self.since.max(at);
    }
}

impl Counts {
    /// None yet, with so much payload each.
    pub(super) fn new(payload_bytes: u32) -> Counts {
        Counts {
            has_time: payload_bytes >= TIMED_PAYLOAD_BYTES,
            sent: 0,
            requests: vec![Request::default(); REMEMBERED],
            received: 0,
            duplicates: 0,
            reordered: 0,
            errors: 0,
            last_error: None,
            round_trips: RoundTrips::default(),
            histogram: Histogram::default(),
            most_outstanding: 0,
            first: Vec::new(),
            highest: 0,
            silence: Silence::default(),
            first_sent: Duration::ZERO,
            last_sent: Duration::ZERO,
            ended: false,
        }
    }

    /// One is about to be sent, so long after the first was due; its number on the wire.
    pub(super) fn send(&mut self, t: Duration, at: Duration) -> u16 {
        self.sent += 1;
        if self.sent == 1 {
            (self.first_sent, self.silence.since) = (t, t);
        }
        self.last_sent = t;
        self.requests[self.sent as usize % REMEMBERED] = Request { at, ..Request::default() };
        self.most_outstanding = self.most_outstanding.max(1);
        self.sent as u16
    }

    /// An answer to a number on the wire, with so many bytes and hops left, came at that time of day.
    pub(super) fn receive(&mut self, sequence: u16, (bytes, ttl): (u32, u8), t: Duration, at: Duration) {
        // The last one with this number on the wire.
        let behind = u64::from((self.sent as u16).wrapping_sub(sequence));
        let Some(number) = self.sent.checked_sub(behind).filter(|number| *number > 0) else { return };
        let request = &mut self.requests[number as usize % REMEMBERED];
        let duplicate = std::mem::replace(&mut request.answered, true);
        let rtt_us = at.saturating_sub(request.at).as_micros() as u64;
        request.is_over = true;
        // What iputils calls its pipe: how many were under way when this one came back.
        self.most_outstanding = self.most_outstanding.max(behind + 1);
        if self.has_time {
            self.round_trips.add(rtt_us);
        }
        if self.first.len() < FIRST {
            self.first.push(EchoReply { sequence, bytes, ttl, rtt_us, duplicate });
        }
        if duplicate {
            self.duplicates += 1;
            return;
        }
        self.received += 1;
        self.histogram.add(rtt_us);
        self.silence.ends(t);
        self.reordered += u64::from(number < self.highest);
        self.highest = self.highest.max(number);
    }

    /// A request was refused, by this host or another.
    pub(super) fn refuse(&mut self, sequence: Option<u16>, words: String) {
        self.errors += 1;
        self.last_error = Some(words);
        if let Some(sequence) = sequence {
            let behind = u64::from((self.sent as u16).wrapping_sub(sequence));
            let number = self.sent.saturating_sub(behind);
            self.requests[number as usize % REMEMBERED].is_over = true;
            self.most_outstanding = self.most_outstanding.max(behind + 1);
        }
    }

    /// There are no more.
    pub(super) fn end(&mut self) {
        // What was lost at the end is missing until the last one was sent.
        self.silence.ends(self.last_sent);
        self.ended = true;
    }

    /// Requests so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// Whether there are no more.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Requests, of the last ones, of which nothing is known.
    pub(super) fn outstanding(&self) -> usize {
        let known = self.sent.min(REMEMBERED as u64);
        let open = |number: &u64| !self.requests[*number as usize % REMEMBERED].is_over;
        (self.sent - known + 1..=self.sent).filter(open).count()
    }

    /// What there is to record; hosts and addresses are for others to name.
    pub(super) fn probes(&self, index: u32) -> Probes {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let echo = Echo {
            took_ms: ms(self.last_sent.saturating_sub(self.first_sent)),
            received: self.received,
            duplicates: self.duplicates,
            reordered: self.reordered,
            errors: self.errors,
            last_error: self.last_error.clone(),
            round_trip: self.round_trips.summary(),
            most_outstanding: self.most_outstanding,
            first: self.first.clone(),
            ..Echo::default()
        };
        Probes {
            index,
            sent: self.sent,
            lost: self.sent.saturating_sub(self.received),
            longest_silence_ms: ms(self.silence.longest),
            silent_from_ms: self.silence.from.map(ms),
            round_trip: self.histogram.clone(),
            echo: Some(echo),
            ..Probes::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// So many requests, 10 ms apart, the first at 0.
    fn sent(count: u64) -> Counts {
        let mut counts = Counts::new(56);
        for number in 0..count {
            assert_eq!(counts.send(ms(10 * number), ms(1000 + 10 * number)), (number + 1) as u16);
        }
        counts
    }

    fn answer(counts: &mut Counts, sequence: u16, at: u64) {
        counts.receive(sequence, (64, 63), ms(at), ms(1000 + at));
    }

    #[test]
    fn losses_duplicates_and_order_are_told_apart() {
        let mut counts = sent(5);
        for (sequence, at) in [(1, 41), (3, 42), (2, 43), (3, 44), (9, 45)] {
            answer(&mut counts, sequence, at);
        }
        assert_eq!(counts.outstanding(), 2);
        counts.end();
        let probes = counts.probes(7);
        let echo = probes.echo.unwrap();
        assert_eq!((probes.index, probes.sent, probes.lost), (7, 5, 2));
        assert_eq!((echo.received, echo.duplicates, echo.reordered), (3, 1, 1));
        assert_eq!(echo.took_ms, 40.0);
        assert_eq!(echo.most_outstanding, 5, "the first came back when five were under way");
        let times: Vec<u64> = echo.first.iter().map(|reply| reply.rtt_us).collect();
        assert_eq!(times, [41_000, 22_000, 33_000, 24_000]);
        assert_eq!(probes.round_trip.count, 3);
        assert_eq!(echo.round_trip.unwrap().avg_us, 30_000, "of all four answers, as ping has it");
    }

    #[test]
    fn the_longest_silence_has_a_beginning() {
        let mut counts = sent(3);
        answer(&mut counts, 1, 21);
        answer(&mut counts, 2, 22);
        counts.send(ms(300), ms(1300));
        counts.end();
        let probes = counts.probes(0);
        assert_eq!((probes.longest_silence_ms, probes.silent_from_ms), (278.0, Some(22.0)));
    }

    #[test]
    fn numbers_on_the_wire_come_again() {
        let mut counts = sent(REMEMBERED as u64 + 3);
        // 2 on the wire is the last but one; what had that number before is forgotten.
        answer(&mut counts, 2, 10 * (REMEMBERED as u64 + 3));
        assert_eq!(counts.highest, REMEMBERED as u64 + 2);
        // The oldest that is known.
        answer(&mut counts, 4, 10 * (REMEMBERED as u64 + 3));
        assert_eq!((counts.received, counts.reordered), (2, 1));
        // There is no such number yet.
        let mut few = sent(2);
        answer(&mut few, 3, 25);
        assert_eq!(few.received, 0);
    }

    #[test]
    fn what_is_refused_is_waited_for_no_longer() {
        let mut counts = sent(2);
        counts.refuse(Some(2), "ping: local error: message too long, mtu=1500".to_owned());
        assert_eq!(counts.outstanding(), 1);
        let echo = counts.probes(0).echo.unwrap();
        assert_eq!((echo.errors, echo.last_error.is_some()), (1, true));
    }
}
