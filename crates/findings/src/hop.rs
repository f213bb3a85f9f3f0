//! The links from one node to the next, and what passed over them.

use nicteam_record::{Connection, LinkLoad, LinkLoads, Port, Side};
use nicteam_team::{HashPolicy, Mode};

use crate::bars::{FULL, IDLE};
use crate::team::{MULTIPATH, MULTIPATH_TCP, Team, TeamMode};
use crate::units::share;

/// From this mean load on links are full together.
const NEARLY_ALL: f64 = 0.95;

/// The links from one node to the next, in the direction of the payload.
#[derive(Clone, Debug)]
pub struct Hop<'a> {
    /// Node that sends by them.
    pub node: &'a str,
    /// Whether it is a real switch of which nothing is known.
    pub is_unknown: bool,
    /// Node at the other end.
    pub peer: &'a str,
    /// Whose end of the path this is.
    pub side: Side,
    /// The team that sends by them; none where they are plain.
    pub team: Option<Team<'a>>,
    /// The team at the other end of plain links.
    pub receiver: Option<Team<'a>>,
    /// Its links to the peer, by place.
    pub links: Vec<HopLink<'a>>,
    /// The connections that pass.
    pub connections: Vec<&'a Connection>,
    /// Their places in the run.
    pub passing: Vec<usize>,
    /// How each of them uses the links of its ends.
    pub spreading: Vec<Spreading>,
    /// How often each of their frames arrives here: more than once behind a broadcast.
    pub copies: Vec<f64>,
    /// How many of each frame leave: more than one where the team broadcasts.
    pub copies_made: f64,
    /// What the hash predicts, where one chooses.
    pub prediction: Option<Prediction>,
    /// The bucket of each connection, with the device of the member that it had at the end if that is known, where buckets choose
    /// as in Open vSwitch.
    pub buckets: Option<Vec<(u8, Option<&'a str>)>>,
}

/// One link of a hop.
#[derive(Clone, Debug)]
pub struct HopLink<'a> {
    /// Device at the sending end.
    pub device: &'a str,
    /// Device at the other end.
    pub far_device: &'a str,
    /// Place among the team's members, from 0.
    pub place: usize,
    /// What went over it in the direction of the payload, by the counters of the end that counted more, bit/s.
    pub tx_bps: f64,
    /// What its counters can show at most, bit/s.
    pub capacity_bps: f64,
    /// Rate of its wire, bit/s.
    pub rate_bps: u64,
    /// Whether not a frame passed.
    pub silent: bool,
    /// Part of the frames that were lost between its ends; known of impaired links alone.
    pub lost: f64,
    /// Part of the frames for it that the sending end dropped: its queue was full, or the team could not send.
    pub dropped: f64,
    /// How long it was declared to delay frames, milliseconds.
    pub delay_ms: f64,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Its ends as ports, the sending one first, where teams of mode 802.3ad are.
    pub ports: [Option<&'a Port>; 2],
}

/// How a connection uses the links of its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spreading {
    /// As the sending host chooses, at each hop.
    ByHop,
    /// Both ends stripe: each frame by the way on which it arrives first.
    Striped,
    /// Multipath TCP: its subflows share the segments.
    Subflows,
    /// It is one of several paths to a disk, which share the requests.
    Paths,
}

/// What the hash predicts for a hop.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// What is hashed.
    pub policy: HashPolicy,
    /// Each connection's place, in the order of [`Hop::connections`].
    pub places: Vec<usize>,
    /// Whether the counters agree with the prediction.
    pub agrees: bool,
}

/// Who chooses among the links of a hop, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chooser<'a> {
    /// Host or switch; where both ends do together, the host whose links these are.
    pub node: &'a str,
    /// By what.
    pub by: Choice<'a>,
}

/// By what a link is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// A hash of each frame, by the policy of this name.
    Hash(&'a str),
    /// A team's mode that does not hash: the sending team's, or the receiving one's where
    /// that says which of its members hears.
    Mode(Mode),
    /// Both ends stripe: the sender, frame by frame, for its own links and the receiver's.
    Striped,
    /// Multipath TCP: the sender, segment by segment, by its subflows.
    Subflows,
    /// Several paths to a disk: the initiator, request by request.
    Paths,
    /// Where a host has several addresses: the one that a connection connects to.
    Address,
    /// A switch sends to the port on which it learned an address.
    Learned,
    /// A real switch, in its own way.
    Unknown,
    /// Words of the record that this version does not know.
    Other(&'a str),
}

impl<'a> Choice<'a> {
    /// Whether both ends of a connection use their links together, at each all of them.
    pub fn is_joint(self) -> bool {
        matches!(self, Choice::Striped | Choice::Subflows | Choice::Paths)
    }

    /// The policy, or the mode; nothing for addresses, and for what is unknown.
    pub fn words(self) -> &'a str {
        match self {
            Choice::Hash(words) | Choice::Other(words) => words,
            Choice::Mode(mode) => mode.name(),
            Choice::Striped => Mode::Stripe.name(),
            Choice::Subflows => MULTIPATH_TCP,
            Choice::Paths => MULTIPATH,
            Choice::Address | Choice::Learned | Choice::Unknown => "",
        }
    }
}

/// Whether a link that carried this part of what it can counts as full.
pub fn is_full(load: f64) -> bool {
    load >= FULL
}

/// Whether a link that carried this part of what it can counts as idle.
pub fn is_idle(load: f64) -> bool {
    load < IDLE
}

