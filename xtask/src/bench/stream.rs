//! TCP streams from host to host.

use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_load::cpu;
use nicteam_sys::netns::NetNs;
use nicteam_sys::{process, sched, tcp};

use crate::bench::network::{FAR, Pair};
use crate::failure::Failure;
use nicteam_statistics::Estimate;

/// How often, and how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// How often the hosts are built anew.
    pub(crate) builds: u32,
    /// How often each pair has its turn, each time.
    pub(crate) rounds: u32,
    /// How long a turn is.
    pub(crate) window: Duration,
}

impl Times {
    /// What `xtask bench` does if it is told nothing else.
    pub(crate) const DEFAULT: Times = Times { builds: 30, rounds: 3, window: Duration::from_millis(100) };
}

/// Measures some pairs of hosts, built anew several times: what their streams
/// delivered, payload at the receiver, bit/s, by pair and build; each the median
/// of its rounds.
///
/// Built anew, since where its memory happens to lie stays with a pair for all
/// its rounds: it favours one by a tenth, and no number of rounds shows it.
pub(crate) fn built_anew(
    build: impl Fn() -> Result<Vec<Pair>, Failure>,
    streams: usize,
    times: Times,
) -> Result<Vec<Vec<f64>>, Failure> {
    let mut rates_bps = Vec::new();
    for _ in 0..times.builds {
        let pairs = build()?;
        rates_bps.resize(pairs.len(), Vec::new());
        let by_round = in_turn(&pairs, streams, times.rounds, times.window)?;
        for (medians, rounds) in rates_bps.iter_mut().zip(by_round) {
            medians.extend(Estimate::of(&rounds).map(|estimate| estimate.median));
        }
    }
    Ok(rates_bps)
}

/// What it takes to deliver: payload at the receiver, and processor time of the whole machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Gigabits that arrived in a second.
    pub(crate) gbps: f64,
    /// Processor seconds of all processes for each of them (`/proc/stat`), beyond what the machine spent at rest.
    pub(crate) busy_s_per_gbit: f64,
}

/// Processors that others may keep busy while [`cost`] is measured, and how often it looks for such a window.
const QUIET: f64 = 0.05;
const LOOKS: usize = 20;

/// Measures what streams to the host at [`FAR`] take in a window, after one of rest and a while that is left out.
pub(crate) fn cost(
    near: &NetNs,
    far: &NetNs,
    streams: usize,
    settle: Duration,
    window: Duration,
) -> Result<Cost, Failure> {
    let lane = Lane::open(near, far, streams)?;
    // Seconds, busy processor seconds, and bits that arrived.
    let spend = || {
        let (start, before, received) = (Instant::now(), cpu::times()?, lane.received.load(Ordering::Relaxed));
        process::sleep_or_termination(window);
        let busy = cpu::times()?.busy.saturating_sub(before.busy);
        let bits = (lane.received.load(Ordering::Relaxed) - received) * 8;
        Ok::<_, Failure>((start.elapsed().as_secs_f64(), busy.as_secs_f64(), bits as f64))
    };
    let (rest, load) = thread::scope(|scope| {
        lane.start(scope);
        // What the bundles' start leaves to do is no rest.
        process::sleep_or_termination(settle);
        // What others do is not counted, as long as it is little and steady.
        let rest = (0..LOOKS)
            .map(|_| spend())
            .find(|rest| !matches!(rest, Ok((rest_s, busy_s, _)) if busy_s / rest_s > QUIET));
        lane.enter(Phase::Send);
        process::sleep_or_termination(settle);
        let load = spend();
        lane.close();
        (rest, load)
    });
    if process::termination().is_some() {
        return Err(Failure::Interrupted);
    }
    let busy = || Failure::failed("other programs keep the machine busy; hint: end them, and measure again");
    let ((rest_s, rest_busy_s, _), (elapsed_s, busy_s, bits)) = (rest.ok_or_else(busy)??, load?);
    let beyond_s = busy_s - rest_busy_s / rest_s * elapsed_s;
    match bits {
        0.0 => Err(Failure::failed("nothing arrived")),
        _ if beyond_s <= 0.0 => Err(busy()),
        _ => Ok(Cost { gbps: bits / 1e9 / elapsed_s, busy_s_per_gbit: beyond_s / bits * 1e9 }),
    }
}

