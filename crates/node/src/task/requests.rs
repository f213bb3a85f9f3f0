//! `requests`: small questions over TCP at regular moments, each with an answer of a size that the seed draws.
//!
//! One connection, as a browser keeps it. A question of 64 bytes says how long the answer is to be; its time runs from the
//! question to the answer's last byte. A question whose turn comes while the one before waits is asked as soon as that one
//! is answered, and its time runs from its turn: a slow answer is not hidden by the questions that it kept back.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nicteam_record::measure::Counted;
use nicteam_record::{Connection, ConnectionSample, Operations, Stall};
use serde::Deserialize;

use super::gate::Gate;
use super::kind::{self, Kind};
use super::tcp;
use crate::error::Failure;
use crate::lock;
use crate::processor;
use crate::protocol::{ConnectionSpec, Outcomes, Role};
use crate::random::Random;

/// Bytes of a question.
const QUESTION_BYTES: usize = 64;
/// How long a read waits before it looks whether the traffic is over.
const LOOK_EACH: Duration = Duration::from_millis(100);
/// The longest answer that is given, bytes, whoever asks.
const LONGEST: u64 = 16 << 20;

/// The kind.
#[derive(Debug)]
pub(super) struct Requests;

/// What both ends have to know ([`nicteam_experiment::Task::each`]).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    smallest: u64,
    largest: u64,
    interval_us: u64,
    seed: u64,
    mptcp: bool,
}

impl Each {
    fn of(spec: &ConnectionSpec) -> Result<Each, Failure> {
        Ok(Each::deserialize(&spec.each).map_err(|error| format!("no requests: {error}"))?)
    }
}

impl Kind for Requests {
    fn name(&self) -> &'static str {
        "requests"
    }

    fn at_agent(&self) -> Box<dyn kind::Ends> {
        Box::new(Ends::default())
    }

    /// Its answers are counted one by one, not as a flow.
    fn figures(&self, _spec: &ConnectionSpec, _counted: &Counted<'_>, _connection: &mut Connection) {}
}

/// The ends at an agent.
#[derive(Debug, Default)]
struct Ends {
    askers: Mutex<Vec<Arc<Asker>>>,
    asking: Threads,
    /// It goes on until those who ask, at other hosts, too, have ended.
    answering: Threads,
}

/// Threads behind a gate.
#[derive(Debug, Default)]
struct Threads {
    threads: Mutex<Vec<JoinHandle<()>>>,
    gate: Arc<Gate>,
}

impl Threads {
    fn start(&self, name: String, work: impl FnOnce(&Gate) + Send + 'static) -> Result<(), Failure> {
        let gate = Arc::clone(&self.gate);
        let thread = std::thread::Builder::new().name(name).spawn(move || work(&gate))?;
        lock(&self.threads).push(thread);
        Ok(())
    }

    fn end(&self) {
        self.gate.stop();
        for thread in lock(&self.threads).drain(..) {
            // What it counted before it failed is there.
            let _ = thread.join();
        }
    }
}

/// One end that asks.
#[derive(Debug)]
struct Asker {
    index: u32,
    each: Each,
    stream: TcpStream,
    counts: Mutex<Counts>,
}

/// What was answered.
#[derive(Debug, Default)]
struct Counts {
    operations: Operations,
    begun: Option<Instant>,
    longest: Option<(Duration, Duration)>,
    error: Option<String>,
}

impl kind::Ends for Ends {
    fn prepare(&self, role: Role, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        for spec in &connections {
            match role {
                Role::Server => self.serve(spec, &connections)?,
                Role::Client => self.open(spec)?,
            }
        }
        Ok(())
    }

