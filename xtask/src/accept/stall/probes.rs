//! Numbered datagrams, a thousand a second.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// How many datagrams were sent, and how many of them arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) sent: u64,
    pub(super) arrived: u64,
}

const INTERVAL: Duration = Duration::from_millis(1);
/// What has not arrived by then is lost.
const LATE: Duration = Duration::from_millis(500);
const READ_TIMEOUT: Duration = Duration::from_millis(50);

/// Sends from the one to the other while `during` goes on.
pub(super) fn count<T>(
    (from, to): (&UdpSocket, &UdpSocket),
    during: impl FnOnce() -> Result<T, Failure>,
) -> Result<(Count, T), Failure> {
    to.set_read_timeout(Some(READ_TIMEOUT)).map_err(Failure::failed)?;
    let (sent_all, heard_all) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let sending = scope.spawn(|| send(from, &sent_all));
        let hearing = scope.spawn(|| hear(to, &heard_all));
        let done = during();
        sent_all.store(true, Ordering::SeqCst);
        let sent = sending.join().unwrap_or(0);
        thread::sleep(LATE);
        heard_all.store(true, Ordering::SeqCst);
        let arrived = hearing.join().unwrap_or(0);
        done.map(|done| (Count { sent, arrived }, done))
    })
}

fn send(from: &UdpSocket, stop: &AtomicBool) -> u64 {
    let (start, mut sent) = (Instant::now(), 0_u64);
    while !stop.load(Ordering::SeqCst) {
        // What cannot even be sent is as lost as what does not arrive.
        let _ = from.send(&sent.to_be_bytes());
        sent += 1;
        let due = start + Duration::from_millis(sent * INTERVAL.as_millis() as u64);
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    sent
}

fn hear(to: &UdpSocket, stop: &AtomicBool) -> u64 {
    let (mut buffer, mut arrived) = ([0; 8], 0);
    while !stop.load(Ordering::SeqCst) {
        arrived += u64::from(to.recv(&mut buffer).is_ok());
    }
    arrived
}
