//! TCP streams from host to host.

use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_sys::{process, tcp};

use crate::bench::network::{FAR, Pair};
use crate::failure::Failure;

/// What the streams of a window delivered, payload at the receiver, bit/s; all
/// streams together. They start anew each time.
pub(crate) fn throughput_bps(pair: &Pair, streams: usize, window: Duration) -> Result<f64, Failure> {
    let connections = connect(pair, streams)?;
    let received = AtomicU64::new(0);
    let rate_bps = thread::scope(|scope| {
        for (sender, receiver) in &connections {
            scope.spawn(|| send(sender));
            scope.spawn(|| receive(receiver, &received));
        }
        process::sleep_or_termination(WARM_UP);
        let (start, before) = (Instant::now(), received.load(Ordering::Relaxed));
        process::sleep_or_termination(window);
        let (elapsed, after) = (start.elapsed(), received.load(Ordering::Relaxed));
        for (sender, receiver) in &connections {
            // They end the threads; a stream that is down already needs no end.
            let _ = sender.shutdown(Shutdown::Both);
            let _ = receiver.shutdown(Shutdown::Both);
        }
        (after - before) as f64 * 8.0 / elapsed.as_secs_f64()
    });
    match process::termination() {
        Some(_) => Err(Failure::Interrupted),
        None if rate_bps == 0.0 => Err(Failure::failed("nothing arrived")),
        None => Ok(rate_bps),
    }
}

/// Left out at the start of every stream.
const WARM_UP: Duration = Duration::from_millis(200);
/// Bytes of a write, and the most that is taken off a socket at once.
const CHUNK: usize = 128 << 10;
const CONGESTION: &str = "cubic";

/// Connections with the sending end first.
fn connect(pair: &Pair, streams: usize) -> Result<Vec<(TcpStream, TcpStream)>, Failure> {
    let listening = pair.far.netns.run(|| TcpListener::bind(SocketAddr::new(FAR, 0)))?;
    let listener = listening.map_err(|error| Failure::failed(format!("cannot listen on {FAR}: {error}")))?;
    let address = listener.local_addr().map_err(Failure::failed)?;
    let connect_one = |_| {
        let connecting = pair.near.netns.run(|| TcpStream::connect_timeout(&address, Duration::from_secs(5)))?;
        let sender = connecting.map_err(|error| Failure::failed(format!("cannot connect to {address}: {error}")))?;
        tcp::set_congestion(sender.as_fd(), CONGESTION)?;
        let (receiver, _) = listener.accept().map_err(Failure::failed)?;
        Ok((sender, receiver))
    };
    (0..streams).map(connect_one).collect()
}

/// Sends until the connection is shut down.
fn send(mut socket: &TcpStream) {
    let chunk = vec![0; CHUNK];
    while socket.write_all(&chunk).is_ok() {}
}

/// Counts what arrives until the connection is shut down.
fn receive(socket: &TcpStream, received: &AtomicU64) {
    while let Ok(bytes @ 1..) = tcp::discard(socket.as_fd(), CHUNK) {
        received.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
