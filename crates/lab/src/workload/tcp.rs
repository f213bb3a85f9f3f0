//! The `tcp` workload: connections that carry as much as they can.
//!
//! The kernel's own TCP does the work. The sending end writes from one buffer;
//! the receiving end takes what arrived off the socket without copying it, so
//! that the generator is not the limit.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nicteam_record::ConnectionSample;
use nicteam_sys::tcp;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, bind, connect, listen, setsockopt, socket, sockopt,
};

use crate::Failure;
use crate::experiment::{Direction, Tcp};
use crate::lock::lock;
use crate::protocol::ConnectionSpec;

/// Bytes a sender hands to the kernel at once.
const CHUNK: usize = 256 * 1024;
/// First port that workloads listen on; each workload has its own.
const SERVER_PORT: u16 = 5001;
/// First port that connections come from; each connection has its own, so that hashes do not depend on luck.
const CLIENT_PORT: u16 = 40_000;

/// How long a connection may take to come about. Generous: it guards against a
/// path that passes nothing.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// One planned connection: who carries what to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Host of the connecting end.
    pub(crate) client: String,
    /// Host of the other end.
    pub(crate) server: String,
    /// The connection.
    pub(crate) spec: ConnectionSpec,
}

/// Deals a workload's connections to its pairs. `workload` and `first_index`
/// number it among the run's; `address` knows where a host lives.
pub(crate) fn plan(
    tcp: &Tcp,
    workload: u16,
    first_index: u32,
    address: impl Fn(&str) -> std::net::IpAddr,
) -> Vec<Planned> {
    let ways: &[bool] = match tcp.direction {
        Direction::Send => &[true],
        Direction::Receive => &[false],
        Direction::Both => &[true, false],
    };
    let pairs = tcp.pairs.iter().cycle().take(tcp.connections as usize);
    let dealt = ways.iter().flat_map(|way| pairs.clone().map(move |pair| (pair, *way)));
    dealt
        .zip(first_index..)
        .map(|(((client, server), client_sends), index)| Planned {
            client: client.clone(),
            server: server.clone(),
            spec: ConnectionSpec {
                index,
                client: SocketAddr::new(address(client), CLIENT_PORT + index as u16),
                server: SocketAddr::new(address(server), SERVER_PORT + workload),
                client_sends,
                congestion: tcp.congestion.clone(),
            },
        })
        .collect()
}

/// The connections that end at an agent.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    ends: Mutex<Vec<Arc<End>>>,
    /// How many ends this agent is to have before the start.
    expected: AtomicUsize,
    /// What went wrong with an end that came in.
    failures: Mutex<Vec<String>>,
    gate: Arc<Gate>,
}

/// One end of a connection.
#[derive(Debug)]
struct End {
    index: u32,
    stream: TcpStream,
    sends: bool,
    received_bytes: AtomicU64,
}

/// Holds the senders until the start.
#[derive(Debug, Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    stopped: AtomicBool,
}

impl Traffic {
    /// Listens for these connections and takes each in when it comes.
    pub(crate) fn serve(self: &Arc<Self>, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        self.expected.fetch_add(connections.len(), Ordering::Relaxed);
        let mut by_address: BTreeMap<SocketAddr, Vec<ConnectionSpec>> = BTreeMap::new();
        for spec in connections {
            by_address.entry(spec.server).or_default().push(spec);
        }
        for (address, expected) in by_address {
            // A workload has one congestion control, and a port of its own.
            let congestion = &expected[0].congestion;
            let listener =
                listener(address, congestion).map_err(|error| format!("cannot listen on {address}: {error}"))?;
            let traffic = Arc::clone(self);
            std::thread::Builder::new().name(format!("accept {address}")).spawn(move || {
                for _ in 0..expected.len() {
                    if let Err(error) = traffic.accept(&listener, &expected) {
                        return lock(&traffic.failures).push(error.to_string());
                    }
                }
            })?;
        }
        Ok(())
    }

    /// Opens these connections.
    pub(crate) fn connect(&self, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        self.expected.fetch_add(connections.len(), Ordering::Relaxed);
        for spec in connections {
            let stream =
                open(&spec).map_err(|error| format!("cannot connect {} to {}: {error}", spec.client, spec.server))?;
            self.take_in(&spec, stream, spec.client_sends)?;
        }
        Ok(())
    }

