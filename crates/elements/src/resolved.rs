//! An experiment with every name bound and every default filled.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use nicteam_expect::Expectation;
use nicteam_impair::{Impairments, Probability};
use nicteam_record::Expected;
use nicteam_team::Config;
use nicteam_wire::Mac;

use crate::switch_model::SwitchModel;
use crate::target::Target;
use crate::timed::Timed;
use crate::traffic::Task;
use crate::units::subnet;

pub use nicteam_record::{PublishedRates, Repetition};

/// An experiment, ready to be deployed.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Name it is run by: the file's stem.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it wants to know.
    pub question: Option<String>,
    /// What messages call the file.
    pub path: String,
    /// The file, whole.
    pub text: String,
    /// What the command line changed: `rate=1gbit`.
    pub overrides: Vec<String>,
    /// Rate in `overrides` that the user did not ask for: the machine carries no more in MTU-sized packets, bit/s.
    pub rate_lowered_bps: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
    /// Time between two samples.
    pub interval: Duration,
    /// Whether frames are MTU-sized packets.
    pub granularity: GranularityChoice,
    /// True if links have a rate that neither the file nor the command line chose.
    pub rate_is_free: bool,
    /// The highest limit (`limit` of `nicteam-experiment`) of all runs of the file, those that
    /// the command line leaves out included, bit/s: what the machine must be able
    /// to carry. All runs count, so that a run alone is what it is among the others.
    pub highest_limit_bps: f64,
    /// What must come out, in the order of the file; of runs that the command line leaves out, too.
    pub expect: Vec<Expectation>,
    /// How often each run is carried out.
    pub repeat: u32,
    /// Its runs: in the order of the file, or repeated, in the order in which they are carried out.
    pub runs: Vec<Run>,
}

impl Experiment {
    /// What must come out, as the record has it.
    pub fn expected(&self) -> Vec<Expected> {
        self.expect.iter().map(Expectation::recorded).collect()
    }
}

/// Whether frames are MTU-sized packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GranularityChoice {
    /// MTU-sized packets if the machine can carry them at these rates.
    #[default]
    Auto,
    /// MTU-sized packets.
    Packets,
    /// The stack's GSO frames.
    SuperFrames,
}

/// One run: what is built, and the traffic over it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its name; of one of several that differ by their engine alone: the file's, a dot, the engine's.
    pub name: String,
    /// Set if the command line named several engines: which run of the file this is, and by which of them.
    pub variant: Option<Variant>,
    /// What it does, in words.
    pub description: Option<String>,
    /// What the published test found, in its words.
    pub published: Option<String>,
    /// The published figure as a part of its own limit.
    pub published_of_limit: Option<f64>,
    /// What the published test found for each client.
    pub published_rates: Vec<PublishedRates>,
    /// The run that it is drawn beside.
    pub compared_with: Option<String>,
    /// Set if it is carried out several times.
    pub repetition: Option<Repetition>,
    /// What is built.
    pub topology: Topology,
    /// The traffic; all of it at once.
    pub workloads: Vec<Workload>,
    /// How long is measured.
    pub duration: Duration,
    /// What goes before and is not measured.
    pub warmup: Duration,
    /// What is done to the network while it is measured, in order of time.
    pub events: Vec<Timed>,
    /// The impairments of the file, by name, as they are in this run.
    pub impairments: BTreeMap<String, Way>,
    /// Its faults are drawn from this seed; none: they are not random.
    pub chaos_seed: Option<u64>,
}

/// One of several runs that differ only in the engine of the hosts' teams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The run of the file.
    pub of: String,
    /// The engine.
    pub engine: String,
}

/// What is built for a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Hosts, in the order of the file, and behind them their guests.
    pub hosts: Vec<Host>,
    /// Switches, in the order of the file.
    pub switches: Vec<Switch>,
    /// Cables, in the order of the file.
    pub cables: Vec<Cable>,
    /// Hosts' teams and switches' groups.
    pub teams: Vec<Team>,
    /// Storage that hosts serve, in the order of the file.
    pub targets: Vec<Target>,
}

impl Topology {
    /// The same, in which faults of every kind can happen: every cable has a link emulator, and every team of our own engine a
    /// process.
    #[must_use]
    pub fn for_faults(mut self) -> Topology {
        for cable in &mut self.cables {
            cable.impaired.get_or_insert(Impaired { a_to_b: Way::default(), b_to_a: Way::default() });
        }
        self.teams.iter_mut().for_each(|team| team.own_process = team.engine == "nicteam");
        self
    }

    /// The host with the links by which a host's frames leave: itself, or the parent of a guest.
    pub fn links_of<'t>(&'t self, name: &'t str) -> &'t str {
        let parent = self.hosts.iter().find(|host| host.name == name).and_then(|host| host.parent.as_deref());
        parent.unwrap_or(name)
    }

    /// Whether a node is a switch.
    pub fn is_switch(&self, node: &str) -> bool {
        self.switches.iter().any(|switch| switch.name == node)
    }

