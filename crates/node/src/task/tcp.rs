//! `tcp`: connections that carry as much as they can.
//!
//! The kernel's own TCP does the work. The sending end writes from one buffer;
//! the receiving end takes what arrived off the socket without copying it, so
//! that the generator is not the limit.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nicteam_record::measure::Counted;
use nicteam_record::{Connection, ConnectionSample};
use nicteam_sys::tcp::{self, TcpInfo};
use nicteam_sys::{mptcp, sched};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage, bind, listen, setsockopt, socket, sockopt};
use serde::{Deserialize, Serialize};

use super::gate::Gate;
use super::kind::{self, Kind};
use crate::error::Failure;
use crate::lock;
use crate::processor;
use crate::protocol::{ConnectionSpec, Role};

/// Bytes a sender hands to the kernel at once.
const CHUNK: usize = 256 * 1024;
/// How long a connection may take to come about. Generous: it guards against a
/// path that passes nothing.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// When no further connection comes in for so long, none will.
const QUIET_TIMEOUT: Duration = Duration::from_secs(3);

/// The kind.
#[derive(Debug)]
pub(super) struct Tcp;

/// What both ends have to know ([`nicteam_experiment::Task::each`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    /// Congestion control of the sending end.
    congestion: String,
    /// Multipath TCP.
    mptcp: bool,
}

impl Kind for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn at_agent(&self) -> Box<dyn kind::Ends> {
        Box::new(Arc::<Ends>::default())
    }

    fn takes_a_processor(&self) -> bool {
        true
    }

    fn figures(&self, spec: &ConnectionSpec, counted: &Counted<'_>, connection: &mut Connection) {
        let each = Each::deserialize(&spec.each).unwrap_or_default();
        let whole = |field: fn(&ConnectionSample) -> u64| counted.sent(field).round() as u64;
        connection.retransmits = whole(|sample| sample.retransmits);
        connection.segments = whole(|sample| sample.segments);
        connection.rtt_us = counted.sender_mean(|sample| u64::from(sample.rtt_us));
        connection.subflows = counted.sender_last(|sample| sample.subflows);
        connection.congestion = each.congestion;
        connection.transport = if each.mptcp { "mptcp" } else { "tcp" }.to_owned();
    }
}

/// The connections that end at an agent.
#[derive(Debug, Default)]
struct Ends {
    ends: Mutex<Vec<Arc<End>>>,
    /// How many ends this agent is to have before the start.
    expected: AtomicUsize,
    /// What went wrong with an end that came in.
    failures: Mutex<Vec<String>>,
    /// Through which all came; open until the end.
    listeners: Mutex<Vec<TcpListener>>,
    gate: Arc<Gate>,
}

/// One end of a connection.
#[derive(Debug)]
struct End {
    index: u32,
    mptcp: bool,
    stream: TcpStream,
    sends: bool,
    processor: Option<usize>,
    received_bytes: AtomicU64,
    asked: Mutex<Asked>,
}

/// What the kernel said of a sending end.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    segments: u64,
    retransmits: u64,
    rtt_us: u32,
    subflows: Option<u32>,
}

impl kind::Ends for Arc<Ends> {
    fn prepare(&self, role: Role, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        self.expected.fetch_add(connections.len(), Ordering::Relaxed);
        match role {
            Role::Server => self.serve(connections),
            Role::Client => self.connect(connections),
        }
    }

