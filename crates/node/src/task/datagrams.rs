//! Numbered datagrams at a given rate, whatever carries them.
//!
//! The sender keeps to a schedule. Where it wakes up late it sends what is due at
//! once, some datagrams in a row; what is more than [`CATCH_UP`] late it leaves
//! out, and the count of datagrams sent tells that the machine could not. The
//! receiver tells from the numbers what was lost, came out of order, or twice.

use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nicteam_record::measure::Counted;
use nicteam_record::{Connection, ConnectionSample, Datagrams as Figures};
use serde::Deserialize;

use super::gate::Gate;
use super::kind::{self, Kind};
use crate::error::Failure;
use crate::lock;
use crate::protocol::{ConnectionSpec, Role};

/// How far behind its schedule a sender sends on without leaving datagrams out.
const CATCH_UP: Duration = Duration::from_millis(20);
/// How long a receiver waits before it looks whether the traffic is over.
pub(super) const READ_TIMEOUT: Duration = Duration::from_millis(100);
/// Bytes of a number at the beginning of each datagram.
const NUMBER_BYTES: usize = 8;
/// The longest datagram that there is, bytes.
const LONGEST_BYTES: usize = 1 << 16;

/// Opens one end of a connection, whose tags have this priority.
pub(super) type Open = fn(Role, &ConnectionSpec, u8) -> Result<Box<dyn Carrier>, Failure>;

/// A kind of traffic that is datagrams.
#[derive(Debug)]
pub(super) struct Datagrams {
    pub(super) name: &'static str,
    pub(super) open: Open,
}

/// What carries the datagrams of one end of a connection.
pub(super) trait Carrier: fmt::Debug + Send + Sync {
    /// Sends one with this payload. One that is refused is as lost as one on the way.
    fn send(&self, payload: &[u8]);

    /// Waits for one, [`READ_TIMEOUT`] at most.
    ///
    /// # Errors
    /// `WouldBlock` or `TimedOut` if none came.
    fn receive(&self, buffer: &mut Vec<u8>) -> io::Result<Arrival>;
}

/// A datagram that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Its payload.
    pub(super) bytes: u64,
    /// Its number, if it is as long as one.
    pub(super) number: Option<u64>,
}

impl Arrival {
    /// One with so many bytes, of which these are the first.
    pub(super) fn of(bytes: u64, first: &[u8]) -> Arrival {
        Arrival { bytes, number: first.first_chunk::<NUMBER_BYTES>().map(|number| u64::from_be_bytes(*number)) }
    }
}

/// What both ends have to know ([`nicteam_experiment::Task::each`]).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    /// From one datagram to the next.
    interval_ns: u64,
    /// Payload.
    size_bytes: u32,
    /// Priority of the tag, if it has one.
    #[serde(default)]
    pcp: u8,
}

impl Kind for Datagrams {
    fn name(&self) -> &'static str {
        self.name
    }

    fn at_agent(&self) -> Box<dyn kind::Ends> {
        Box::new(Ends { open: self.open, ends: Mutex::default(), gate: Arc::default() })
    }

    fn figures(&self, _spec: &ConnectionSpec, counted: &Counted<'_>, connection: &mut Connection) {
        let sent = counted.sent(|sample| sample.datagrams.map_or(0, |datagrams| datagrams.sent));
        let received = |field: fn(&Figures) -> u64| {
            let of = |sample: &ConnectionSample| sample.datagrams.as_ref().map_or(0, field);
            counted.received(of).round().max(0.0) as u64
        };
        connection.transport = "udp".to_owned();
        connection.datagrams = Some(Figures {
            sent: sent.round() as u64,
            received: received(|datagrams| datagrams.received),
            lost: received(|datagrams| datagrams.lost),
            reordered: received(|datagrams| datagrams.reordered),
            duplicated: received(|datagrams| datagrams.duplicated),
            longest_silence_us: counted
                .received_most(|sample| sample.datagrams.map_or(0, |datagrams| datagrams.longest_silence_us)),
        });
    }
}

/// The ends at an agent.
#[derive(Debug)]
struct Ends {
    open: Open,
    ends: Mutex<Vec<Arc<End>>>,
    gate: Arc<Gate>,
}

/// One end of a connection.
#[derive(Debug)]
struct End {
    index: u32,
    carrier: Box<dyn Carrier>,
    counted: Mutex<Counts>,
}

/// What one end counted.
#[derive(Debug, Default)]
struct Counts {
    sent: u64,
    received_bytes: u64,
    order: Option<Order>,
    last_arrival: Option<Instant>,
    /// Since the last sample.
    longest_silence: Duration,
}

impl Counts {
    /// Notes that something arrived, or that it has not so far.
    fn look(&mut self, now: Instant, has_arrived: bool) {
        if let Some(last) = self.last_arrival {
            self.longest_silence = self.longest_silence.max(now - last);
        }
        if has_arrived {
            self.last_arrival = Some(now);
        }
    }
}

impl kind::Ends for Ends {
    fn prepare(&self, role: Role, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        connections.iter().try_for_each(|spec| self.open(role, spec))
    }

    fn start(&self) -> Result<(), Failure> {
        self.gate.let_through();
        Ok(())
    }

    fn stop(&self) {
        self.gate.stop();
    }

    fn sample(&self) -> Vec<ConnectionSample> {
        lock(&self.ends).iter().map(|end| end.sample()).collect()
    }
}