    /// Whether a node is a host that forwards.
    pub fn is_gateway(&self, node: &str) -> bool {
        self.hosts.iter().any(|host| host.forwards && host.name == node)
    }

    /// The nodes that packets from one host to another pass, both included: by the fewest cables through switches and
    /// gateways; empty if there is no way.
    pub fn way<'t>(&'t self, from: &'t str, to: &'t str) -> Vec<&'t str> {
        let (from, to) = (self.links_of(from), self.links_of(to));
        let mut came_from: BTreeMap<&str, &str> = BTreeMap::from([(from, from)]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            let passes = node == from || self.is_switch(node) || self.is_gateway(node);
            let ends = self.cables.iter().flat_map(|cable| [(&cable.a, &cable.b), (&cable.b, &cable.a)]);
            for (_, far) in ends.filter(|(near, _)| passes && near.node == node) {
                if !came_from.contains_key(far.node.as_str()) {
                    came_from.insert(&far.node, node);
                    queue.push_back(&far.node);
                }
            }
        }
        let mut way: Vec<&str> = came_from.get_key_value(to).map(|(to, _)| *to).into_iter().collect();
        while let Some(before) = way.last().and_then(|node| came_from.get(node)).filter(|_| way.last() != Some(&from)) {
            way.push(before);
        }
        way.reverse();
        way
    }

    /// Nodes that frames of a host get to: over cables and through switches, not through hosts.
    pub fn segment<'t>(&'t self, host: &'t str) -> BTreeSet<&'t str> {
        self.joined([host], |node| node == host || self.is_switch(node))
    }

    /// These nodes, and all that cables join to them; from a node on only if it `passes`.
    pub fn joined<'t>(
        &'t self,
        nodes: impl IntoIterator<Item = &'t str>,
        passes: impl Fn(&str) -> bool,
    ) -> BTreeSet<&'t str> {
        let mut open: Vec<&str> = nodes.into_iter().collect();
        let mut found: BTreeSet<&str> = BTreeSet::new();
        while let Some(node) = open.pop() {
            if found.insert(node) && passes(node) {
                let ends = self.cables.iter().map(|cable| [&*cable.a.node, &*cable.b.node]);
                open.extend(ends.filter(|ends| ends.contains(&node)).flatten());
            }
        }
        found
    }

    /// The guests of a host, in the order of their numbers.
    pub fn guests_of<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t Host> {
        self.hosts.iter().filter(move |host| host.parent.as_deref() == Some(name))
    }
}

/// A host, or a guest on one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name, 1 to 10 characters of `a-z`, `0-9`, `-`, beginning with a letter; of a guest `HOST/guestN`.
    pub name: String,
    /// Its address.
    pub address: IpAddr,
    /// Prefix length.
    pub prefix: u8,
    /// The MAC address it sends from.
    pub mac: Mac,
    /// The device that carries the address: `team0`, or `eth0` without a team, or `br0` with a bridge: where it has
    /// guests, or one moves to it.
    pub device: String,
    /// Of a gateway, and for multipath TCP and multipath storage: its links beside that one, each with an address in
    /// a subnet of its own.
    pub further: Vec<Further>,
    /// True if it speaks multipath TCP.
    pub mptcp: bool,
    /// For multipath TCP: true if others connect to it, so that it has to announce those links.
    pub announces: bool,
    /// Of a guest: the host with its bridge.
    pub parent: Option<String>,
    /// True for a gateway: it forwards between its links.
    pub forwards: bool,
    /// How it reaches the subnets behind gateways, in their order.
    pub routes: Vec<Route>,
    /// What makes it slow.
    pub bounds: Bounds,
    /// Of a real machine: where `ssh` goes (`root@node1`), and its devices, one for each of its links.
    pub ssh: Option<String>,
    /// Of a real machine: the bond or team there that is measured as it is.
    pub bundle: Option<String>,
}

/// What makes a host slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Payload that its processor can send and receive, both together, bit/s; none: as much as the machine can.
    pub processor_bps: Option<u64>,
    /// The most that its TCP lets others send it unread, bytes.
    pub receive_window_bytes: Option<u32>,
    /// Receive queues of its devices, each served by one processor at a time.
    pub receive_queues: Option<u32>,
}

impl Host {
    /// The route by which it reaches an address behind a gateway.
    pub fn route_to(&self, address: IpAddr) -> Option<&Route> {
        self.routes.iter().find(|route| subnet(address, route.prefix) == subnet(route.to, route.prefix))
    }
}

/// A way to a subnet behind a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The subnet: its first address.
    pub to: IpAddr,
    /// Its prefix length.
    pub prefix: u8,
    /// The gateway's address in a subnet of the host's own.
    pub via: IpAddr,
}

/// A further link of a host with an address on each link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Further {
    /// Its device: `eth1`, `eth2`, ...
    pub device: String,
    /// Its address.
    pub address: IpAddr,
    /// Prefix length.
    pub prefix: u8,
    /// The MAC address it sends from; none: the one that its device is made with.
    pub mac: Option<Mac>,
}