impl HopLink<'_> {
    /// Whether LACP keeps frames from it at either end.
    pub fn stands_by(&self) -> bool {
        self.ports.iter().flatten().any(|port| !port.aggregates)
    }

    /// How full it was, 0 to 1.
    pub fn load(&self) -> f64 {
        share(self.tx_bps, self.capacity_bps)
    }

    /// Whether it was full.
    pub fn is_full(&self) -> bool {
        is_full(self.load())
    }

    /// The link as a finding shows it.
    pub fn as_found(&self) -> LinkLoad {
        LinkLoad {
            device: self.device.to_owned(),
            far_device: self.far_device.to_owned(),
            place: self.place as u32,
            load: self.load(),
            silent: self.silent,
        }
    }
}

impl<'a> Hop<'a> {
    /// Every link full, or so much carried in all that a lame one makes no difference.
    pub fn all_full(&self) -> bool {
        !self.links.is_empty() && (self.links.iter().all(HopLink::is_full) || self.load() >= NEARLY_ALL)
    }

    /// Whether one link at least was full.
    pub fn some_full(&self) -> bool {
        self.links.iter().any(HopLink::is_full)
    }

    /// How full its links were together, 0 to 1.
    pub fn load(&self) -> f64 {
        let sum = |of: fn(&HopLink<'_>) -> f64| self.links.iter().map(of).sum::<f64>();
        share(sum(|link| link.tx_bps), sum(|link| link.capacity_bps))
    }

    /// What its links can carry, as counters show it, bit/s.
    pub fn capacity_bps(&self) -> f64 {
        self.links.iter().map(|link| link.capacity_bps).sum()
    }

    /// What passed, without what the links' own queues dropped, bit/s.
    pub fn carried_bps(&self) -> f64 {
        self.links.iter().map(|link| link.tx_bps.min(link.capacity_bps)).sum()
    }

    /// The payload that passed and arrived, as counters show payload, each frame once, bit/s.
    pub fn payload_bps(&self) -> f64 {
        self.links.first().map_or(0.0, |link| {
            self.connections.iter().map(|connection| as_counted(connection.delivered_bps, link.mtu)).sum()
        })
    }

    /// The place of one of the run's connections among those that pass.
    pub fn place_of(&self, connection: usize) -> Option<usize> {
        self.passing.binary_search(&connection).ok()
    }

    /// Whether a team sends by these links, and its mode is such a one.
    pub fn has_mode(&self, such: fn(TeamMode) -> bool) -> bool {
        self.team.is_some_and(|team| such(team.mode))
    }

    /// Who chooses among the links for one of the run's connections, and by what.
    pub fn chooser(&self, connection: usize) -> Chooser<'a> {
        let at = self.place_of(connection).unwrap_or(0);
        let either =
            |such: fn(TeamMode) -> bool| [self.team, self.receiver].iter().flatten().any(|team| such(team.mode));
        let together = |by| Chooser { node: self.host(), by };
        match self.spreading.get(at) {
            Some(Spreading::Striped) if either(TeamMode::stripes) => together(Choice::Striped),
            Some(Spreading::Subflows) if either(|mode| mode == TeamMode::MultipathTcp) => together(Choice::Subflows),
            Some(Spreading::Paths) if either(|mode| mode == TeamMode::Multipath) => together(Choice::Paths),
            _ => self.own_chooser(),
        }
    }

    /// Who chooses among the links for connections that are not spread by their ends.
    fn own_chooser(&self) -> Chooser<'a> {
        let by_mode = |team: Team<'a>| match team.mode {
            TeamMode::Of(mode) => Choice::Mode(mode),
            TeamMode::MultipathTcp | TeamMode::Multipath => Choice::Address,
            TeamMode::Unknown => Choice::Other(team.mode_name),
        };
        match (self.team, self.receiver.map(|receiver| receiver.mode)) {
            (Some(team), _) if team.hashes() => Chooser { node: self.node, by: Choice::Hash(team.policy_name) },
            (Some(team), _) => Chooser { node: self.node, by: by_mode(team) },
            // The receiver chooses the member that receives a frame.
            (None, Some(mode @ TeamMode::Of(known))) if mode.announces_receiver() => {
                Chooser { node: self.peer, by: Choice::Mode(known) }
            }
            (None, Some(mode)) if mode.has_an_address_a_link() => Chooser { node: self.host(), by: Choice::Address },
            (None, _) => {
                Chooser { node: self.node, by: if self.is_unknown { Choice::Unknown } else { Choice::Learned } }
            }
        }
    }

    /// Whether a hash chooses.
    pub fn hashes(&self) -> bool {
        self.team.is_some_and(|team| team.hashes())
    }

    /// The host whose links these are: the end that is no switch; the sending one of two.
    pub fn host(&self) -> &'a str {
        if self.side == Side::Receiving { self.peer } else { self.node }
    }

    /// The links as a finding shows them.
    pub fn as_found(&self) -> LinkLoads {
        LinkLoads {
            node: self.node.to_owned(),
            peer: self.peer.to_owned(),
            links: self.links.iter().map(HopLink::as_found).collect(),
        }
    }
}

/// What counters show for a payload in full frames (IPv4 and TCP with timestamps: 52 bytes).
pub(super) fn as_counted(payload_bps: f64, mtu: u32) -> f64 {
    let mtu = f64::from(mtu);
    payload_bps * share(mtu + 14.0, mtu - 52.0)
}