    fn start(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn begin(&self, _measured: Duration) {
        self.asking.gate.let_through();
    }

    fn end_clients(&self) {
        self.asking.end();
    }

    fn stop(&self) {
        self.asking.end();
        self.answering.end();
    }

    fn sample(&self) -> Vec<ConnectionSample> {
        Vec::new()
    }

    fn outcomes(&self) -> Outcomes {
        let operations = lock(&self.askers).iter().map(|asker| asker.outcome()).collect();
        Outcomes { operations, ..Outcomes::default() }
    }
}

impl Ends {
    /// Answers whoever connects to the port of a workload; the first of its connections opens it.
    fn serve(&self, spec: &ConnectionSpec, all: &[ConnectionSpec]) -> Result<(), Failure> {
        let is_first =
            all.iter().find(|other| other.server == spec.server).is_some_and(|first| first.index == spec.index);
        if !is_first {
            return Ok(());
        }
        let listener = listen(spec.server, Each::of(spec)?.mptcp)
            .map_err(|error| format!("cannot listen on {}: {error}", spec.server))?;
        self.answering.start(format!("answers {}", spec.server), move |gate| {
            std::thread::scope(|scope| {
                while !gate.is_stopped() {
                    match listener.accept() {
                        // Whoever goes away has no answer.
                        Ok((stream, _)) => drop(scope.spawn(move || drop(answer(&stream, gate)))),
                        Err(error) if error.kind() == ErrorKind::WouldBlock => {
                            std::thread::sleep(Duration::from_millis(5));
                        }
                        Err(_) => return,
                    }
                }
            });
        })
    }

    /// Opens an end that asks.
    fn open(&self, spec: &ConnectionSpec) -> Result<(), Failure> {
        let each = Each::of(spec)?;
        let stream = tcp::connect_plain(spec.client, spec.server, each.mptcp)
            .map_err(|error| format!("cannot connect {} to {}: {error}", spec.client, spec.server))?;
        ready(&stream)?;
        let asker = Arc::new(Asker { index: spec.index, each, stream, counts: Mutex::default() });
        lock(&self.askers).push(Arc::clone(&asker));
        self.asking.start(format!("requests {}", spec.index), move |gate| {
            gate.wait();
            if let Err(error) = asker.run(gate) {
                lock(&asker.counts).error = Some(error.to_string());
            }
        })
    }
}

impl Asker {
    /// Asks until the traffic is over.
    fn run(&self, gate: &Gate) -> io::Result<()> {
        let interval = Duration::from_micros(self.each.interval_us);
        let mut sizes = Sizes::new(&self.each, self.index);
        let begun = Instant::now();
        lock(&self.counts).begun = Some(begun);
        let mut due = begun;
        loop {
            while Instant::now() < due {
                if gate.is_stopped() {
                    return Ok(());
                }
                std::thread::sleep((due - Instant::now()).min(LOOK_EACH));
            }
            if gate.is_stopped() {
                return Ok(());
            }
            processor::wait(|| gate.is_stopped());
            let size = sizes.next();
            let mut question = [0; QUESTION_BYTES];
            question[..8].copy_from_slice(&size.to_be_bytes());
            (&self.stream).write_all(&question)?;
            if !read_bytes(&self.stream, size, gate)? {
                // It was under way when the traffic ended: that long it has waited at least.
                lock(&self.counts).waited(begun, due, Instant::now());
                return Ok(());
            }
            let now = Instant::now();
            let mut counts = lock(&self.counts);
            counts.waited(begun, due, now);
            counts.operations.completed += 1;
            counts.operations.read_bytes += size;
            processor::charge(size as usize);
            counts.operations.latency.add((now - due).as_micros() as u64);
            due += interval;
        }
    }

