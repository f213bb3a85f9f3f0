//! The agent: the lab's hand on one host or switch.

mod announce;
mod look;
mod moves;
mod neighbours;
mod node;
mod pagp;
mod sampler;
mod targets;
mod teams;
mod used;

use std::io::BufRead;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nicteam_experiment::EXISTING;
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::clock;
use nicteam_node::emulator::Relay;
use nicteam_node::lock;
use nicteam_node::protocol::{Done, Hello, Message, PROTOCOL, Request};
use nicteam_node::task::{KINDS, Kind, Traffic};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::engine::{ENGINES, Engine};
use crate::target;

use moves::Moves;
use node::Node;
use pagp::Speaker;

use sampler::{Counted, Sampler};
use targets::Targets;
use teams::Teams;

/// What an agent can run.
#[derive(Clone, Copy)]
pub struct Registry<'a> {
    /// Kinds of traffic.
    pub kinds: &'a [&'static dyn Kind],
    /// Who runs teams.
    pub engines: &'a [&'static dyn Engine],
    /// Who serves storage.
    pub targets: &'a [&'static dyn target::Kind],
}

/// Serves the lab over standard input and output until the input closes.
pub fn serve() -> std::io::Result<()> {
    // A socket a connection; the soft limit is often 1024. If it stays, connecting says so.
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
    // The lab's teams are its own, and what is noted of them goes with the agent. Where nothing may be mounted,
    // it goes with each team.
    let _ = nicteam_daemon::keep_privately();
    let registry = Registry { kinds: &KINDS, engines: &ENGINES, targets: &target::KINDS };
    serve_with(&registry, std::io::stdin().lock(), &Output::new(std::io::stdout()))
}

/// Serves the lab with these kinds of traffic and engines, in the caller's network namespace, until the input ends.
pub fn serve_with(registry: &Registry<'_>, input: impl BufRead, output: &Output) -> std::io::Result<()> {
    let (nicteam, boot_id) = (env!("CARGO_PKG_VERSION").to_owned(), clock::boot_id());
    output.say(&Message::Hello(Hello { protocol: PROTOCOL, nicteam, boot_id }))?;
    let mut agent = Agent {
        output: output.clone(),
        node: Node::default(),
        teams: Arc::new(Teams::new(registry.engines)),
        targets: Arc::new(Targets::new(registry.targets)),
        traffic: Arc::new(Traffic::new(registry.kinds)),
        relay: Arc::default(),
        sampler: None,
        set_up: Vec::new(),
        pagp: None,
        moves: Arc::default(),
    };
    for line in input.lines() {
        let answer = match serde_json::from_str::<Request>(&line?) {
            Ok(request) => agent.carry_out(request),
            Err(error) => Err(format!("not understood: {error}").into()),
        };
        output.say(&match answer {
            Ok(done) => Message::Done(Box::new(done)),
            Err(error) => Message::Failed { error: error.to_string() },
        })?;
    }
    Ok(())
}

/// What an agent looks after.
#[derive(Debug)]
struct Agent {
    output: Output,
    node: Node,
    teams: Arc<Teams>,
    targets: Arc<Targets>,
    traffic: Arc<Traffic>,
    relay: Arc<Mutex<Option<Relay>>>,
    sampler: Option<Sampler>,
    /// What it set up, to set it up anew when the node boots.
    set_up: Vec<Request>,
    /// A switch's, if its ports speak PAgP.
    pagp: Option<Speaker>,
    /// A switch's, from when it has ports.
    moves: Arc<Mutex<Option<Moves>>>,
}

