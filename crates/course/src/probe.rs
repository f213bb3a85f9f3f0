//! Traffic from outside: echo requests to each address, and which came back.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_sys::echo::{Between, EchoSocket, Fragmentation, Question};
use nicteam_sys::netns::NetNs;

use crate::failure::Failure;

/// Between two requests to an address, where none may be lost: a thousand a second.
pub(super) const DENSE: Duration = Duration::from_millis(1);
/// The same where there is a silence to be timed, and the guest has much else to do.
pub(super) const SPARSE: Duration = Duration::from_millis(20);
/// What is not answered by then is lost: an emulated processor may stand still for a while.
const LATE: Duration = Duration::from_secs(2);
const LISTEN_PAUSE: Duration = Duration::from_micros(500);
/// Bytes of the longest answer ([`EchoSocket::receive`]).
const LONGEST: usize = 64 << 10;

/// An address that is asked; the kernel of its host answers, no program is needed there.
pub(super) struct Probe {
    socket: EchoSocket,
}

/// What became of the requests to one address.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Course {
    requests: Vec<Request>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Request {
    sent: Instant,
    answered: Option<Instant>,
    answers: u32,
}

/// What something cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// Requests sent.
    pub(super) sent: usize,
    /// Those that were not answered.
    pub(super) lost: usize,
    /// Answers beyond the first.
    pub(super) duplicates: u64,
    /// The longest time without an answer, milliseconds; infinite if there was none until the end.
    pub(super) silence_ms: f64,
    /// When it began, milliseconds after the first request.
    pub(super) silent_from_ms: f64,
}

impl Probe {
    /// Asks this address from a namespace.
    pub(super) fn new(netns: &NetNs, to: IpAddr) -> Result<Probe, Failure> {
        let open = || EchoSocket::open(Between { to, from: None, device: None }, Fragmentation::Allowed);
        Ok(Probe { socket: netns.run(open)?? })
    }

    /// True if it answers now.
    pub(super) fn is_answered(&self) -> bool {
        let mut buffer = vec![0; LONGEST];
        // A request that cannot even be sent has no answer either.
        let _ = self.socket.send(Question::Echo, 0, &u64::MAX.to_be_bytes());
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(500) {
            if let Ok(Some(_)) = self.socket.receive(&mut buffer) {
                return true;
            }
            thread::sleep(LISTEN_PAUSE);
        }
        false
    }

    fn hear(&self, stop: &AtomicBool) -> Vec<(u64, Instant)> {
        let (mut heard, mut buffer) = (Vec::new(), vec![0; LONGEST]);
        while !stop.load(Ordering::SeqCst) {
            match self.socket.receive(&mut buffer) {
                Ok(Some(reply)) => {
                    let number = reply.payload.first_chunk().copied().map(u64::from_be_bytes);
                    heard.extend(number.map(|number| (number, Instant::now())));
                }
                _ => thread::sleep(LISTEN_PAUSE),
            }
        }
        heard
    }
}

/// Asks all of them, as often as this, while `during` goes on; what became of the requests to each.
pub(super) fn watch<T>(
    probes: &[Probe],
    interval: Duration,
    during: impl FnOnce() -> Result<T, Failure>,
) -> Result<(Vec<Course>, T), Failure> {
    let (sent_all, heard_all) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let hearing: Vec<_> = probes.iter().map(|probe| scope.spawn(|| probe.hear(&heard_all))).collect();
        let sending = scope.spawn(|| send(probes, interval, &sent_all));
        let done = during();
        sent_all.store(true, Ordering::SeqCst);
        let sent = sending.join().unwrap_or_default();
        thread::sleep(LATE);
        heard_all.store(true, Ordering::SeqCst);
        let heard = hearing.into_iter().map(|hearing| hearing.join().unwrap_or_default());
        let courses = heard.map(|heard| Course::of(&sent, &heard)).collect();
        Ok((courses, done?))
    })
}

fn send(probes: &[Probe], interval: Duration, stop: &AtomicBool) -> Vec<Instant> {
    let (start, mut sent) = (Instant::now(), Vec::new());
    while !stop.load(Ordering::SeqCst) {
        let number = sent.len() as u64;
        sent.push(Instant::now());
        for probe in probes {
            // What cannot even be sent is as lost as what is not answered.
            let _ = probe.socket.send(Question::Echo, number as u16, &number.to_be_bytes());
        }
        let due = start + interval * sent.len() as u32;
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    sent
}

impl Course {
    fn of(sent: &[Instant], heard: &[(u64, Instant)]) -> Course {
        let asked = |sent: &Instant| Request { sent: *sent, answered: None, answers: 0 };
        let mut requests: Vec<Request> = sent.iter().map(asked).collect();
        for (number, at) in heard {
            if let Some(request) = requests.get_mut(*number as usize) {
                request.answered.get_or_insert(*at);
                request.answers += 1;
            }
        }
        Course { requests }
    }

    /// What it cost, on the whole.
    pub(super) fn cost(&self) -> Cost {
        let mut cost = Cost { sent: self.requests.len(), ..Cost::default() };
        // From the last to the first: the earliest answer to that one or a later one.
        let mut next: Option<Instant> = None;
        for Request { sent, answered, answers } in self.requests.iter().rev() {
            next = [*answered, next].into_iter().flatten().min();
            cost.lost += usize::from(answered.is_none());
            cost.duplicates += u64::from(answers.saturating_sub(1));
            let silent = next.map_or(f64::INFINITY, |next| (next - *sent).as_secs_f64() * 1e3);
            // The same length before: where no answer ends it, it began earlier.
            if silent >= cost.silence_ms {
                cost.silence_ms = silent;
                cost.silent_from_ms = (*sent - self.requests[0].sent).as_secs_f64() * 1e3;
            }
        }
        cost
    }
}

impl Cost {
    /// Both together.
    pub(super) fn and(self, other: Cost) -> Cost {
        let longer = if other.silence_ms > self.silence_ms { other } else { self };
        Cost {
            sent: self.sent + other.sent,
            lost: self.lost + other.lost,
            duplicates: self.duplicates + other.duplicates,
            silence_ms: longer.silence_ms,
            silent_from_ms: longer.silent_from_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_and_what_comes_twice_is_counted() {
        let start = Instant::now();
        let ms = |ms: u64| start + Duration::from_millis(ms);
        let sent: Vec<Instant> = (0..6).map(ms).collect();
        // 2 and 3 are lost, 4 comes twice, 9 was never asked.
        let course = Course::of(&sent, &[(0, ms(1)), (1, ms(2)), (4, ms(6)), (4, ms(7)), (5, ms(8)), (9, ms(9))]);
        let cost = Cost { sent: 6, lost: 2, duplicates: 1, silence_ms: 4.0, silent_from_ms: 2.0 };
        assert_eq!(course.cost(), cost);
        assert_eq!(cost.and(Cost { sent: 1, ..Cost::default() }), Cost { sent: 7, ..cost });
        let ended = Course::of(&sent, &[(0, ms(1)), (1, ms(2))]).cost();
        assert_eq!((ended.silence_ms, ended.silent_from_ms), (f64::INFINITY, 2.0));
        assert_eq!(Course::default().cost(), Cost::default());
    }
}