    /// Lets the senders send, once every expected end is there.
    pub(crate) fn go(&self) -> Result<(), Failure> {
        let start = Instant::now();
        let expected = self.expected.load(Ordering::Relaxed);
        loop {
            if let Some(failure) = lock(&self.failures).first() {
                return Err(failure.clone().into());
            }
            let there = lock(&self.ends).len();
            if there >= expected {
                break;
            }
            if start.elapsed() > CONNECT_TIMEOUT {
                return Err(format!("{there} of {expected} connections came about").into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.gate.let_through();
        Ok(())
    }

    /// Ends every connection.
    pub(crate) fn stop(&self) {
        self.gate.stopped.store(true, Ordering::Relaxed);
        self.gate.let_through();
        for end in lock(&self.ends).iter() {
            // An end that the peer closed first refuses, and is as ended as it should be.
            let _ = end.stream.shutdown(std::net::Shutdown::Both);
        }
    }

    /// What each end counted.
    pub(crate) fn sample(&self) -> Vec<ConnectionSample> {
        lock(&self.ends).iter().map(|end| end.sample()).collect()
    }

    /// Takes in the next connection that comes.
    fn accept(&self, listener: &TcpListener, expected: &[ConnectionSpec]) -> Result<(), Failure> {
        let (stream, peer) = listener.accept().map_err(|error| format!("cannot accept a connection: {error}"))?;
        match expected.iter().find(|spec| spec.client == peer) {
            Some(spec) => self.take_in(spec, stream, !spec.client_sends),
            None => Err(format!("a connection came from {peer}, which is none of this run").into()),
        }
    }

    /// Starts the thread of one end.
    fn take_in(&self, spec: &ConnectionSpec, stream: TcpStream, sends: bool) -> Result<(), Failure> {
        let end = Arc::new(End { index: spec.index, stream, sends, received_bytes: AtomicU64::new(0) });
        lock(&self.ends).push(Arc::clone(&end));
        let gate = Arc::clone(&self.gate);
        let name = format!("connection {}", end.index);
        std::thread::Builder::new()
            .name(name)
            .spawn(move || if end.sends { end.send(&gate) } else { end.receive() })?;
        Ok(())
    }
}

impl End {
    /// Writes until the connection ends.
    fn send(&self, gate: &Gate) {
        gate.wait();
        let chunk = vec![0x5a; CHUNK];
        while !gate.stopped.load(Ordering::Relaxed) {
            match (&self.stream).write(&chunk) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Takes off what arrives until the connection ends.
    fn receive(&self) {
        loop {
            match tcp::discard(self.stream.as_fd(), 1 << 20) {
                Ok(0) => return,
                Ok(bytes) => drop(self.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed)),
                Err(error) if error.source.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// What this end counted so far.
    fn sample(&self) -> ConnectionSample {
        let received_bytes = self.received_bytes.load(Ordering::Relaxed);
        let mut sample = ConnectionSample { index: self.index, received_bytes, ..ConnectionSample::default() };
        if self.sends
            && let Ok(info) = tcp::info(self.stream.as_fd())
        {
            sample.segments = info.data_segments_out;
            sample.retransmits = info.retransmits;
            sample.rtt_us = info.rtt_us;
        }
        sample
    }
}

impl Gate {
    /// Opens it.
    fn let_through(&self) {
        *lock(&self.open) = true;
        self.opened.notify_all();
    }

    /// Waits until it is open.
    fn wait(&self) {
        let mut open = lock(&self.open);
        while !*open {
            open = self.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A listening socket on this very address and port, whose connections have this congestion control.
fn listener(address: SocketAddr, congestion: &str) -> Result<TcpListener, Failure> {
    let socket = tcp_socket(address, congestion)?;
    bind(std::os::fd::AsRawFd::as_raw_fd(&socket), &SockaddrStorage::from(address))?;
    listen(&socket, nix::sys::socket::Backlog::MAXCONN)?;
    Ok(TcpListener::from(socket))
}

/// Opens a connection from its own port.
fn open(spec: &ConnectionSpec) -> Result<TcpStream, Failure> {
    let socket = tcp_socket(spec.client, &spec.congestion)?;
    let raw = std::os::fd::AsRawFd::as_raw_fd(&socket);
    bind(raw, &SockaddrStorage::from(spec.client))?;
    // Bounds the handshake alone: a path that passes nothing must not hang the lab.
    setsockopt(&socket, sockopt::TcpUserTimeout, &(CONNECT_TIMEOUT.as_millis() as u32))?;
    connect(raw, &SockaddrStorage::from(spec.server))?;
    setsockopt(&socket, sockopt::TcpUserTimeout, &0)?;
    Ok(TcpStream::from(socket))
}

/// A TCP socket of the address's family, whose port may still be in TIME-WAIT.
///
/// It gets its congestion control before it has a connection: one that began
/// with the kernel's default keeps what that set up. After `bbr` it is paced for ever.
fn tcp_socket(address: SocketAddr, congestion: &str) -> Result<OwnedFd, Failure> {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let socket = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&socket, sockopt::ReuseAddr, &true)?;
    tcp::set_congestion(socket.as_fd(), congestion).map_err(|error| {
        format!("{error}; hint: `sysctl net.ipv4.tcp_available_congestion_control` lists what this kernel has")
    })?;
    Ok(socket)
}