/// A switch: a learning bridge (`br0`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// Its name, of the same form as a host's.
    pub name: String,
    /// The model of a real switch; none: no particular one.
    pub model: Option<&'static SwitchModel>,
    /// How it spreads over the links of its groups, in the words of the file; none: it has plain ports.
    pub spread: Option<String>,
    /// Its ports ask for a partner that speaks PAgP, and are plain ones without; none: they do not.
    pub pagp: Option<Pagp>,
    /// The ports that do.
    pub pagp_ports: Vec<String>,
    /// A real switch of which nothing is known.
    pub unknown: bool,
}

/// Cisco's two modes of a channel group with PAgP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pagp {
    /// The other end is to begin.
    Auto,
    /// The port asks first.
    Desirable,
}

impl Pagp {
    /// In Cisco's words.
    pub const fn name(self) -> &'static str {
        match self {
            Pagp::Auto => "auto",
            Pagp::Desirable => "desirable",
        }
    }
}

/// A cable between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// One end.
    pub a: End,
    /// The other end.
    pub b: End,
    /// Rate of the wire in each direction, bit/s.
    pub rate_bps: u64,
    /// Largest IP packet that ends `a` and `b` send and take in, bytes.
    pub mtus: [u32; 2],
    /// What it does to frames; none: it is a plain cable.
    pub impaired: Option<Impaired>,
    /// What its ends hold behind the wire, bytes; none: as its rate needs.
    pub queue_bytes: Option<u32>,
    /// What its ends send at once after a pause, bytes; none: as its rate needs.
    pub burst_bytes: Option<u32>,
    /// True if its ends send no GSO frames.
    pub without_offloads: bool,
}

impl Cable {
    /// Largest IP packet that passes, bytes.
    pub fn mtu(&self) -> u32 {
        let [a, b] = self.mtus;
        a.min(b)
    }
}

/// What an impaired link does to frames, by direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impaired {
    /// To those that end `a` sends.
    pub a_to_b: Way,
    /// To those that end `b` sends.
    pub b_to_a: Way,
}

/// One direction of an impaired link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Section of the file that declares it; none: nothing is done in this direction.
    pub name: Option<String>,
    /// What is done.
    pub impairments: Impairments,
    /// Seed of the section.
    pub seed: u64,
}

impl Way {
    /// True if frames arrive with a bit changed.
    pub fn corrupts(&self) -> bool {
        self.impairments.corrupt > Probability::NEVER
    }
}

/// One end of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Host or switch.
    pub node: String,
    /// Device: `eth0`, `eth1`, ... on a host; `PEER-0`, `PEER-1`, ... on a switch.
    pub device: String,
}

/// A team: a host's (`team0`), or a switch's group towards a peer (device named after the peer).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// Host or switch.
    pub node: String,
    /// Device.
    pub device: String,
    /// Node at the other end of its links; the first one if they lead to several.
    pub peer: String,
    /// The name of its engine.
    pub engine: String,
    /// Configuration.
    pub config: Config,
    /// Members' devices, by place.
    pub members: Vec<String>,
    /// MTU of the team device, bytes.
    pub mtu: u32,
    /// An event of the run needs a process that runs this team and nothing else.
    pub own_process: bool,
}

/// Traffic.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// The pairs that connect: (from, to).
    pub pairs: Vec<(String, String)>,
    /// Connections in all, assigned to the pairs in turn.
    pub connections: u32,
    /// Which way the payload goes, seen from `from`.
    pub direction: Direction,
    /// What it is.
    pub task: Arc<dyn Task>,
}

// Derived, it would move the task.
impl PartialEq for Workload {
    fn eq(&self, other: &Workload) -> bool {
        (&self.name, &self.pairs, self.connections, self.direction)
            == (&other.name, &other.pairs, other.connections, other.direction)
            && *self.task == *other.task
    }
}

impl Eq for Workload {}

/// First port that workloads listen on; each workload of a run has its own.
pub const SERVER_PORT: u16 = 5001;
/// First port that connections come from; each connection of a run has its own, so that hashes do not depend on luck.
pub const CLIENT_PORT: u16 = 40_000;

impl Workload {
    /// Its connections: the connecting host, the other host, and whether the payload goes that way.
    pub fn assigned(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let ways: &[bool] = match self.direction {
            // The programs decide which end sends.
            _ if !self.task.programs().is_empty() => &[true],
            Direction::Send => &[true],
            Direction::Receive => &[false],
            Direction::Both => &[true, false],
        };
        let pairs = self.pairs.iter().cycle().take(self.connections as usize);
        ways.iter().flat_map(move |way| pairs.clone().map(move |(client, server)| (&**client, &**server, *way)))
    }
}

/// Which way the payload goes, seen from the end that connects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// `from` sends.
    #[default]
    Send,
    /// `from` receives.
    Receive,
    /// As many connections again carry payload the other way, at the same time.
    Both,
}