impl Agent {
    /// Does what the lab asks for.
    fn carry_out(&mut self, request: Request) -> Result<Done, Failure> {
        if matches!(request, Request::AddTeam(_) | Request::Address(_)) && !self.set_up.contains(&request) {
            self.set_up.push(request.clone());
        }
        match request {
            Request::Clock => return Ok(Done { clock_ns: Some(clock::monotonic_ns()), ..Done::default() }),
            Request::SetUp(setup) => self.node.set_up(setup)?,
            Request::Shape(links) => self.node.shape(&links)?,
            Request::FinishFrames(devices) => self.node.finish_frames(&devices)?,
            Request::Plug(devices) => {
                *lock(&self.moves) = Some(Moves::start()?);
                for device in &devices {
                    self.node.set_device(device, true)?;
                    if !self.teams.plug(device)? {
                        self.node.plug(device)?;
                    }
                }
            }
            // A bridge of the kernel's lets a device go that leaves the node.
            Request::Unplug(device) => drop(self.teams.unplug(&device)?),
            Request::Address(addresses) => self.node.address(&addresses)?,
            Request::Announce { device, arp, rarp } => self.node.announce(&device, arp, rarp)?,
            Request::SetDevice { device, up } => {
                self.node.set_device(&device, up)?;
                if up {
                    self.traffic.device_is_up();
                }
            }
            Request::AddTeam(team) => {
                let runs = self.teams.add(&team, &self.output)?;
                return Ok(Done { runs: Some(runs), ..Done::default() });
            }
            Request::Relay(links) => *lock(&self.relay) = Some(Relay::start(links, &self.output)?),
            Request::FollowCarrier => {
                if let Some(relay) = lock(&self.relay).as_mut() {
                    relay.follow_carrier(&self.output)?;
                }
            }
            Request::Disturb(disturbed) => match lock(&self.relay).as_ref() {
                Some(relay) => disturbed.iter().try_for_each(|it| relay.disturb(it))?,
                None => return Err("no impaired links are here".into()),
            },
            Request::SetMtu { device, mtu } => self.node.set_mtu(&device, mtu)?,
            Request::RemoveFilters { device } => self.node.remove_filters(&device)?,
            Request::ChangeRate { device, rate_bps } => self.node.change_rate(&device, rate_bps)?,
            Request::HoldBack { device, rate_bps } => self.node.hold_back(&device, rate_bps)?,
            Request::Process { team, act } => self.teams.act(&team, act, &self.output)?,
            Request::Halt => self.teams.remove_all()?,
            Request::Boot => {
                for request in self.set_up.clone() {
                    self.carry_out(request)?;
                }
            }
            Request::Settle => self.teams.settle(&self.output)?,
            Request::Watch(devices) => self.teams.watch(devices),
            Request::Serve(target) => {
                let serves = self.targets.serve(&target, &self.output)?;
                return Ok(Done { serves: Some(serves), ..Done::default() });
            }
            Request::Target { name, act } => return self.targets.act(&name, &act),
            Request::Devices => {
                return Ok(Done { devices: look::devices(self.node.netlink()?)?, ..Done::default() });
            }
            Request::Examine(paths) => return Ok(Done { paths: look::paths(&paths)?, ..Done::default() }),
            Request::Prepare { role, connections } => {
                // What is measured as it is has the machine's own table of neighbours.
                if !self.set_up.iter().any(|it| matches!(it, Request::AddTeam(team) if team.engine == EXISTING)) {
                    self.node.expect(&neighbours::peers(role, &connections))?;
                }
                self.traffic.prepare(role, connections)?;
            }
            Request::Sample { interval_ms } => {
                let counted = Counted {
                    teams: Arc::clone(&self.teams),
                    targets: Arc::clone(&self.targets),
                    traffic: Arc::clone(&self.traffic),
                    relay: Arc::clone(&self.relay),
                    moves: Arc::clone(&self.moves),
                };
                self.sampler = Some(Sampler::start(interval_ms, counted, self.output.clone())?);
            }
            Request::Start => self.traffic.start()?,
            Request::Begin { measured_ms } => self.traffic.begin(Duration::from_millis(measured_ms)),
            Request::SpeakPagp(speak) => self.pagp = Some(Speaker::start(&speak, self.node.netlink()?)?),
            Request::Ports => {
                let (ports, buckets, pagp) = (self.teams.ports()?, self.teams.buckets()?, self.teams.pagp()?);
                let one_sided = self.teams.one_sided()?;
                return Ok(Done { ports, buckets, pagp, one_sided, ..Done::default() });
            }
            Request::Used => {
                let mut processes = self.teams.processes();
                processes.push(std::process::id());
                return Ok(Done { used: Some(used::of(&processes)?), ..Done::default() });
            }
            Request::EndClients => self.traffic.end_clients(),
            Request::Stop => {
                self.traffic.stop();
                if let Some(sampler) = self.sampler.take() {
                    sampler.stop()?;
                }
                return Ok(Done { outcomes: self.traffic.outcomes(), ..Done::default() });
            }
        }
        Ok(Done::default())
    }
}
