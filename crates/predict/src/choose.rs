//! The members that a team chooses, by the choosers of `nicteam-team`.

use std::collections::BTreeMap;

use nicteam_team::hash::{self, flow, slb};
use nicteam_wire::{Frame, Mac, ethertype};

use crate::network::{Network, Sends, Team};

/// Buckets of balance-tlb and balance-alb.
const BUCKETS: usize = nicteam_team::MAX_BUCKETS;
/// Bits of a tag that name the VLAN.
const VLAN_ID: u16 = 0x0fff;

/// The members that a frame takes: cables.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    /// This one.
    One(usize),
    /// All of them, each its part of the frames.
    Shared(Vec<usize>),
    /// A copy by each.
    Copied(Vec<usize>),
    /// All of them, as each can take it.
    Striped,
    /// None: it is dropped.
    Nobody,
}

/// The active member of a team: a cable; none if no member has carrier.
pub(crate) fn active(network: &Network, team: &Team) -> Option<usize> {
    let preferred = team.members.get(team.preferred);
    preferred.into_iter().chain(&team.members).copied().find(|cable| network.cables[*cable].up)
}

/// The teams' members, and what the choosers keep from flow to flow.
pub(crate) struct Choosers<'n> {
    network: &'n Network,
    /// By team: the members with carrier.
    up: Vec<Vec<usize>>,
    /// By team: the places in `up` by bucket, where buckets of destinations choose.
    homes: Vec<Vec<u8>>,
    /// The place in `up` of each bucket that a frame has used.
    buckets: BTreeMap<(usize, u8), usize>,
    /// The place in `up` of each host that sends to a team.
    peers: BTreeMap<(usize, Mac), usize>,
    /// By team: how many buckets, and how many hosts, have a member.
    turns: Vec<[usize; 2]>,
}

impl<'n> Choosers<'n> {
    pub(crate) fn new(network: &'n Network) -> Choosers<'n> {
        let is_up = |cable: &usize| network.cables[*cable].up;
        let up = |team: &Team| team.members.iter().copied().filter(is_up).collect::<Vec<usize>>();
        let up: Vec<Vec<usize>> = network.teams.iter().map(up).collect();
        let homes = network.teams.iter().zip(&up).map(|(team, up)| match team.sends {
            Sends::ByDestination => homes(up.iter().map(|cable| network.cables[*cable].rate_bps)),
            _ => Vec::new(),
        });
        Choosers {
            network,
            homes: homes.collect(),
            buckets: BTreeMap::new(),
            peers: BTreeMap::new(),
            turns: vec![[0; 2]; up.len()],
            up,
        }
    }

    /// The members with carrier.
    pub(crate) fn up(&self, team: usize) -> &[usize] {
        &self.up[team]
    }

    /// The member of a frame that a team sends.
    pub(crate) fn sends(&mut self, team: usize, frame: &Frame<'_>) -> Choice {
        let up = &self.up[team];
        if up.is_empty() {
            return Choice::Nobody;
        }
        match self.network.teams[team].sends {
            Sends::Nobody => Choice::Nobody,
            Sends::Active => self.active(team),
            Sends::Hash { policy, buckets } => {
                let place = hash::place(hash::hash(policy, frame), buckets, up.len());
                place.map_or(Choice::Nobody, |place| Choice::One(up[place]))
            }
            Sends::InTurn => Choice::Shared(up.clone()),
            Sends::All => Choice::Copied(up.clone()),
            Sends::ByDestination => Choice::One(up[usize::from(self.homes[team][destination(frame)])]),
            Sends::BySource { basis } => {
                let vlan = frame.vlan().map_or(0, |tag| tag.tci & VLAN_ID);
                self.of_bucket(team, slb::bucket(frame.src(), vlan, basis))
            }
            Sends::ByFlow { basis } => self.of_bucket(team, flow::bucket(frame, basis)),
            Sends::Striped => Choice::Striped,
        }
    }

    /// The active member.
    pub(crate) fn active(&self, team: usize) -> Choice {
        active(self.network, &self.network.teams[team]).map_or(Choice::Nobody, Choice::One)
    }

    /// The member of whose address a host was told that sends to a team.
    pub(crate) fn of_peer(&mut self, team: usize, peer: Mac) -> Choice {
        let turns = &mut self.turns[team][1];
        let place = *self.peers.entry((team, peer)).or_insert_with(|| {
            *turns += 1;
            *turns - 1
        });
        self.in_turn(team, place)
    }

    /// The member of a bucket that gets one when its first frame leaves.
    fn of_bucket(&mut self, team: usize, bucket: u8) -> Choice {
        let turns = &mut self.turns[team][0];
        let place = *self.buckets.entry((team, bucket)).or_insert_with(|| {
            *turns += 1;
            *turns - 1
        });
        self.in_turn(team, place)
    }

    fn in_turn(&self, team: usize, place: usize) -> Choice {
        let up = &self.up[team];
        place.checked_rem(up.len()).map_or(Choice::Nobody, |place| Choice::One(up[place]))
    }
}

/// The bucket of a frame's IP destination: all its bytes, XORed (`_simple_hash`).
pub(crate) fn destination(frame: &Frame<'_>) -> usize {
    let bytes = if frame.ethertype() == ethertype::IPV4 { 16..20 } else { 24..40 };
    let address = frame.payload().get(bytes).unwrap_or_default();
    usize::from(address.iter().fold(0, |sum, byte| sum ^ byte)) % BUCKETS
}

/// The member of each bucket before loads move any: in turn, by the members' rates.
fn homes(rates: impl Iterator<Item = f64>) -> Vec<u8> {
    let rates: Vec<f64> = rates.map(|bps| bps.max(1.0)).collect();
    let mut given = vec![0.0; rates.len()];
    let mut next = || {
        let less = |a: usize, b: usize| (given[a] + 1.0) * rates[b] < (given[b] + 1.0) * rates[a];
        let best = (1..rates.len()).fold(0, |best, place| if less(place, best) { place } else { best });
        given[best] += 1.0;
        best as u8
    };
    if rates.is_empty() { Vec::new() } else { (0..BUCKETS).map(|_| next()).collect() }
}
