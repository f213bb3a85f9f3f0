//! A caller that keeps so many requests outstanding, over paths of known rate and latency, under virtual time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use nicteam_multipath::{Config, Effect, Kind, Multipath, Outcome, PathId, Policy, Request};

pub const GIGABIT: f64 = 117.7e6;
const BLOCK: u32 = 512;

/// A path: a full-duplex link and what is behind it.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Bytes a second of each direction.
    pub rate: f64,
    /// One way.
    pub latency: Duration,
}

impl Link {
    pub const fn gigabit() -> Link {
        Link { rate: GIGABIT, latency: Duration::from_micros(100) }
    }

    /// A tenth of the rate.
    pub fn slow() -> Link {
        Link { rate: GIGABIT / 10.0, ..Link::gigabit() }
    }

    /// 2 ms longer, there and back.
    pub fn long() -> Link {
        Link { latency: Duration::from_micros(1100), ..Link::gigabit() }
    }
}

/// A link with its queues.
#[derive(Clone, Copy, Debug)]
struct Wire {
    link: Link,
    down_free: Duration,
    up_free: Duration,
}

/// What the caller does.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub bytes: u32,
    /// Of a hundred.
    pub reads: u64,
    pub outstanding: u64,
}

pub const READ_32K: Load = Load { bytes: 32 << 10, reads: 100, outstanding: 64 };

#[derive(Debug)]
enum Event {
    LoggedIn(PathId),
    Done(PathId, u64),
}

/// A caller with a closed loop, its paths and time.
pub struct Loop {
    pub multipath: Multipath,
    wires: Vec<Wire>,
    load: Load,
    /// Disks behind the target: each serves one command at a time, in so long. None: no time at all.
    disks: Option<(Vec<Duration>, Duration)>,
    /// Answers are read at multiples of this.
    pub reads_every: Duration,
    pub now: Duration,
    events: BTreeMap<(Duration, u64), Event>,
    count: u64,
    submitted: u64,
    requests: BTreeMap<u64, (Kind, Duration)>,
    free: VecDeque<u64>,
    read_bytes: u64,
    write_bytes: u64,
    pub latencies: Vec<Duration>,
}

impl Loop {
    pub fn new(policy: Policy, links: &[Link], load: Load) -> Loop {
        let config = Config { policy, block_bytes: BLOCK, ..Config::default() };
        let wire = |link: &Link| Wire { link: *link, down_free: Duration::ZERO, up_free: Duration::ZERO };
        let mut world = Loop {
            multipath: Multipath::new(config, links.len(), Duration::ZERO),
            wires: links.iter().map(wire).collect(),
            load,
            disks: None,
            reads_every: Duration::from_nanos(1),
            now: Duration::ZERO,
            events: BTreeMap::new(),
            count: 0,
            submitted: 0,
            requests: BTreeMap::new(),
            free: VecDeque::new(),
            read_bytes: 0,
            write_bytes: 0,
            latencies: Vec::new(),
        };
        world.drain();
        world
    }

    fn at(&mut self, time: Duration, event: Event) {
        self.count += 1;
        let read_at = time.as_nanos().next_multiple_of(self.reads_every.as_nanos()) as u64;
        self.events.insert((Duration::from_nanos(read_at), self.count), event);
    }

    /// The answer to a small command comes behind what is queued.
    fn answer(&mut self, path: PathId, command: u64) {
        let wire = self.wires[path.0];
        let at = (wire.down_free.max(self.now + wire.link.latency)) + wire.link.latency;
        self.at(at, Event::Done(path, command));
    }

    fn send(&mut self, path: PathId, command: u64, request: u64) {
        let kind = self.requests[&request].0;
        let wire = &mut self.wires[path.0];
        let service = Duration::from_secs_f64(f64::from(self.load.bytes) / wire.link.rate);
        let latency = wire.link.latency;
        let arrives = match kind {
            Kind::Write => {
                wire.up_free = wire.up_free.max(self.now) + service;
                wire.up_free + latency
            }
            _ => self.now + latency,
        };
        let ready = match &mut self.disks {
            Some((disks, time)) => {
                let disk = disks.iter_mut().min().unwrap();
                *disk = (*disk).max(arrives) + *time;
                *disk
            }
            None => arrives,
        };
        let answered = match kind {
            Kind::Read => {
                wire.down_free = wire.down_free.max(ready) + service;
                wire.down_free
            }
            _ => ready,
        };
        self.at(answered + latency, Event::Done(path, command));
    }