    fn start(&self) -> Result<(), Failure> {
        let (mut known, mut last) = (0, Instant::now());
        let expected = self.expected.load(Ordering::Relaxed);
        loop {
            if let Some(failure) = lock(&self.failures).first() {
                return Err(failure.clone().into());
            }
            let there = lock(&self.ends).len();
            if there >= expected {
                break;
            }
            if there > known {
                (known, last) = (there, Instant::now());
            }
            // The others were refused at their clients, where a host that cannot be reached is a result.
            if last.elapsed() > QUIET_TIMEOUT {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.gate.let_through();
        Ok(())
    }

    fn stop(&self) {
        self.gate.stop();
        lock(&self.listeners).clear();
        for end in lock(&self.ends).iter() {
            // An end that the peer closed first refuses, and is as ended as it should be.
            let _ = end.stream.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Asks about each sending end. The kernel answers when it has the connection for itself, which under
    /// load takes it up to half a second: no work for who reads counters at a moment.
    fn ask(&self) {
        let ends = lock(&self.ends).clone();
        ends.iter().filter(|end| end.sends).for_each(|end| end.ask());
    }

    fn sample(&self) -> Vec<ConnectionSample> {
        lock(&self.ends).iter().map(|end| end.sample()).collect()
    }
}

impl Ends {
    /// Listens for these connections and takes each in when it comes.
    fn serve(self: &Arc<Ends>, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        let mut by_address: BTreeMap<SocketAddr, Vec<ConnectionSpec>> = BTreeMap::new();
        for spec in connections {
            by_address.entry(spec.server).or_default().push(spec);
        }
        for (address, expected) in by_address {
            // A workload is of one kind, and has a port of its own.
            let listener = Each::of(&expected[0])
                .and_then(|each| listener(address, &each))
                .map_err(|error| format!("cannot listen on {address}: {error}"))?;
            let traffic = Arc::clone(self);
            std::thread::Builder::new().name(format!("accept {address}")).spawn(move || {
                for _ in 0..expected.len() {
                    if let Err(error) = traffic.accept(&listener, &expected) {
                        return lock(&traffic.failures).push(error.to_string());
                    }
                }
                // Further subflows of multipath TCP come to it as well, and are reset where it is gone.
                lock(&traffic.listeners).push(listener);
            })?;
        }
        Ok(())
    }

    /// Opens these connections. One to a host that cannot be reached carries nothing, which is a result.
    fn connect(&self, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        let mut silent: Vec<IpAddr> = Vec::new();
        for spec in connections {
            if silent.contains(&spec.server.ip()) {
                self.expected.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            match open(&spec) {
                Ok(stream) => self.take_in(&spec, stream, spec.client_sends)?,
                Err(error) if is_unreachable(&error) => {
                    self.expected.fetch_sub(1, Ordering::Relaxed);
                    // Nobody answers for this address; that takes seconds to find out.
                    if error.downcast_ref() == Some(&Errno::EHOSTUNREACH) {
                        silent.push(spec.server.ip());
                    }
                }
                Err(error) => return Err(format!("cannot connect {} to {}: {error}", spec.client, spec.server).into()),
            }
        }
        Ok(())
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
        let end = Arc::new(End {
            index: spec.index,
            mptcp: Each::of(spec)?.mptcp,
            stream,
            sends,
            processor: spec.processor,
            received_bytes: AtomicU64::new(0),
            asked: Mutex::default(),
        });
        lock(&self.ends).push(Arc::clone(&end));
        let gate = Arc::clone(&self.gate);
        let name = format!("connection {}", end.index);
        std::thread::Builder::new()
            .name(name)
            .spawn(move || if end.sends { end.send(&gate) } else { end.receive(&gate) })?;
        Ok(())
    }
}

impl End {
    /// Writes until the connection ends.
    fn send(&self, gate: &Gate) {
        if let Some(processor) = self.processor {
            // Where it may not, it runs on any, as without a wish.
            let _ = sched::keep_to(processor);
        }
        gate.wait();
        let chunk = vec![0x5a; processor::piece(CHUNK)];
        while !gate.is_stopped() {
            processor::wait(|| gate.is_stopped());
            match (&self.stream).write(&chunk) {
                Ok(0) => return,
                Ok(bytes) => processor::charge(bytes),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Takes off what arrives until the connection ends.
    fn receive(&self, gate: &Gate) {
        let piece = processor::piece(1 << 20);
        loop {
            processor::wait(|| gate.is_stopped());
            match tcp::discard(self.stream.as_fd(), piece) {
                Ok(0) => return,
                Ok(bytes) => {
                    processor::charge(bytes);
                    self.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                }
                Err(error) if error.source.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn ask(&self) {
        let subflows = self.subflows();
        let sum = |field: fn(&TcpInfo) -> u64| subflows.iter().map(field).sum();
        *lock(&self.asked) = Asked {
            segments: sum(|info| info.data_segments_out),
            retransmits: sum(|info| info.retransmits),
            rtt_us: (sum(|info| info.rtt_us.into()) / subflows.len().max(1) as u64) as u32,
            subflows: self.mptcp.then_some(subflows.len() as u32),
        };
    }

    fn sample(&self) -> ConnectionSample {
        let received_bytes = self.received_bytes.load(Ordering::Relaxed);
        let Asked { segments, retransmits, rtt_us, subflows } = *lock(&self.asked);
        ConnectionSample { index: self.index, received_bytes, segments, retransmits, rtt_us, subflows, datagrams: None }
    }

    /// What the kernel knows of the connection, or of each of its subflows.
    fn subflows(&self) -> Vec<TcpInfo> {
        let socket = self.stream.as_fd();
        let found = if self.mptcp { mptcp::subflows(socket) } else { tcp::info(socket).map(|info| vec![info]) };
        found.unwrap_or_default()
    }
}

impl Each {
    fn of(spec: &ConnectionSpec) -> Result<Each, Failure> {
        Ok(Each::deserialize(&spec.each).map_err(|error| format!("a connection that is none of kind tcp: {error}"))?)
    }
}

/// A listening socket on this very address and port, whose connections have the
/// wanted congestion control; for multipath TCP on the port of all addresses, since further
/// subflows come to others.
fn listener(address: SocketAddr, each: &Each) -> Result<TcpListener, Failure> {
    listen_on(stream_socket(address, each)?, address, each.mptcp)
}

/// The same with the kernel's own congestion control.
pub(super) fn listener_plain(address: SocketAddr, mptcp: bool) -> Result<TcpListener, Failure> {
    listen_on(bare_socket(address, mptcp)?, address, mptcp)
}

fn listen_on(socket: OwnedFd, mut address: SocketAddr, mptcp: bool) -> Result<TcpListener, Failure> {
    if mptcp {
        address.set_ip(if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() });
    }
    bind(socket.as_raw_fd(), &SockaddrStorage::from(address))?;
    listen(&socket, nix::sys::socket::Backlog::MAXCONN)?;
    Ok(TcpListener::from(socket))
}

/// Whether the network, not the host, is why there is no connection.
fn is_unreachable(error: &Failure) -> bool {
    matches!(error.downcast_ref(), Some(Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::ETIMEDOUT))
}

/// Opens a connection from its own port.
fn open(spec: &ConnectionSpec) -> Result<TcpStream, Failure> {
    connect(stream_socket(spec.client, &Each::of(spec)?)?, spec.client, spec.server)
}

/// Opens a connection from this address and port, with the kernel's own congestion control.
pub(super) fn connect_plain(client: SocketAddr, server: SocketAddr, mptcp: bool) -> Result<TcpStream, Failure> {
    connect(bare_socket(client, mptcp)?, client, server)
}

/// Binds a socket to this address and port, and connects it.
fn connect(socket: OwnedFd, client: SocketAddr, server: SocketAddr) -> Result<TcpStream, Failure> {
    bind(socket.as_raw_fd(), &SockaddrStorage::from(client))?;
    tcp::connect_within(socket.as_fd(), server, CONNECT_TIMEOUT)?;
    Ok(TcpStream::from(socket))
}

/// A socket of the address's family, whose port may still be in TIME-WAIT.
fn bare_socket(address: SocketAddr, mptcp: bool) -> Result<OwnedFd, Failure> {
    let socket = if mptcp {
        mptcp::socket(address.is_ipv6())?
    } else {
        let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
        socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?
    };
    setsockopt(&socket, sockopt::ReuseAddr, &true)?;
    Ok(socket)
}

/// The same with the congestion control of a connection.
///
/// It gets its congestion control before it has a connection: one that began
/// with the kernel's default keeps what that set up. After `bbr` it is paced for ever.
fn stream_socket(address: SocketAddr, each: &Each) -> Result<OwnedFd, Failure> {
    let socket = bare_socket(address, each.mptcp)?;
    tcp::set_congestion(socket.as_fd(), &each.congestion).map_err(|error| {
        format!("{error}; hint: `sysctl net.ipv4.tcp_available_congestion_control` lists what this kernel has")
    })?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ports that nobody has, as the system says.
    fn spec() -> ConnectionSpec {
        let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        ConnectionSpec {
            index: 0,
            place: 0,
            client: free(),
            server: free(),
            interfaces: Default::default(),
            paths: Vec::new(),
            vlan: None,
            client_sends: true,
            kind: "tcp".to_owned(),
            each: serde_json::to_value(Each { congestion: "reno".to_owned(), mptcp: false }).unwrap(),
            processor: None,
        }
    }

    #[test]
    fn a_sample_has_the_kernels_last_answer_and_asks_for_none() {
        let spec = spec();
        let (server, client) = (Tcp.at_agent(), Tcp.at_agent());
        server.prepare(Role::Server, vec![spec.clone()]).unwrap();
        client.prepare(Role::Client, vec![spec]).unwrap();
        server.start().unwrap();
        client.start().unwrap();
        while server.sample()[0].received_bytes == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(client.sample()[0].segments, 0);
        client.ask();
        server.ask();
        let (sent, received) = (&client.sample()[0], &server.sample()[0]);
        assert!(sent.segments > 0 && sent.rtt_us > 0, "{sent:?}");
        assert_eq!((received.segments, received.rtt_us), (0, 0), "the sending end says it");
        client.stop();
        server.stop();
    }

    #[test]
    fn what_comes_behind_the_connections_is_not_reset_until_the_end() {
        let spec = spec();
        let (server, client) = (Tcp.at_agent(), Tcp.at_agent());
        server.prepare(Role::Server, vec![spec.clone()]).unwrap();
        client.prepare(Role::Client, vec![spec.clone()]).unwrap();
        server.start().unwrap();
        // As a further subflow of multipath TCP does, long after.
        std::thread::sleep(Duration::from_millis(50));
        TcpStream::connect(spec.server).unwrap();
        client.start().unwrap();
        client.stop();
        server.stop();
        assert_eq!(TcpStream::connect(spec.server).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }
}
