//! `ping`: echo requests from one host, which the kernel of the other sends back.
//!
//! Requests begin with the measured window. They are sent on schedule; where the sender wakes up late it sends what is due
//! at once, and what is more than [`CATCH_UP`] late it leaves out. Round-trip times are from the call that sends to the
//! moment at which the kernel took the answer in, so a late thread does not make them longer.

mod counts;
mod refusals;

use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nicteam_record::measure::Counted;
use nicteam_record::{Connection, ConnectionSample};
use nicteam_sys::echo::{Between, EchoSocket, Fragmentation, Question, Refusal};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use serde::Deserialize;

use self::counts::Counts;
use super::gate::Gate;
use super::kind::{self, Kind};
use crate::error::Failure;
use crate::lock;
use crate::protocol::{ConnectionSpec, Outcomes, PathSpec, Role, TaskSample};

/// How far behind its schedule a sender sends on without leaving requests out.
const CATCH_UP: Duration = Duration::from_millis(20);
/// How long a thread waits before it looks whether the traffic is over.
const LOOK_EACH: Duration = Duration::from_millis(50);
/// How long the last answers may take.
const LINGER: Duration = Duration::from_secs(1);

/// The kind.
#[derive(Debug)]
pub(super) struct Ping;

/// What the asking end has to know ([`nicteam_experiment::Task::each`]).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    payload_bytes: u32,
    dont_fragment: bool,
    interval_us: u64,
    count: Option<u64>,
}

impl Kind for Ping {
    fn name(&self) -> &'static str {
        "ping"
    }

    fn at_agent(&self) -> Box<dyn kind::Ends> {
        Box::new(Ends::default())
    }

    /// It has no connections.
    fn figures(&self, _spec: &ConnectionSpec, _counted: &Counted<'_>, _connection: &mut Connection) {}
}

/// The asking ends at an agent.
#[derive(Debug, Default)]
struct Ends {
    pings: Mutex<Vec<Arc<One>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    gate: Arc<Gate>,
    /// When the measured window began.
    begun: Mutex<Option<Instant>>,
}

/// Requests by one path.
#[derive(Debug)]
struct One {
    index: u32,
    each: Each,
    socket: EchoSocket,
    counts: Mutex<Counts>,
}

impl kind::Ends for Ends {
    fn prepare(&self, role: Role, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        // The other end is its kernel's.
        if role == Role::Server {
            return Ok(());
        }
        connections.iter().try_for_each(|spec| self.open(spec))
    }