    fn outcome(&self) -> Operations {
        let counts = lock(&self.counts);
        let took_s = counts.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        let completed = counts.operations.completed;
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let stall = counts.longest.map(|(at, took)| Stall { from_ms: milliseconds(at), took_ms: milliseconds(took) });
        let Each { smallest, largest, interval_us, .. } = self.each;
        let sizes = if smallest == largest { smallest.to_string() } else { format!("{smallest} to {largest}") };
        let why = counts.error.as_ref().map_or_else(String::new, |error| format!("; ended early: {error}"));
        Operations {
            index: self.index,
            rate_per_s: if took_s > 0.0 { completed as f64 / took_s } else { 0.0 },
            errors: u64::from(counts.error.is_some()),
            specification: format!("answers of {sizes} bytes, one each {} ms{why}", interval_us as f64 / 1e3),
            stall,
            ..counts.operations.clone()
        }
    }
}

impl Counts {
    /// Somebody waited from one moment to another.
    fn waited(&mut self, begun: Instant, from: Instant, to: Instant) {
        let took = to.saturating_duration_since(from);
        if self.longest.is_none_or(|(_, longest)| took > longest) {
            self.longest = Some((from.saturating_duration_since(begun), took));
        }
    }
}

/// Sizes of answers, each power of two between the smallest and the largest as often.
struct Sizes {
    smallest: f64,
    octaves: f64,
    random: Random,
}

impl Sizes {
    fn new(each: &Each, number: u32) -> Sizes {
        let (smallest, largest) = (each.smallest.max(1) as f64, each.largest.max(each.smallest).max(1) as f64);
        Sizes { smallest, octaves: (largest / smallest).log2(), random: Random::of(each.seed, number) }
    }

    /// The next one.
    fn next(&mut self) -> u64 {
        let part = self.random.part();
        (self.smallest * (part * self.octaves).exp2()).round() as u64
    }
}

/// Answers questions until the other end goes or the traffic is over.
fn answer(stream: &TcpStream, gate: &Gate) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    ready(stream)?;
    let payload = vec![0x5a; 64 << 10];
    loop {
        let mut question = [0; QUESTION_BYTES];
        let mut read = 0;
        while read < QUESTION_BYTES {
            match (&mut &*stream).read(&mut question[read..]) {
                Ok(0) => return Ok(()),
                Ok(bytes) => read += bytes,
                Err(error) if is_late(&error) && !gate.is_stopped() => {}
                Err(error) => return Err(error),
            }
        }
        processor::wait(|| gate.is_stopped());
        let wanted = question.first_chunk::<8>().map_or(0, |size| u64::from_be_bytes(*size));
        let mut left = wanted.min(LONGEST);
        while left > 0 {
            let piece = left.min(payload.len() as u64) as usize;
            match (&mut &*stream).write(&payload[..piece]) {
                Ok(bytes) => {
                    left -= bytes as u64;
                    processor::charge(bytes);
                }
                Err(error) if is_late(&error) && !gate.is_stopped() => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Reads so many bytes; false if the traffic was over before.
fn read_bytes(stream: &TcpStream, bytes: u64, gate: &Gate) -> io::Result<bool> {
    let (mut left, mut buffer) = (bytes, vec![0; 64 << 10]);
    while left > 0 {
        let piece = left.min(buffer.len() as u64) as usize;
        match (&mut &*stream).read(&mut buffer[..piece]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => left -= bytes as u64,
            Err(error) if is_late(&error) => {
                if gate.is_stopped() {
                    return Ok(false);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Small pieces go at once, and reads look up now and then.
fn ready(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LOOK_EACH))?;
    stream.set_write_timeout(Some(LOOK_EACH))
}

/// Listens, and does not wait for those who come.
fn listen(address: SocketAddr, mptcp: bool) -> Result<TcpListener, Failure> {
    let listener = tcp::listener_plain(address, mptcp)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_power_of_two_is_drawn_as_often() {
        let each = Each { smallest: 64, largest: 65_536, interval_us: 1, seed: 7, mptcp: false };
        let mut sizes = Sizes::new(&each, 0);
        let drawn: Vec<u64> = (0..10_000).map(|_| sizes.next()).collect();
        assert!(drawn.iter().all(|size| (64..=65_536).contains(size)));
        for octave in 6..16 {
            let count = drawn.iter().filter(|size| size.ilog2() == octave).count();
            assert!((850..1150).contains(&count), "2^{octave}: {count}");
        }
        let same: Vec<u64> = {
            let mut sizes = Sizes::new(&each, 0);
            (0..10).map(|_| sizes.next()).collect()
        };
        assert_eq!(same, drawn[..10]);
        let one = Sizes::new(&Each { smallest: 100, largest: 100, ..each }, 3).next();
        assert_eq!(one, 100);
    }
}
