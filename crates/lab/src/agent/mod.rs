//! The agent: the lab's hand on one host or switch.

mod sampler;
mod teams;

use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::Failure;
use crate::lock::lock;
use crate::protocol::{Done, Message, PROTOCOL, Request};
use crate::relay::Relay;
use crate::workload::Traffic;

use sampler::{Counted, Sampler};
use teams::Teams;

/// Serves the lab over standard input and output until the input closes.
pub fn serve() -> std::io::Result<()> {
    // A socket a connection; the soft limit is often 1024. If it stays, connecting says so.
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
    // The lab's teams are its own, and what is noted of them goes with the agent. Where nothing may be mounted,
    // it goes with each team.
    let _ = nicteam_daemon::keep_privately();
    let output = Output::default();
    output.say(&Message::Hello { protocol: PROTOCOL, nicteam: env!("CARGO_PKG_VERSION").to_owned() })?;
    let mut agent = Agent { output: output.clone(), ..Agent::default() };
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str::<Request>(&line?) {
            Ok(request) => agent.carry_out(request),
            Err(error) => Err(format!("not understood: {error}").into()),
        };
        output.say(&match answer {
            Ok(done) => Message::Done(done),
            Err(error) => Message::Failed { error: error.to_string() },
        })?;
    }
    Ok(())
}

/// The agent's standard output, for all its threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output(Arc<Mutex<()>>);

impl Output {
    /// Writes one line, whole.
    pub(crate) fn say(&self, message: &Message) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(message).expect("a message has string keys only");
        line.push(b'\n');
        let _whole = lock(&self.0);
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&line)?;
        stdout.flush()
    }
}

/// What an agent looks after.
#[derive(Debug, Default)]
struct Agent {
    output: Output,
    teams: Arc<Teams>,
    traffic: Arc<Traffic>,
    relay: Arc<Mutex<Option<Relay>>>,
    sampler: Option<Sampler>,
}

impl Agent {
    /// Does what the lab asks for.
    fn carry_out(&mut self, request: Request) -> Result<Done, Failure> {
        match request {
            Request::AddTeam(team) => {
                let dataplane = self.teams.add(&team, &self.output)?;
                return Ok(Done { dataplane: Some(dataplane.to_string()), ..Done::default() });
            }
            Request::Relay(links) => *lock(&self.relay) = Some(Relay::start(links, &self.output)?),
            Request::FollowCarrier => {
                if let Some(relay) = lock(&self.relay).as_mut() {
                    relay.follow_carrier(&self.output)?;
                }
            }
            Request::Settle => self.teams.settle(&self.output)?,
            Request::Watch(devices) => self.teams.watch(devices),
            Request::Serve(connections) => self.traffic.serve(connections)?,
            Request::Connect(connections) => self.traffic.connect(connections)?,
            Request::Sample { interval_ms } => {
                let counted = Counted {
                    teams: Arc::clone(&self.teams),
                    traffic: Arc::clone(&self.traffic),
                    relay: Arc::clone(&self.relay),
                };
                self.sampler = Some(Sampler::start(interval_ms, counted, self.output.clone())?);
            }
            Request::Go => self.traffic.go()?,
            Request::Ports => return Ok(Done { ports: self.teams.ports()?, ..Done::default() }),
            Request::Stop => {
                self.traffic.stop();
                if let Some(sampler) = self.sampler.take() {
                    sampler.stop()?;
                }
            }
        }
        Ok(Done::default())
    }
}
