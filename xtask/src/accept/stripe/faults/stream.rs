//! A TCP connection at full rate whose every byte is looked at.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_sys::{mptcp, tcp};
use nicteam_testnet::Host;
use nix::sys::socket::{Backlog, SockaddrStorage, bind, listen, setsockopt, sockopt};

use crate::failure::Failure;

/// What a receiver had when.
pub(in crate::accept) struct Received {
    /// When it had read how many bytes so far, in order.
    course: Vec<(Instant, u64)>,
}

/// Where a stream goes from and to.
#[derive(Clone, Copy)]
pub(in crate::accept) struct Ends<'a> {
    pub(in crate::accept) from: &'a Host,
    pub(in crate::accept) to: &'a Host,
    /// Where it is taken.
    pub(in crate::accept) address: SocketAddr,
    /// By multipath TCP, with so many subflows.
    pub(in crate::accept) multipath: Option<usize>,
}

const CONGESTION: &str = "cubic";
const CHUNK_WORDS: usize = 8192;
const WORD_BYTES: usize = 8;
/// Until a connection has all its subflows.
const PATIENCE: Duration = Duration::from_secs(5);
/// Nothing for so long is an end.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends from the one host to the other while `during` goes on; then everything
/// that was sent must have arrived, and as it was sent.
pub(in crate::accept) fn watch<T>(
    ends: Ends<'_>,
    during: impl FnOnce() -> Result<T, Failure>,
) -> Result<(Received, T), Failure> {
    // Further subflows come to it, so it stays open.
    let listener = ends.to.netns.run(|| ends.listen())??;
    let sender = ends.from.netns.run(|| ends.connect())??;
    let (receiver, _) = listener.accept().map_err(Failure::failed)?;
    receiver.set_read_timeout(Some(READ_TIMEOUT)).map_err(Failure::failed)?;
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let sending = scope.spawn(|| send(&sender, &stop));
        let receiving = scope.spawn(|| {
            // The sender would wait for ever for somebody who takes no more.
            receive(&receiver).inspect_err(|_| drop(receiver.shutdown(Shutdown::Both)))
        });
        let done = ends.wait_for_subflows(&sender).and_then(|()| during());
        stop.store(true, Ordering::SeqCst);
        let sent = joined(sending.join());
        // If it failed, so did sending, and why is known here alone.
        let received = joined(receiving.join())?;
        let sent = sent?;
        match received.course.last() {
            Some((_, bytes)) if *bytes == sent => Ok((received, done?)),
            last => {
                let bytes = last.map_or(0, |(_, bytes)| *bytes);
                Err(Failure::failed(format!("TCP lost bytes: {sent} were sent, {bytes} arrived")))
            }
        }
    })
}

impl Ends<'_> {
    fn listen(&self) -> Result<TcpListener, Failure> {
        if self.multipath.is_none() {
            return TcpListener::bind(self.address).map_err(Failure::failed);
        }
        let socket = mptcp::socket(false)?;
        let anywhere = SockaddrStorage::from(SocketAddr::from((Ipv4Addr::UNSPECIFIED, self.address.port())));
        setsockopt(&socket, sockopt::ReuseAddr, &true)
            .and_then(|()| bind(socket.as_raw_fd(), &anywhere))
            .and_then(|()| listen(&socket, Backlog::MAXCONN))
            .map_err(Failure::failed)?;
        Ok(TcpListener::from(socket))
    }

    fn connect(&self) -> Result<TcpStream, Failure> {
        Ok(match self.multipath {
            None => tcp::connect_with(self.address, CONGESTION)?,
            Some(_) => mptcp::connect_with(self.address, CONGESTION)?,
        })
    }

    /// One that does not use all links would be no comparison.
    fn wait_for_subflows(&self, sender: &TcpStream) -> Result<(), Failure> {
        let Some(wanted) = self.multipath else { return Ok(()) };
        let start = Instant::now();
        loop {
            let found = mptcp::subflows(sender.as_fd())?.len();
            if found == wanted {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(Failure::failed(format!("multipath TCP has {found} subflows, not one for each link")));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Received {
    /// Bytes from the one moment on, for so long, as bit/s.
    pub(in crate::accept) fn bps(&self, from: Instant, length: Duration) -> f64 {
        (self.bytes_at(from + length) - self.bytes_at(from)) as f64 * 8.0 / length.as_secs_f64()
    }

    /// The longest time from the one moment on, for so long, in which nothing was read, milliseconds.
    pub(in crate::accept) fn silence_ms(&self, from: Instant, length: Duration) -> f64 {
        let (first, end) = (self.course.partition_point(|(read, _)| *read <= from), from + length);
        let reads = self.course[first..].iter().map(|(read, _)| *read).take_while(|read| *read < end);
        let mut longest = Duration::ZERO;
        let mut last = from;
        for read in reads.chain([end]) {
            longest = longest.max(read - last);
            last = read;
        }
        longest.as_secs_f64() * 1e3
    }

    fn bytes_at(&self, at: Instant) -> u64 {
        let next = self.course.partition_point(|(read, _)| *read <= at);
        next.checked_sub(1).map_or(0, |last| self.course[last].1)
    }
}

/// What a thread came to.
pub(in crate::accept) fn joined<T>(outcome: thread::Result<Result<T, Failure>>) -> Result<T, Failure> {
    outcome.unwrap_or_else(|_| Err(Failure::failed("a thread panicked; see above")))
}

fn send(mut to: &TcpStream, stop: &AtomicBool) -> Result<u64, Failure> {
    let (mut word, mut chunk) = (0_u64, vec![0; CHUNK_WORDS * WORD_BYTES]);
    while !stop.load(Ordering::SeqCst) {
        for place in chunk.chunks_exact_mut(WORD_BYTES) {
            place.copy_from_slice(&word.to_be_bytes());
            word += 1;
        }
        to.write_all(&chunk).map_err(|error| Failure::failed(format!("cannot send by TCP: {error}")))?;
    }
    to.shutdown(Shutdown::Write).map_err(Failure::failed)?;
    Ok(word * WORD_BYTES as u64)
}

fn receive(mut from: &TcpStream) -> Result<Received, Failure> {
    let (mut buffer, mut filled) = (vec![0; CHUNK_WORDS * WORD_BYTES], 0);
    let (mut word, mut total, mut course) = (0_u64, 0_u64, Vec::new());
    loop {
        let read = match from.read(&mut buffer[filled..]) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::failed(format!("cannot receive by TCP: {error}"))),
        };
        if read == 0 {
            return Ok(Received { course });
        }
        total += read as u64;
        course.push((Instant::now(), total));
        filled += read;
        let whole = filled - filled % WORD_BYTES;
        for found in buffer[..whole].chunks_exact(WORD_BYTES) {
            if found != word.to_be_bytes() {
                return Err(Failure::failed(format!("TCP delivered other bytes at {}", word * WORD_BYTES as u64)));
            }
            word += 1;
        }
        buffer.copy_within(whole..filled, 0);
        filled -= whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_from_one_read_to_the_next_or_to_the_end() {
        let start = Instant::now();
        let ms = |ms: u64| start + Duration::from_millis(ms);
        let received = Received { course: [0, 5, 10, 40, 45, 50].map(|at| (ms(at), at)).to_vec() };
        let silence_ms = |from, length| received.silence_ms(ms(from), Duration::from_millis(length));
        assert_eq!((silence_ms(7, 20), silence_ms(7, 40)), (17.0, 30.0));
        assert_eq!(
            (silence_ms(41, 100), Received { course: vec![] }.silence_ms(start, Duration::from_secs(1))),
            (91.0, 1e3)
        );
    }
}
