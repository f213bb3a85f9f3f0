//! Requests, each answered by as many bytes, and connections that fill the links meanwhile.

pub(super) mod sides;

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_sys::{process, tcp};

use crate::failure::Failure;
use crate::held::Ends;

/// What carries requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// Over a connection a client.
    Tcp,
    /// In datagrams.
    Udp,
}

/// How requests are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) transport: Transport,
    /// Clients that ask at once, each one request after the other.
    pub(super) clients: usize,
    /// Requests of each.
    pub(super) each: usize,
    /// Connections that send as much as they can the same way.
    pub(super) bulk: usize,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Answered {
    /// From each request to its answer, microseconds.
    pub(super) us: Vec<f64>,
    /// What the bulk connections delivered meanwhile, bit/s.
    pub(super) bulk_bps: f64,
}

const BYTES: usize = 64;
/// Requests of each client that are not counted: addresses are resolved, paths are found busy.
const WARM_UP: usize = 50;
/// Until bulk connections have filled the queues.
const FILLED: Duration = Duration::from_millis(2000);
/// A datagram that is not answered by then is lost.
const PATIENCE: Duration = Duration::from_secs(2);
const CONGESTION: &str = "cubic";
const CHUNK: usize = 64 << 10;

/// Asks from the one host to the other.
pub(super) fn ask(ends: &Ends, load: Load) -> Result<Answered, Failure> {
    let bulk = (0..load.bulk).map(|_| connect(ends)).collect::<Result<Vec<_>, _>>()?;
    let clients = (0..load.clients).map(|_| Exchange::open(ends, load.transport)).collect::<Result<Vec<_>, _>>()?;
    let (received, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for (sender, receiver) in &bulk {
            scope.spawn(|| send(sender));
            scope.spawn(|| count(receiver, &received));
        }
        for client in &clients {
            scope.spawn(|| client.answer(&stop));
        }
        if !bulk.is_empty() {
            process::sleep_or_termination(FILLED);
        }
        let (start, before) = (Instant::now(), received.load(Ordering::Relaxed));
        let asking: Vec<_> = clients.iter().map(|client| scope.spawn(|| client.ask(load.each))).collect();
        let joined = asking.into_iter().map(|client| {
            let lost = |_| Err(io::Error::other("a thread panicked; see above"));
            client.join().unwrap_or_else(lost)
        });
        let us: io::Result<Vec<Vec<f64>>> = joined.collect();
        let bulk_bps = (received.load(Ordering::Relaxed) - before) as f64 * 8.0 / start.elapsed().as_secs_f64();
        stop.store(true, Ordering::SeqCst);
        clients.iter().for_each(Exchange::close);
        for (sender, receiver) in &bulk {
            // A connection that is down already needs no end.
            let _ = sender.shutdown(Shutdown::Both);
            let _ = receiver.shutdown(Shutdown::Both);
        }
        if process::termination().is_some() {
            return Err(Failure::Interrupted);
        }
        let us = us.map_err(|error| Failure::failed(format!("a request was not answered: {error}")))?.concat();
        Ok(Answered { us, bulk_bps })
    })
}

/// Both ends of a client's exchange, the asking one first.
enum Exchange {
    Tcp([TcpStream; 2]),
    Udp([UdpSocket; 2]),
}

impl Exchange {
    fn open(ends: &Ends, transport: Transport) -> Result<Exchange, Failure> {
        if transport == Transport::Tcp {
            let (client, server) = connect(ends)?;
            for end in [&client, &server] {
                end.set_nodelay(true).map_err(Failure::failed)?;
            }
            client.set_read_timeout(Some(PATIENCE)).map_err(Failure::failed)?;
            return Ok(Exchange::Tcp([client, server]));
        }
        let server = ends.to.run(|| UdpSocket::bind(SocketAddr::new(ends.address, 0)))?.map_err(Failure::failed)?;
        let client = ends.from.run(|| UdpSocket::bind("0.0.0.0:0"))?.map_err(Failure::failed)?;
        client.connect(server.local_addr().map_err(Failure::failed)?).map_err(Failure::failed)?;
        for end in [&client, &server] {
            end.set_read_timeout(Some(PATIENCE)).map_err(Failure::failed)?;
        }
        Ok(Exchange::Udp([client, server]))
    }

    /// Asks so often, and says how long each time took.
    fn ask(&self, times: usize) -> io::Result<Vec<f64>> {
        let mut bytes = [0; BYTES];
        let mut took_us = Vec::with_capacity(times);
        for number in 0..WARM_UP + times {
            let start = Instant::now();
            match self {
                Exchange::Tcp([client, _]) => {
                    let mut client = client;
                    client.write_all(&bytes)?;
                    client.read_exact(&mut bytes)?;
                }
                Exchange::Udp([client, _]) => {
                    client.send(&bytes)?;
                    client.recv(&mut bytes)?;
                }
            }
            if number >= WARM_UP {
                took_us.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
        Ok(took_us)
    }

    /// Answers until the end.
    fn answer(&self, stop: &AtomicBool) {
        let mut bytes = [0; BYTES];
        match self {
            Exchange::Tcp([_, server]) => {
                let mut server = server;
                while server.read_exact(&mut bytes).and_then(|()| server.write_all(&bytes)).is_ok() {}
            }
            Exchange::Udp([_, server]) => {
                while !stop.load(Ordering::SeqCst) {
                    if let Ok((length, from)) = server.recv_from(&mut bytes) {
                        let _ = server.send_to(&bytes[..length], from);
                    }
                }
            }
        }
    }

    /// Wakes who answers.
    fn close(&self) {
        match self {
            Exchange::Tcp(ends) => ends.iter().for_each(|end| drop(end.shutdown(Shutdown::Both))),
            Exchange::Udp([client, _]) => drop(client.send(&[])),
        }
    }
}

fn send(mut to: &TcpStream) {
    let chunk = vec![0; CHUNK];
    while to.write_all(&chunk).is_ok() {}
}

fn count(from: &TcpStream, received: &AtomicU64) {
    while let Ok(bytes @ 1..) = tcp::discard(from.as_fd(), CHUNK) {
        received.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// A connection with the connecting end first.
fn connect(ends: &Ends) -> Result<(TcpStream, TcpStream), Failure> {
    let listener = ends.to.run(|| TcpListener::bind(SocketAddr::new(ends.address, 0)))?.map_err(Failure::failed)?;
    let address = listener.local_addr().map_err(Failure::failed)?;
    let client = ends.from.run(|| tcp::connect_with(address, CONGESTION))??;
    let (server, _) = listener.accept().map_err(Failure::failed)?;
    Ok((client, server))
}
