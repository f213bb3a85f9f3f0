//! Counters at regular moments.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nicteam_sys::cpu;
use nicteam_sys::netlink::Netlink;

use crate::agent::Output;
use crate::agent::teams::Teams;
use crate::lock::lock;
use crate::protocol::{AgentSample, Message};
use crate::relay::Relay;
use crate::workload::Traffic;
use crate::{Failure, clock};

/// What has counters.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) teams: Arc<Teams>,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) relay: Arc<Mutex<Option<Relay>>>,
}

/// A thread that takes samples until it is stopped.
#[derive(Debug)]
pub(crate) struct Sampler {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<Result<(), Failure>>,
}

impl Sampler {
    /// Takes the first sample now and one each interval.
    pub(crate) fn start(interval_ms: u64, counted: Counted, output: Output) -> Result<Sampler, Failure> {
        let (stop, stopped) = mpsc::channel();
        let mut netlink = Netlink::open()?;
        let interval = Duration::from_millis(interval_ms.max(1));
        let thread = std::thread::Builder::new().name("sampler".to_owned()).spawn(move || {
            let mut next = Instant::now();
            loop {
                output.say(&Message::Sample(counted.sample(&mut netlink)?))?;
                next += interval;
                match stopped.recv_timeout(next.saturating_duration_since(Instant::now())) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                        output.say(&Message::Sample(counted.sample(&mut netlink)?))?;
                        return Ok(());
                    }
                }
            }
        })?;
        Ok(Sampler { stop, thread })
    }

    /// Takes the last sample and ends; tells what went wrong if something did.
    pub(crate) fn stop(self) -> Result<(), Failure> {
        // Fails only if the thread has ended with an error, which follows.
        let _ = self.stop.send(());
        self.thread.join().unwrap_or_else(|_| Err("the sampler panicked".into()))
    }
}

impl Counted {
    /// Reads every counter. The time is the middle of the reading.
    fn sample(&self, netlink: &mut Netlink) -> Result<AgentSample, Failure> {
        let before_ns = clock::monotonic_ns();
        let members = self.teams.sample(netlink)?;
        let connections = self.traffic.sample();
        let relayed = lock(&self.relay).as_ref().map(Relay::sample).unwrap_or_default();
        let cpu_ms = cpu::process_time(std::process::id())?.unwrap_or_default().as_secs_f64() * 1e3;
        let at_ns = before_ns.midpoint(clock::monotonic_ns());
        Ok(AgentSample { at_ns, cpu_ms, members, connections, relayed })
    }
}