    fn start(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn begin(&self, _measured: Duration) {
        *lock(&self.begun) = Some(Instant::now());
        self.gate.let_through();
    }

    fn stop(&self) {
        self.gate.stop();
        for thread in lock(&self.threads).drain(..) {
            // What it counted before it failed is there.
            let _ = thread.join();
        }
    }

    fn sample(&self) -> Vec<ConnectionSample> {
        Vec::new()
    }

    fn tasks(&self) -> Vec<TaskSample> {
        let mut samples: Vec<TaskSample> = Vec::new();
        let begun_ms = lock(&self.begun).map(|begun| begun.elapsed().as_secs_f64() * 1e3);
        for ping in lock(&self.pings).iter() {
            let Some(count) = ping.each.count else { continue };
            let bytes = u64::from(ping.each.payload_bytes);
            let counts = lock(&ping.counts);
            let sample = TaskSample {
                index: ping.index,
                done_bytes: counts.sent() * bytes,
                all_bytes: count * bytes,
                ended_ms: begun_ms.filter(|_| counts.has_ended()),
                error: None,
            };
            // Of several paths, all.
            match samples.iter_mut().find(|known| known.index == sample.index) {
                Some(known) => {
                    known.done_bytes += sample.done_bytes;
                    known.all_bytes += sample.all_bytes;
                    known.ended_ms = known.ended_ms.zip(sample.ended_ms).map(|(one, other)| one.max(other));
                }
                None => samples.push(sample),
            }
        }
        samples
    }

    fn outcomes(&self) -> Outcomes {
        let of = |ping: &Arc<One>| {
            let Each { payload_bytes, dont_fragment, interval_us, .. } = ping.each;
            let probes = lock(&ping.counts).probes(ping.index);
            let echo = probes.echo.map(|echo| nicteam_record::Echo {
                src: ping.socket.own().to_string(),
                dst: ping.socket.to().to_string(),
                payload_bytes,
                dont_fragment,
                interval_ms: interval_us as f64 / 1e3,
                ..echo
            });
            nicteam_record::Probes { echo, ..probes }
        };
        Outcomes { probes: lock(&self.pings).iter().map(of).collect(), ..Outcomes::default() }
    }
}

impl Ends {
    /// Opens the asking end, once by each path.
    fn open(&self, spec: &ConnectionSpec) -> Result<(), Failure> {
        let each = Each::deserialize(&spec.each).map_err(|error| format!("no ping: {error}"))?;
        let whole = PathSpec { device: String::new(), client: spec.client.ip(), server: spec.server.ip() };
        let paths = if spec.paths.is_empty() { std::slice::from_ref(&whole) } else { &spec.paths };
        for path in paths {
            let fragmentation = if each.dont_fragment { Fragmentation::Forbidden } else { Fragmentation::Allowed };
            let device = Some(path.device.as_str()).filter(|device| !device.is_empty());
            let between = Between { to: path.server, from: Some(path.client), device };
            let socket = EchoSocket::open(between, fragmentation)?;
            let counts = Mutex::new(Counts::new(each.payload_bytes));
            let ping = Arc::new(One { index: spec.index, each, socket, counts });
            lock(&self.pings).push(Arc::clone(&ping));
            let gate = Arc::clone(&self.gate);
            let thread = std::thread::Builder::new().name(format!("ping {}", spec.index)).spawn(move || {
                ping.run(&gate);
                lock(&ping.counts).end();
            })?;
            lock(&self.threads).push(thread);
        }
        Ok(())
    }
}

impl One {
    /// Asks until all is asked or the traffic is over, then waits for the last answers.
    fn run(&self, gate: &Gate) {
        gate.wait();
        let interval = Duration::from_micros(self.each.interval_us);
        let payload: Vec<u8> = (0..self.each.payload_bytes).map(|place| place as u8).collect();
        let mut buffer = vec![0; 1 << 16];
        let (begun, mut due) = (Instant::now(), Instant::now());
        while !gate.is_stopped() && self.each.count.is_none_or(|count| lock(&self.counts).sent() < count) {
            let now = Instant::now();
            if due > now {
                self.wait((due - now).min(LOOK_EACH));
            } else {
                due = if now - due > CATCH_UP { now } else { due };
                self.ask(&payload, begun);
                due += interval;
            }
            self.hear(&mut buffer, begun);
        }
        let until = Instant::now() + LINGER;
        while lock(&self.counts).outstanding() > 0 && Instant::now() < until {
            self.wait(LOOK_EACH);
            self.hear(&mut buffer, begun);
        }
    }

    /// Sends one.
    fn ask(&self, payload: &[u8], begun: Instant) {
        let at = now();
        let sequence = lock(&self.counts).send(begun.elapsed(), at);
        if let Err(error) = self.socket.send(Question::Echo, sequence, payload) {
            // The queue of refusals knows the MTU.
            let refusal = self.socket.refusal().ok().flatten();
            let words = match refusal {
                Some(refusal) => refusals::words(&refusal, self.to(), Some(sequence)),
                None => refusals::local(&error),
            };
            lock(&self.counts).refuse(Some(sequence), words);
        }
    }

    /// Takes in what has arrived.
    fn hear(&self, buffer: &mut [u8], begun: Instant) {
        // Neither fails while the socket is open; what is lost then counts as lost.
        while let Ok(Some(reply)) = self.socket.receive(buffer) {
            let at = reply.arrived.unwrap_or_else(now);
            if reply.question == Question::Echo {
                let (bytes, ttl) = (reply.payload.len() as u32 + 8, reply.ttl.unwrap_or(0));
                lock(&self.counts).receive(reply.sequence, (bytes, ttl), begun.elapsed(), at);
            }
        }
        while let Ok(Some(refusal)) = self.socket.refusal() {
            let Refusal { sequence, .. } = refusal;
            lock(&self.counts).refuse(sequence, refusals::words(&refusal, self.to(), sequence));
        }
    }

    fn to(&self) -> IpAddr {
        self.socket.to()
    }

    /// Waits until there is something to hear, so long at most.
    fn wait(&self, time: Duration) {
        let mut sockets = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        // A signal ends it early, which does no harm.
        let _ = ppoll(&mut sockets, Some(TimeSpec::from_duration(time)), None);
    }
}

/// The clock of the day, by which the kernel notes arrivals.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
