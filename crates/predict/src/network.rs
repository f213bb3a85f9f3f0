//! What is predicted for: nodes, cables, teams, flows. Everything is named by its place in its list.

use std::net::SocketAddr;

use nicteam_team::HashPolicy;
use nicteam_wire::Mac;

/// A network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Cables between them.
    pub cables: Vec<Cable>,
    /// Teams of hosts, and groups of switches.
    pub teams: Vec<Team>,
}

/// A host or a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// What it does with frames of others.
    pub kind: NodeKind,
    /// Payload that its processor can send and receive, both together, bit/s; none: no bound.
    pub processor_bps: Option<f64>,
}

/// What a node does with frames of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// It takes them for itself.
    Host,
    /// It forwards frames as they are.
    Switch,
    /// It forwards packets, in frames from its own addresses.
    Gateway,
}

impl Node {
    /// A host.
    pub const fn host() -> Node {
        Node { kind: NodeKind::Host, processor_bps: None }
    }

    /// A switch.
    pub const fn switch() -> Node {
        Node { kind: NodeKind::Switch, processor_bps: None }
    }
}

/// A cable between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cable {
    /// The nodes at its ends.
    pub ends: [usize; 2],
    /// Rate of the wire in each direction, bit/s.
    pub rate_bps: f64,
    /// Largest IP packet that passes, bytes.
    pub mtu: u32,
    /// False if it has no carrier.
    pub up: bool,
    /// MAC addresses of the ends where a gateway is.
    pub macs: [Option<Mac>; 2],
}

impl Cable {
    /// A cable with carrier and an MTU of 1500.
    pub const fn new(ends: [usize; 2], rate_bps: f64) -> Cable {
        Cable { ends, rate_bps, mtu: 1500, up: true, macs: [None; 2] }
    }

    /// The direction in which a node sends over it: 0 from the first end to the second, 1 back.
    pub(crate) fn way_from(&self, node: usize) -> usize {
        usize::from(self.ends[0] != node)
    }

    /// The node at the other end.
    pub(crate) fn far(&self, node: usize) -> usize {
        if self.ends[0] == node { self.ends[1] } else { self.ends[0] }
    }
}

/// A team of a host, or a group of a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Team {
    /// Its node.
    pub node: usize,
    /// The cables of its members, in their order. A member that LACP does not aggregate is left out.
    pub members: Vec<usize>,
    /// The member that is the active one while it has carrier, by place.
    pub preferred: usize,
    /// How a frame finds its member.
    pub sends: Sends,
    /// Which members take frames, where the other end has no group that chooses.
    pub receives: Receives,
}

/// How a frame finds its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// No member may send.
    Nobody,
    /// By the active member.
    Active,
    /// By a hash of each frame.
    Hash {
        /// What is hashed.
        policy: HashPolicy,
        /// Values of the hash; 0: as many as members.
        buckets: u32,
    },
    /// By the members in turn.
    InTurn,
    /// A copy by each member.
    All,
    /// By the bucket of the IP destination (balance-tlb, balance-alb), before loads move any.
    ByDestination,
    /// By the bucket of the source address and the VLAN (Open vSwitch's balance-slb); buckets get members in turn.
    BySource {
        /// `bond-hash-basis`.
        basis: u32,
    },
    /// By the bucket of addresses and ports (Open vSwitch's balance-tcp); buckets get members in turn.
    ByFlow {
        /// `bond-hash-basis`.
        basis: u32,
    },
    /// By all members, as each can take it (stripe).
    Striped,
}

/// Which members take frames, where the other end has no group that chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receives {
    /// The active one.
    Active,
    /// One for each host that sends, in turn (balance-alb and stripe, by ARP).
    ByPeer,
    /// Those by which the team sends the answers: the switch learned the address there.
    WhereSent,
}

/// What a flow carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// TCP in full segments; the receiver acknowledges.
    Tcp,
    /// Datagrams of UDP with so much payload each, bytes.
    Datagrams(u32),
}

/// By which links of two hosts a flow goes, where each link has an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByLink {
    /// By the one with this number among the cables of each host.
    One(usize),
    /// By all of them in turn.
    InTurn,
}

/// Payload from one host to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The sending and the receiving node; of a guest its host.
    pub nodes: [usize; 2],
    /// Their MAC addresses.
    pub macs: [Mac; 2],
    /// Their IP addresses and ports.
    pub addresses: [SocketAddr; 2],
    /// What it carries.
    pub kind: Kind,
    /// VLAN of its frames' tag; none: without a tag.
    pub vlan: Option<u16>,
    /// Its part where flows share a link, relative to others.
    pub weight: f64,
    /// Payload that it asks for, bit/s; none: as much as it gets.
    pub asked_bps: Option<f64>,
    /// The part of its payload that goes the other way, 0 to 1: of what is read and written in a fixed proportion.
    pub back_share: f64,
    /// By which of its hosts' links it goes, where each link of a host has an address of its own.
    pub by_link: Option<ByLink>,
    /// Whether each end is a guest behind its host's bridge, which a team serves by its active member alone.
    pub guests: [bool; 2],
}

impl Flow {
    /// TCP between two hosts, whose MAC addresses are made of their IP addresses.
    pub fn tcp(nodes: [usize; 2], addresses: [SocketAddr; 2]) -> Flow {
        let mac = |address: SocketAddr| match address.ip() {
            std::net::IpAddr::V4(ip) => {
                let [a, b, c, d] = ip.octets();
                Mac([2, 0, a, b, c, d])
            }
            std::net::IpAddr::V6(ip) => {
                let [.., a, b, c, d] = ip.octets();
                Mac([2, 6, a, b, c, d])
            }
        };
        Flow {
            nodes,
            macs: addresses.map(mac),
            addresses,
            kind: Kind::Tcp,
            vlan: None,
            weight: 1.0,
            asked_bps: None,
            back_share: 0.0,
            by_link: None,
            guests: [false; 2],
        }
    }

    /// The way of its answers.
    pub(crate) fn back(&self) -> Flow {
        let [from, to] = self.nodes;
        let [from_mac, to_mac] = self.macs;
        let [src, dst] = self.addresses;
        let [from_guest, to_guest] = self.guests;
        Flow {
            nodes: [to, from],
            macs: [to_mac, from_mac],
            addresses: [dst, src],
            guests: [to_guest, from_guest],
            ..*self
        }
    }
}
