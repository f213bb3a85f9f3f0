//! Counters at regular moments.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nicteam_load::cpu;
use nicteam_netlink::Netlink;
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::clock;
use nicteam_node::emulator::Relay;
use nicteam_node::lock;
use nicteam_node::protocol::{AgentSample, Message};
use nicteam_node::task::Traffic;

use super::moves::Moves;
use super::targets::Targets;
use super::teams::Teams;

/// What has counters.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) teams: Arc<Teams>,
    pub(super) targets: Arc<Targets>,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) relay: Arc<Mutex<Option<Relay>>>,
    pub(super) moves: Arc<Mutex<Option<Moves>>>,
}

/// Takes samples until it is stopped.
#[derive(Debug)]
pub(crate) struct Sampler {
    asks: Ticker,
    samples: Ticker,
}

impl Sampler {
    /// Takes the first sample now and one each interval. What the kernel is slow to tell is asked beside it,
    /// as often: a sample has the last answer.
    pub(crate) fn start(interval_ms: u64, counted: Counted, output: Output) -> Result<Sampler, Failure> {
        let interval = Duration::from_millis(interval_ms.max(1));
        let mut netlink = Netlink::open()?;
        let (traffic, targets) = (Arc::clone(&counted.traffic), Arc::clone(&counted.targets));
        let asks = Ticker::start("asker", interval, move || {
            traffic.ask();
            targets.ask();
            Ok(())
        })?;
        let samples = Ticker::start("sampler", interval, move || {
            for notice in counted.traffic.notices() {
                output.say(&Message::Notice(notice))?;
            }
            Ok(output.say(&Message::Sample(counted.sample(&mut netlink)?))?)
        })?;
        Ok(Sampler { asks, samples })
    }

    /// Asks, takes the last sample and ends; tells what went wrong if something did.
    pub(crate) fn stop(self) -> Result<(), Failure> {
        self.asks.stop().and(self.samples.stop())
    }
}

/// A thread that does something now, at each interval's end, and once more when it is stopped.
#[derive(Debug)]
struct Ticker {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<Result<(), Failure>>,
}

impl Ticker {
    /// Starts it. It ends by itself where that fails.
    fn start(
        name: &str,
        interval: Duration,
        mut work: impl FnMut() -> Result<(), Failure> + Send + 'static,
    ) -> Result<Ticker, Failure> {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            let mut next = Instant::now();
            loop {
                work()?;
                // Who is late does not catch up: a second reading at once says nothing.
                next = Instant::now().max(next + interval);
                match stopped.recv_timeout(next.saturating_duration_since(Instant::now())) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return work(),
                }
            }
        })?;
        Ok(Ticker { stop, thread })
    }

    /// Ends it; tells what went wrong if something did.
    fn stop(self) -> Result<(), Failure> {
        // Fails only if the thread has ended with an error, which follows.
        let _ = self.stop.send(());
        self.thread.join().unwrap_or_else(|_| Err("a thread that reads counters panicked".into()))
    }
}

impl Counted {
    /// Reads every counter. The time is the middle of the reading.
    fn sample(&self, netlink: &mut Netlink) -> Result<AgentSample, Failure> {
        let before_ns = clock::monotonic_ns();
        let members = self.teams.sample(netlink)?;
        let (connections, mut flows, tasks) = (self.traffic.sample(), self.traffic.flows(), self.traffic.tasks());
        flows.extend(self.targets.flows());
        let relayed = lock(&self.relay).as_ref().map(Relay::sample).unwrap_or_default();
        let processes = self.teams.processes().into_iter().chain(std::iter::once(std::process::id()));
        let times = processes.map(|process| Ok(cpu::process_time(process)?.unwrap_or_default()));
        let cpu = times.sum::<Result<Duration, Failure>>()? + self.targets.processor_time()?;
        let cpu_ms = cpu.as_secs_f64() * 1e3;
        let at_ns = before_ns.midpoint(clock::monotonic_ns());
        let mac_moves = lock(&self.moves).as_ref().map(Moves::sample);
        Ok(AgentSample { at_ns, cpu_ms, members, connections, relayed, flows, tasks, mac_moves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_that_took_long_is_not_made_up_for() {
        let interval = Duration::from_millis(10);
        let (begun, readings) = mpsc::channel();
        let ticker = Ticker::start("test", interval, move || {
            let now = Instant::now();
            // Nobody listens any more once the test has what it wants.
            let _ = begun.send(now);
            static FIRST: std::sync::Once = std::sync::Once::new();
            FIRST.call_once(|| std::thread::sleep(interval * 20));
            Ok(())
        });
        let begun: Vec<Instant> = readings.iter().take(4).collect();
        ticker.unwrap().stop().unwrap();
        // One at once, which was due, and two on time.
        let whole = begun[3] - begun[0];
        assert!(whole >= interval * 22, "{whole:?}");
    }

    #[test]
    fn it_works_once_more_when_it_is_stopped_and_tells_what_failed() {
        let (done, count) = mpsc::channel();
        let ticker = Ticker::start("test", Duration::from_secs(3600), move || {
            done.send(())?;
            Ok(())
        })
        .unwrap();
        count.recv().unwrap();
        ticker.stop().unwrap();
        assert_eq!(count.iter().count(), 1);

        let fails = Ticker::start("test", Duration::from_secs(3600), || Err("no counters".into())).unwrap();
        assert_eq!(fails.stop().unwrap_err().to_string(), "no counters");
    }
}
