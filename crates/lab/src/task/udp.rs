//! `udp`: numbered datagrams at a given rate.
//!
//! The sender keeps to a schedule. Where it wakes up late it sends what is due at
//! once, some datagrams in a row; what is more than [`CATCH_UP`] late it leaves
//! out, and the count of datagrams sent tells that the machine could not. The
//! receiver tells from the numbers what was lost, came out of order, or twice.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nicteam_record::{Connection, ConnectionSample, Datagrams};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage, bind, setsockopt, socket, sockopt};
use serde::Deserialize;

use super::gate::Gate;
use super::kind::{self, Kind};
use crate::error::Failure;
use crate::lock::lock;
use crate::measure::Counted;
use crate::protocol::{ConnectionSpec, Role};

/// How far behind its schedule a sender sends on without leaving datagrams out.
const CATCH_UP: Duration = Duration::from_millis(20);
/// How long a receiver waits before it looks whether the traffic is over.
const READ_TIMEOUT: Duration = Duration::from_millis(100);
/// Room for what arrives while the receiver does not run, bytes.
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;
/// Bytes of a number at the beginning of each datagram.
const NUMBER_BYTES: usize = 8;

/// The kind.
#[derive(Debug)]
pub(super) struct Udp;

/// What both ends have to know ([`nicteam_experiment::Task::each`]).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    /// From one datagram to the next.
    interval_ns: u64,
    /// Payload.
    size_bytes: u32,
}

impl Kind for Udp {
    fn name(&self) -> &'static str {
        "udp"
    }

    fn at_agent(&self) -> Box<dyn kind::Ends> {
        Box::new(Ends::default())
    }

    fn figures(&self, _spec: &ConnectionSpec, counted: &Counted<'_>, connection: &mut Connection) {
        let sent = counted.sent(|sample| sample.datagrams.map_or(0, |datagrams| datagrams.sent));
        let received = |field: fn(&Datagrams) -> u64| {
            let of = |sample: &ConnectionSample| sample.datagrams.as_ref().map_or(0, field);
            counted.received(of).round().max(0.0) as u64
        };
        connection.transport = "udp".to_owned();
        connection.datagrams = Some(Datagrams {
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
#[derive(Debug, Default)]
struct Ends {
    ends: Mutex<Vec<Arc<End>>>,
    gate: Arc<Gate>,
}

/// One end of a connection.
#[derive(Debug)]
struct End {
    index: u32,
    socket: UdpSocket,
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
        let Each { interval_ns, size_bytes } =
            Each::deserialize(&spec.each).map_err(|error| format!("a connection that is none of kind udp: {error}"))?;
        let is_client = role == Role::Client;
        let (own, other) = if is_client { (spec.client, spec.server) } else { (spec.server, spec.client) };
        let socket =
            connected(own, other).map_err(|error| format!("cannot open datagrams {own} to {other}: {error}"))?;
        let sends = spec.client_sends == is_client;
        let order = (!sends).then(Order::default);
        let counted = Mutex::new(Counts { order, ..Counts::default() });
        let end = Arc::new(End { index: spec.index, socket, counted });
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
            // Refused while the far end is not there yet, or without room: as lost as on the way.
            let _ = self.socket.send(&datagram);
            number += 1;
            due += interval;
            lock(&self.counted).sent = number;
        }
    }

    /// Counts what arrives until the traffic is over.
    fn receive(&self, gate: &Gate) {
        let mut buffer = vec![0; 1 << 16];
        while !gate.is_stopped() {
            match self.socket.recv(&mut buffer) {
                Ok(bytes) => {
                    let mut counted = lock(&self.counted);
                    counted.received_bytes += bytes as u64;
                    counted.look(Instant::now(), true);
                    if let (Some(order), Some(number)) = (&mut counted.order, buffer[..bytes].first_chunk()) {
                        order.take(u64::from_be_bytes(*number));
                    }
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
        let datagrams = Datagrams {
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
    /// Takes an arrival in.
    fn take(&mut self, number: u64) {
        let place = (number % REMEMBERED as u64) as usize;
        if number >= self.next {
            for skipped in self.next.max(number.saturating_sub(REMEMBERED as u64))..number {
                self.seen[(skipped % REMEMBERED as u64) as usize] = false;
            }
            self.next = number + 1;
        } else if self.next - number <= REMEMBERED as u64 && self.seen[place] {
            self.duplicated += 1;
            return;
        } else {
            self.reordered += 1;
        }
        self.seen[place] = true;
        self.received += 1;
    }

    /// Numbers below the highest that have not arrived.
    fn lost(&self) -> u64 {
        self.next.saturating_sub(self.received)
    }
}

/// A socket between two addresses. Several servers' ends may share an address.
fn connected(own: SocketAddr, other: SocketAddr) -> Result<UdpSocket, std::io::Error> {
    let family = if own.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let socket: OwnedFd = socket(family, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&socket, sockopt::ReusePort, &true)?;
    // Beyond the system's bound with privileges, else up to it.
    if setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES).is_err() {
        setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER_BYTES)?;
    }
    bind(socket.as_raw_fd(), &SockaddrStorage::from(own))?;
    let socket = UdpSocket::from(socket);
    socket.connect(other)?;
    socket.set_read_timeout(Some(READ_TIMEOUT))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(numbers: &[u64]) -> (u64, u64, u64, u64) {
        let mut order = Order::default();
        numbers.iter().for_each(|number| order.take(*number));
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