impl Ends {
    /// Opens one end of a connection.
    fn open(&self, role: Role, spec: &ConnectionSpec) -> Result<(), Failure> {
        let Each { interval_ns, size_bytes, pcp } =
            Each::deserialize(&spec.each).map_err(|error| format!("a connection without datagrams: {error}"))?;
        let is_client = role == Role::Client;
        let carrier = (self.open)(role, spec, pcp)?;
        let sends = spec.client_sends == is_client;
        let order = (!sends).then(Order::default);
        let counted = Mutex::new(Counts { order, ..Counts::default() });
        let end = Arc::new(End { index: spec.index, carrier, counted });
        lock(&self.ends).push(Arc::clone(&end));
        let gate = Arc::clone(&self.gate);
        let interval = Duration::from_nanos(interval_ns);
        std::thread::Builder::new().name(format!("datagrams {}", spec.index)).spawn(move || match sends {
            true => end.send(&gate, interval, size_bytes as usize),
            false => end.receive(&gate),
        })?;
        Ok(())
    }
}

impl End {
    /// Sends on schedule until the traffic is over.
    fn send(&self, gate: &Gate, interval: Duration, size_bytes: usize) {
        gate.wait();
        let mut datagram = vec![0x5a; size_bytes.max(NUMBER_BYTES)];
        let (mut number, mut due) = (0_u64, Instant::now());
        while !gate.is_stopped() {
            let now = Instant::now();
            if due > now {
                std::thread::sleep(due - now);
                continue;
            }
            if now - due > CATCH_UP {
                due = now;
            }
            datagram[..NUMBER_BYTES].copy_from_slice(&number.to_be_bytes());
            self.carrier.send(&datagram);
            number += 1;
            due += interval;
            lock(&self.counted).sent = number;
        }
    }

    /// Counts what arrives until the traffic is over.
    fn receive(&self, gate: &Gate) {
        let mut buffer = vec![0; LONGEST_BYTES];
        while !gate.is_stopped() {
            match self.carrier.receive(&mut buffer) {
                Ok(Arrival { bytes, number }) => {
                    let mut counted = lock(&self.counted);
                    counted.look(Instant::now(), true);
                    let is_copy = match (&mut counted.order, number) {
                        (Some(order), Some(number)) => !order.take(number),
                        _ => false,
                    };
                    // What came once more is no payload.
                    counted.received_bytes += if is_copy { 0 } else { bytes };
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionRefused) => {}
                Err(_) => return,
            }
        }
    }

    fn sample(&self) -> ConnectionSample {
        let mut counted = lock(&self.counted);
        counted.look(Instant::now(), false);
        let longest_silence_us = std::mem::take(&mut counted.longest_silence).as_micros() as u64;
        let order = counted.order.as_ref();
        let datagrams = Figures {
            sent: counted.sent,
            received: order.map_or(0, |order| order.received),
            lost: order.map_or(0, Order::lost),
            reordered: order.map_or(0, |order| order.reordered),
            duplicated: order.map_or(0, |order| order.duplicated),
            longest_silence_us,
        };
        ConnectionSample {
            index: self.index,
            received_bytes: counted.received_bytes,
            datagrams: Some(datagrams),
            ..ConnectionSample::default()
        }
    }
}

/// What the numbers of datagrams say, in the order of their arrival.
#[derive(Debug)]
struct Order {
    /// The number that comes next if all is well: the highest so far and one.
    next: u64,
    /// Of the last numbers below it, which have arrived; by number modulo its length.
    seen: Vec<bool>,
    received: u64,
    reordered: u64,
    duplicated: u64,
}

/// How far back a number is known to have arrived.
const REMEMBERED: usize = 1 << 16;

impl Default for Order {
    fn default() -> Order {
        Order { next: 0, seen: vec![false; REMEMBERED], received: 0, reordered: 0, duplicated: 0 }
    }
}

impl Order {
    /// Takes an arrival in; false if this number had come before.
    fn take(&mut self, number: u64) -> bool {
        let place = (number % REMEMBERED as u64) as usize;
        if number >= self.next {
            for skipped in self.next.max(number.saturating_sub(REMEMBERED as u64))..number {
                self.seen[(skipped % REMEMBERED as u64) as usize] = false;
            }
            self.next = number + 1;
        } else if self.next - number <= REMEMBERED as u64 && self.seen[place] {
            self.duplicated += 1;
            return false;
        } else {
            self.reordered += 1;
        }
        self.seen[place] = true;
        self.received += 1;
        true
    }

    /// Numbers below the highest that have not arrived.
    fn lost(&self) -> u64 {
        self.next.saturating_sub(self.received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(numbers: &[u64]) -> (u64, u64, u64, u64) {
        let mut order = Order::default();
        let new = numbers.iter().filter(|number| order.take(**number)).count();
        assert_eq!(new as u64, order.received);
        (order.received, order.lost(), order.reordered, order.duplicated)
    }

    #[test]
    fn what_became_of_datagrams_is_told_from_their_numbers() {
        assert_eq!(order(&[0, 1, 2, 3]), (4, 0, 0, 0));
        assert_eq!(order(&[0, 2, 1, 3]), (4, 0, 1, 0));
        assert_eq!(order(&[0, 3, 3, 1]), (3, 1, 1, 1));
        assert_eq!(order(&[5]), (1, 5, 0, 0));
        assert_eq!(order(&[]), (0, 0, 0, 0));
    }

    #[test]
    fn a_number_is_forgotten_in_time() {
        let far = REMEMBERED as u64;
        // The place of 0 is that of `far`; the one that was skipped is no duplicate.
        assert_eq!(order(&[0, far + 1, far]), (3, far - 1, 1, 0));
        // An arbitrary jump is taken in a bounded time.
        assert_eq!(order(&[0, u64::MAX - 1]), (2, u64::MAX - 2, 0, 0));
    }
}
