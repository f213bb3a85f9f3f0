//! What the policies make of paths of known rate and latency: a closed loop under virtual time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use nicteam_multipath::{Config, Effect, Kind, Multipath, Outcome, PathId, Policy, Request};

const GIGABIT: f64 = 117.7e6;
const BLOCK: u32 = 512;

/// A path: a full-duplex link and what is behind it.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Bytes a second of each direction.
    rate: f64,
    /// One way.
    latency: Duration,
}

impl Link {
    const fn gigabit() -> Link {
        Link { rate: GIGABIT, latency: Duration::from_micros(100) }
    }

    fn slow() -> Link {
        Link { rate: GIGABIT / 10.0, ..Link::gigabit() }
    }

    fn long() -> Link {
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
struct Load {
    bytes: u32,
    /// Of a hundred.
    reads: u64,
    outstanding: u64,
}

const READ_32K: Load = Load { bytes: 32 << 10, reads: 100, outstanding: 64 };

#[derive(Debug)]
enum Event {
    LoggedIn(PathId),
    Done(PathId, u64),
}

/// A caller with a closed loop, its paths and time.
struct Loop {
    multipath: Multipath,
    wires: Vec<Wire>,
    load: Load,
    /// Disks behind the target: each serves one command at a time, in so long. None: no time at all.
    disks: Option<(Vec<Duration>, Duration)>,
    now: Duration,
    events: BTreeMap<(Duration, u64), Event>,
    count: u64,
    submitted: u64,
    requests: BTreeMap<u64, (Kind, Duration)>,
    free: VecDeque<u64>,
    read_bytes: u64,
    write_bytes: u64,
    latencies: Vec<Duration>,
}

impl Loop {
    fn new(policy: Policy, links: &[Link], load: Load) -> Loop {
        let config = Config { policy, block_bytes: BLOCK, ..Config::default() };
        let wire = |link: &Link| Wire { link: *link, down_free: Duration::ZERO, up_free: Duration::ZERO };
        let mut world = Loop {
            multipath: Multipath::new(config, links.len(), Duration::ZERO),
            wires: links.iter().map(wire).collect(),
            load,
            disks: None,
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
        self.events.insert((time, self.count), event);
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
        self.commands_to(command, request);
    }

    fn commands_to(&mut self, command: u64, request: u64) {
        self.requests.insert(command | 1 << 63, (Kind::Flush, Duration::from_nanos(request)));
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

    /// Runs so long.
    fn run(&mut self, span: Duration) {
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
                self.multipath.handle_timeout(self.now);
            } else if let Some((_, event)) = self.events.pop_first() {
                match event {
                    Event::LoggedIn(path) => self.multipath.handle_logged_in(path, self.now),
                    Event::Done(path, command) => {
                        self.requests.remove(&(command | 1 << 63));
                        self.multipath.handle_done(path, command, Outcome::Good, self.now);
                    }
                }
            }
            self.drain();
        }
        self.now = end;
    }

    /// Bytes a second of both directions over a second, after one to warm up.
    fn rate(&mut self) -> f64 {
        self.run(Duration::from_secs(1));
        (self.read_bytes, self.write_bytes) = (0, 0);
        self.latencies.clear();
        self.run(Duration::from_secs(1));
        (self.read_bytes + self.write_bytes) as f64
    }

    /// The share of what the links can carry at this share of reads.
    fn share(&mut self) -> f64 {
        let sum: f64 = self.wires.iter().map(|wire| wire.link.rate).sum();
        let reads = self.load.reads.max(100 - self.load.reads) as f64 / 100.0;
        self.rate() / (sum / reads)
    }
}

fn share(policy: Policy, links: &[Link], load: Load) -> f64 {
    let share = Loop::new(policy, links, load).share();
    println!("{policy} over {} links, {load:?}: {share:.3}", links.len());
    share
}

fn rr(ios: u32) -> Policy {
    Policy::RoundRobin { ios: Some(ios) }
}

/// So many gigabit links, the last one replaced.
fn but_one(count: usize, other: Link) -> Vec<Link> {
    let mut links = vec![Link::gigabit(); count];
    links[count - 1] = other;
    links
}

#[test]
fn print_all() {
    for count in [2, 4, 8] {
        for (name, other) in [("equal", Link::gigabit()), ("slow", Link::slow()), ("long", Link::long())] {
            for bytes in [8 << 10, 32 << 10] {
                for reads in [100, 0, 50] {
                    let load = Load { bytes, reads, outstanding: 64 };
                    let links = but_one(count, other);
                    let mut line = format!("{count} {name} {}k {reads}: ", bytes >> 10);
                    for policy in [
                        Policy::Fixed,
                        Policy::RoundRobin { ios: None },
                        rr(1),
                        Policy::QueueLength,
                        Policy::ServiceTime,
                        Policy::Best,
                    ] {
                        let mut world = Loop::new(policy, &links, load);
                        let share = world.share();
                        world.latencies.sort();
                        let p99 = world.latencies[world.latencies.len() * 99 / 100];
                        line += &format!(" {policy} {share:.3} ({:.1})", p99.as_secs_f64() * 1e3);
                    }
                    println!("{line}");
                }
            }
        }
    }
}

#[test]
fn debug_one() {
    let mut world =
        Loop::new(Policy::Best, &but_one(4, Link::long()), Load { bytes: 8 << 10, reads: 100, outstanding: 64 });
    for _ in 0..60 {
        world.run(Duration::from_millis(50));
        let status = world.multipath.status();
        let line: Vec<String> = status
            .paths
            .iter()
            .map(|p| {
                format!(
                    "{} {:.1} {:.2}",
                    p.outstanding,
                    p.read_rate.unwrap_or(0.0) / 1e6,
                    p.latency.unwrap_or_default().as_secs_f64() * 1e3
                )
            })
            .collect();
        println!("{:?} {}", world.now, line.join(" | "));
    }
}
