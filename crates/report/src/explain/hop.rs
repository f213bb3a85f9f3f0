//! The links from one node to the next, and what passed over them.

use nicteam_record::{Connection, Port, Team};
use nicteam_team::HashPolicy;

use super::Side;
use crate::bars::{FULL, IDLE};
use crate::units::{list, share};

/// From this mean load on links are full together.
const NEARLY_ALL: f64 = 0.95;

/// The links from one node to the next, in the direction of the payload.
#[derive(Clone, Debug)]
pub(super) struct Hop<'a> {
    /// Node that chooses the link.
    pub(super) node: &'a str,
    /// Node at the other end.
    pub(super) peer: &'a str,
    /// Whose end of the path this is.
    pub(super) side: Side,
    /// The team that chooses; none where links are plain.
    pub(super) team: Option<&'a Team>,
    /// The team at the other end of plain links.
    pub(super) receiver: Option<&'a Team>,
    /// Its links to the peer, by place.
    pub(super) links: Vec<HopLink<'a>>,
    /// The connections that pass.
    pub(super) connections: Vec<&'a Connection>,
    /// Their places in the run.
    pub(super) passing: Vec<usize>,
    /// How often each of their frames arrives here: more than once behind a broadcast.
    pub(super) copies: Vec<f64>,
    /// How many of each frame leave: more than one where the team broadcasts.
    pub(super) copies_made: f64,
    /// What the hash says, where one chooses.
    pub(super) prediction: Option<Prediction>,
}

/// One link of a hop.
#[derive(Clone, Debug)]
pub(super) struct HopLink<'a> {
    /// Device at the choosing end.
    pub(super) device: &'a str,
    /// Device at the other end.
    pub(super) far_device: &'a str,
    /// Place among the team's members, from 0.
    pub(super) place: usize,
    /// What went over it in the direction of the payload, as the end that counted more says, bit/s.
    pub(super) tx_bps: f64,
    /// What its counters can show at most, bit/s.
    pub(super) capacity_bps: f64,
    /// Whether not a frame passed.
    pub(super) silent: bool,
    /// Largest IP packet, bytes.
    pub(super) mtu: u32,
    /// Its ends as ports, the choosing one first, where teams of mode 802.3ad are.
    pub(super) ports: [Option<&'a Port>; 2],
}

/// What the hash says of a hop.
#[derive(Clone, Debug)]
pub(super) struct Prediction {
    pub(super) policy: HashPolicy,
    /// Each connection's place, in the order of [`Hop::connections`].
    pub(super) places: Vec<usize>,
    /// Whether the links counted what the hash says.
    pub(super) agrees: bool,
}

impl HopLink<'_> {
    /// Whether LACP keeps frames from it at either end.
    pub(super) fn stands_by(&self) -> bool {
        self.ports.iter().flatten().any(|port| !port.aggregates)
    }

    /// How full it was, 0 to 1.
    pub(super) fn load(&self) -> f64 {
        share(self.tx_bps, self.capacity_bps)
    }

    pub(super) fn is_full(&self) -> bool {
        self.load() >= FULL
    }

    pub(super) fn is_idle(&self) -> bool {
        self.load() < IDLE
    }
}

impl<'a> Hop<'a> {
    /// Every link full, or so much carried in all that a lame one makes no difference.
    pub(super) fn all_full(&self) -> bool {
        !self.links.is_empty() && (self.links.iter().all(HopLink::is_full) || self.load() >= NEARLY_ALL)
    }

    pub(super) fn some_full(&self) -> bool {
        self.links.iter().any(HopLink::is_full)
    }

    /// How full its links were together, 0 to 1.
    pub(super) fn load(&self) -> f64 {
        let sum = |of: fn(&HopLink<'_>) -> f64| self.links.iter().map(of).sum::<f64>();
        share(sum(|link| link.tx_bps), sum(|link| link.capacity_bps))
    }

    /// What its links can carry, as counters show it, bit/s.
    pub(super) fn capacity_bps(&self) -> f64 {
        self.links.iter().map(|link| link.capacity_bps).sum()
    }

    /// What passed, without what the links' own queues dropped, bit/s.
    pub(super) fn carried_bps(&self) -> f64 {
        self.links.iter().map(|link| link.tx_bps.min(link.capacity_bps)).sum()
    }

    /// The payload that passed and arrived, as counters show payload, each frame once, bit/s.
    pub(super) fn payload_bps(&self) -> f64 {
        self.links.first().map_or(0.0, |link| {
            self.connections.iter().map(|connection| as_counted(connection.delivered_bps, link.mtu)).sum()
        })
    }

    /// The place of one of the run's connections among those that pass.
    pub(super) fn place_of(&self, connection: usize) -> Option<usize> {
        self.passing.binary_search(&connection).ok()
    }

    /// The team's mode in the kernel's words; empty without a team.
    pub(super) fn mode(&self) -> &'a str {
        self.team.map_or("", |team| &team.mode)
    }

    /// Who chose among the links, and by what: the policy, the mode where it does not hash, or
    /// nothing where a switch just sends to the port on which it learned an address.
    pub(super) fn chooser(&self) -> (&'a str, &'a str) {
        match (self.team, self.receiver) {
            (Some(team), _) if self.hashes() => (self.node, &team.xmit_hash_policy),
            (Some(team), _) => (self.node, &team.mode),
            // Which member of these hears a frame is the receiver's choice.
            (None, Some(receiver)) if matches!(&*receiver.mode, "active-backup" | "balance-tlb" | "balance-alb") => {
                (self.peer, &receiver.mode)
            }
            (None, _) => (self.node, ""),
        }
    }

    /// Whether a hash chooses.
    pub(super) fn hashes(&self) -> bool {
        self.team.is_some_and(|team| !team.xmit_hash_policy.is_empty())
    }

    /// The host whose links these are: the end that is no switch; the sending one of two.
    pub(super) fn host(&self) -> &'a str {
        if self.side == Side::Receiving { self.peer } else { self.node }
    }

    /// `Receiving side`, or what fits.
    pub(super) fn side_words(&self) -> String {
        match self.side {
            Side::Receiving => "Receiving side".to_owned(),
            Side::Between => format!("Between {} and {}", self.node, self.peer),
            _ => "Sending side".to_owned(),
        }
    }

    /// Links' numbers as people count: `link 3`, `links 2 and 4`.
    pub(super) fn numbers<'l>(links: impl Iterator<Item = &'l HopLink<'a>>) -> String
    where
        'a: 'l,
    {
        let numbers: Vec<String> = links.map(|link| (link.place + 1).to_string()).collect();
        let noun = if numbers.len() == 1 { "link" } else { "links" };
        format!("{noun} {}", list(&numbers))
    }
}

/// What counters show for a payload in full frames (IPv4 and TCP with timestamps: 52 bytes).
pub(super) fn as_counted(payload_bps: f64, mtu: u32) -> f64 {
    let mtu = f64::from(mtu);
    payload_bps * share(mtu + 14.0, mtu - 52.0)
}