    fn drain(&mut self) {
        while let Some(effect) = self.multipath.poll_effect() {
            match effect {
                Effect::LogIn { path, .. } => self.at(self.now + Duration::from_millis(1), Event::LoggedIn(path)),
                Effect::Send { path, command, request } => self.send(path, command, request),
                Effect::Nop { path, command } | Effect::TestUnitReady { path, command } => self.answer(path, command),
                Effect::Finish { request, result } => {
                    assert_eq!(result, Ok(()));
                    let (kind, since) = self.requests.remove(&request).unwrap();
                    let bytes = u64::from(self.load.bytes);
                    match kind {
                        Kind::Read => self.read_bytes += bytes,
                        _ => self.write_bytes += bytes,
                    }
                    self.latencies.push(self.now - since);
                    self.free.push_back(request);
                }
                Effect::Notice(_) => {}
                other => panic!("at {:?}: {other:?}", self.now),
            }
        }
    }

    fn submit(&mut self, id: u64) {
        // Reads and writes are spread evenly (Bresenham's line).
        let reads = |number: u64| number * self.load.reads / 100;
        self.submitted += 1;
        let kind = if reads(self.submitted + 1) > reads(self.submitted) { Kind::Read } else { Kind::Write };
        self.requests.insert(id, (kind, self.now));
        let blocks = self.load.bytes / BLOCK;
        let request = Request { id, kind, lba: self.submitted * u64::from(blocks), blocks };
        self.multipath.submit(request, self.now).unwrap();
        self.drain();
    }

    /// Disks behind the target, so many, each of which takes so long for a command.
    pub fn with_disks(mut self, count: usize, time: Duration) -> Loop {
        self.disks = Some((vec![Duration::ZERO; count], time));
        self
    }

    /// A link becomes another one.
    pub fn set_link(&mut self, path: usize, link: Link) {
        self.wires[path].link = link;
    }

    /// Bytes move on links that are busy, though no command is answered yet.
    fn hear(&mut self) {
        for (index, wire) in self.wires.clone().into_iter().enumerate() {
            if wire.down_free.max(wire.up_free) > self.now {
                self.multipath.handle_heard(PathId(index), self.now);
                self.drain();
            }
        }
    }

    /// Runs so long.
    pub fn run(&mut self, span: Duration) {
        if self.requests.is_empty() {
            (0..self.load.outstanding).for_each(|id| self.submit(id));
        }
        let end = self.now + span;
        loop {
            while let Some(id) = self.free.pop_front() {
                self.submit(id);
            }
            let event = self.events.first_key_value().map(|(&(at, _), _)| at);
            let timer = self.multipath.poll_timeout().map(|(at, _)| at);
            let Some(next) = event.into_iter().chain(timer).min().filter(|at| *at <= end) else { break };
            self.now = self.now.max(next);
            if timer.is_some_and(|at| at <= self.now) && event.is_none_or(|at| at > self.now) {
                self.hear();
                self.multipath.handle_timeout(self.now);
            } else if let Some((_, event)) = self.events.pop_first() {
                match event {
                    Event::LoggedIn(path) => self.multipath.handle_logged_in(path, self.now),
                    Event::Done(path, command) => self.multipath.handle_done(path, command, Outcome::Good, self.now),
                }
            }
            self.drain();
        }
        self.now = end;
    }

    /// Bytes a second of both directions, over so long from now.
    pub fn rate_over(&mut self, span: Duration) -> f64 {
        (self.read_bytes, self.write_bytes) = (0, 0);
        self.latencies.clear();
        self.run(span);
        (self.read_bytes + self.write_bytes) as f64 / span.as_secs_f64()
    }

    /// The same over half a second.
    pub fn rate(&mut self) -> f64 {
        self.rate_over(Duration::from_millis(500))
    }

    /// What is delivered from now on, as a share of what the links can carry at this share of reads.
    pub fn share(&mut self) -> f64 {
        self.share_over(Duration::from_millis(500))
    }

    /// The same over so long.
    pub fn share_over(&mut self, span: Duration) -> f64 {
        let sum: f64 = self.wires.iter().map(|wire| wire.link.rate).sum();
        let reads = self.load.reads.max(100 - self.load.reads) as f64 / 100.0;
        self.rate_over(span) / (sum / reads)
    }

    /// The latency that 99 of 100 requests of the last share did not exceed.
    pub fn p99(&mut self) -> Duration {
        self.latencies.sort_unstable();
        self.latencies[self.latencies.len() * 99 / 100]
    }
}