/// Measures some pairs of hosts in turn, round by round: bit/s by pair and round.
///
/// All streams stay open; those of one pair send at a time, so that two
/// neighbouring windows meet the same machine, and a slow change of it favours
/// nobody: every second round goes the other way round, too. Senders keep to one
/// processor and receivers to another: where a scheduler happens to put them
/// changes one stream's rate twofold, for minutes.
fn in_turn(pairs: &[Pair], streams: usize, rounds: u32, window: Duration) -> Result<Vec<Vec<f64>>, Failure> {
    let open = |pair: &Pair| Lane::open(&pair.near.netns, &pair.far.netns, streams);
    let lanes = pairs.iter().map(open).collect::<Result<Vec<_>, Failure>>()?;
    let mut rates_bps = vec![Vec::new(); pairs.len()];
    thread::scope(|scope| {
        lanes.iter().for_each(|lane| lane.start(scope));
        for round in 0..rounds {
            let mut order: Vec<usize> = (0..lanes.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for place in order {
                rates_bps[place].push(lanes[place].turn_bps(window));
            }
        }
        lanes.iter().for_each(Lane::close);
    });
    match process::termination() {
        Some(_) => Err(Failure::Interrupted),
        None if rates_bps.iter().flatten().any(|rate_bps| *rate_bps == 0.0) => Err(Failure::failed("nothing arrived")),
        None => Ok(rates_bps),
    }
}

/// The streams of one pair.
struct Lane {
    /// The sending end first.
    connections: Vec<(TcpStream, TcpStream)>,
    received: AtomicU64,
    phase: Mutex<Phase>,
    changed: Condvar,
}

/// What the senders do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Wait,
    Send,
    End,
}

impl Lane {
    fn open(near: &NetNs, far: &NetNs, streams: usize) -> Result<Lane, Failure> {
        Ok(Lane {
            connections: connect(near, far, streams)?,
            received: AtomicU64::new(0),
            phase: Mutex::new(Phase::Wait),
            changed: Condvar::new(),
        })
    }

    /// Starts the threads, which wait for a turn.
    fn start<'scope>(&'scope self, scope: &'scope thread::Scope<'scope, '_>) {
        for (sender, receiver) in &self.connections {
            scope.spawn(|| self.send(sender));
            scope.spawn(|| self.receive(receiver));
        }
    }

    /// Lets them send for a window.
    fn turn_bps(&self, window: Duration) -> f64 {
        self.enter(Phase::Send);
        process::sleep_or_termination(SETTLE);
        let (start, before) = (Instant::now(), self.received.load(Ordering::Relaxed));
        process::sleep_or_termination(window);
        let (elapsed, after) = (start.elapsed(), self.received.load(Ordering::Relaxed));
        self.enter(Phase::Wait);
        process::sleep_or_termination(DRAIN);
        (after - before) as f64 * 8.0 / elapsed.as_secs_f64()
    }

    /// Ends the threads; a stream that is down already needs no end.
    fn close(&self) {
        self.enter(Phase::End);
        for (sender, receiver) in &self.connections {
            let _ = sender.shutdown(Shutdown::Both);
            let _ = receiver.shutdown(Shutdown::Both);
        }
    }

    fn enter(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
        self.changed.notify_all();
    }

    /// Sends in its turns until the end.
    fn send(&self, mut socket: &TcpStream) {
        // Not pinned it measures all the same, less steadily.
        let _ = sched::keep_to(SENDERS);
        let chunk = vec![0; CHUNK];
        while self.next_turn() == Phase::Send && socket.write_all(&chunk).is_ok() {}
    }

    /// Waits for the next turn, or the end.
    fn next_turn(&self) -> Phase {
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let phase = self.changed.wait_while(phase, |phase| *phase == Phase::Wait);
        *phase.unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts what arrives until the connection is shut down.
    fn receive(&self, socket: &TcpStream) {
        let _ = sched::keep_to(RECEIVERS);
        while let Ok(bytes @ 1..) = tcp::discard(socket.as_fd(), CHUNK) {
            self.received.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}

/// Processors of the sending and of the receiving threads, by place.
const SENDERS: usize = 0;
const RECEIVERS: usize = 1;
/// Left out at the start of every turn.
const SETTLE: Duration = Duration::from_millis(20);
/// What is under way arrives before the next one's turn.
const DRAIN: Duration = Duration::from_millis(10);
/// Bytes of a write, and the most that is taken off a socket at once.
const CHUNK: usize = 128 << 10;
const CONGESTION: &str = "cubic";

/// Connections with the sending end first.
fn connect(near: &NetNs, far: &NetNs, streams: usize) -> Result<Vec<(TcpStream, TcpStream)>, Failure> {
    let listening = far.run(|| TcpListener::bind(SocketAddr::new(FAR, 0)))?;
    let listener = listening.map_err(|error| Failure::failed(format!("cannot listen on {FAR}: {error}")))?;
    let address = listener.local_addr().map_err(Failure::failed)?;
    let connect_one = |_| {
        let sender = near.run(|| tcp::connect_with(address, CONGESTION))??;
        let (receiver, _) = listener.accept().map_err(Failure::failed)?;
        Ok((sender, receiver))
    };
    (0..streams).map(connect_one).collect()
}
