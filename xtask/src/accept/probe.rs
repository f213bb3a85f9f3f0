//! Numbered datagrams, a thousand a second, and when each of them arrived.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;

use crate::failure::Failure;

/// When each datagram was sent, and when the kernel had it from its device, if it arrived: who listens may be woken late.
pub(super) struct Course {
    datagrams: Vec<(Instant, Option<Instant>)>,
}

/// What a fault cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// Datagrams that did not arrive.
    pub(super) lost: usize,
    /// The longest time from the sending of a datagram until that one or a later
    /// one arrived, milliseconds.
    pub(super) silence_ms: f64,
    /// From the first datagram that was lost to the last one, milliseconds.
    pub(super) losing_ms: f64,
}

const INTERVAL: Duration = Duration::from_millis(1);
/// What has not arrived by then is lost.
const LATE: Duration = Duration::from_millis(300);
const READ_TIMEOUT: Duration = Duration::from_millis(50);

/// Sends from the one to the other while `during` goes on.
pub(super) fn watch<T>(
    [from, to]: &[UdpSocket; 2],
    during: impl FnOnce() -> Result<T, Failure>,
) -> Result<(Course, T), Failure> {
    to.set_read_timeout(Some(READ_TIMEOUT)).map_err(Failure::failed)?;
    setsockopt(to, sockopt::ReceiveTimestampns, &true).map_err(Failure::failed)?;
    // What is left of an earlier course.
    while to.recv(&mut [0; 8]).is_ok() {}
    let (sent_all, heard_all) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let sending = scope.spawn(|| send(from, &sent_all));
        let hearing = scope.spawn(|| hear(to, &heard_all));
        let done = during();
        sent_all.store(true, Ordering::SeqCst);
        let sent = sending.join().unwrap_or_default();
        thread::sleep(LATE);
        heard_all.store(true, Ordering::SeqCst);
        let heard = hearing.join().unwrap_or_default();
        Ok((Course::of(&sent, &heard), done?))
    })
}

impl Course {
    fn of(sent: &[Instant], heard: &[(u64, Instant)]) -> Course {
        let mut datagrams: Vec<(Instant, Option<Instant>)> = sent.iter().map(|at| (*at, None)).collect();
        for (number, at) in heard {
            if let Some((_, arrived)) = datagrams.get_mut(*number as usize) {
                arrived.get_or_insert(*at);
            }
        }
        Course { datagrams }
    }

    /// How many were sent.
    pub(super) fn sent(&self) -> usize {
        self.datagrams.len()
    }

    /// How many of them did not arrive.
    pub(super) fn lost(&self) -> usize {
        self.datagrams.iter().filter(|(_, arrived)| arrived.is_none()).count()
    }

    /// What those that were sent from the one moment to the other met.
    pub(super) fn cost(&self, from: Instant, to: Instant) -> Cost {
        let mut cost = Cost::default();
        // From the last to the first: the earliest arrival of that one or a later one.
        let mut next: Option<Instant> = None;
        let mut last_lost: Option<Instant> = None;
        let first = self.datagrams.partition_point(|(sent, _)| *sent < from);
        for (sent, arrived) in self.datagrams[first..].iter().rev() {
            next = [*arrived, next].into_iter().flatten().min();
            if (from..to).contains(sent) {
                if arrived.is_none() {
                    cost.lost += 1;
                    let last = *last_lost.get_or_insert(*sent);
                    cost.losing_ms = (last - *sent).as_secs_f64() * 1e3;
                }
                let silent = next.map_or(f64::INFINITY, |next| (next - *sent).as_secs_f64() * 1e3);
                cost.silence_ms = cost.silence_ms.max(silent);
            }
        }
        cost
    }
}

fn send(from: &UdpSocket, stop: &AtomicBool) -> Vec<Instant> {
    let (start, mut sent) = (Instant::now(), Vec::new());
    while !stop.load(Ordering::SeqCst) {
        sent.push(Instant::now());
        // What cannot even be sent is as lost as what does not arrive.
        let _ = from.send(&(sent.len() as u64 - 1).to_be_bytes());
        let due = start + INTERVAL * sent.len() as u32;
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    sent
}

fn hear(to: &UdpSocket, stop: &AtomicBool) -> Vec<(u64, Instant)> {
    let mut heard = Vec::new();
    // The kernel's stamps are of the clock that is set, and so is what they are compared with.
    let start = (Instant::now(), SystemTime::now());
    while !stop.load(Ordering::SeqCst) {
        heard.extend(hear_one(to, start));
    }
    heard
}

/// The next datagram, and when it arrived; nothing if none came in time.
fn hear_one(to: &UdpSocket, (start, start_by_date): (Instant, SystemTime)) -> Option<(u64, Instant)> {
    let mut number = [0; 8];
    let mut control = cmsg_space!(TimeSpec);
    let mut parts = [IoSliceMut::new(&mut number)];
    let message = recvmsg::<()>(to.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty()).ok()?;
    let stamp = message.cmsgs().ok()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
        _ => None,
    })?;
    let at = (SystemTime::UNIX_EPOCH + stamp).duration_since(start_by_date).unwrap_or_default();
    Some((u64::from_be_bytes(number), start + at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_lasts_from_the_first_lost_one_to_the_next_arrival() {
        let start = Instant::now();
        let ms = |ms: u64| start + Duration::from_millis(ms);
        let sent: Vec<Instant> = (0..10).map(ms).collect();
        // 3 and 4 are lost; 6 overtakes 5.
        let heard = [(0, ms(0)), (1, ms(1)), (2, ms(2)), (6, ms(6)), (5, ms(8)), (7, ms(8)), (8, ms(8)), (9, ms(9))];
        let course = Course::of(&sent, &heard);
        assert_eq!((course.sent(), course.lost()), (10, 2));
        assert_eq!(course.cost(ms(0), ms(10)), Cost { lost: 2, silence_ms: 3.0, losing_ms: 1.0 });
        assert_eq!(course.cost(ms(5), ms(10)), Cost { lost: 0, silence_ms: 1.0, losing_ms: 0.0 });
        let nothing = Course::of(&sent, &[]);
        assert_eq!(nothing.cost(ms(0), ms(10)), Cost { lost: 10, silence_ms: f64::INFINITY, losing_ms: 9.0 });
    }
}
