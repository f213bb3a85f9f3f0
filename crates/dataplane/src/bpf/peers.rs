//! The peers of a plan that stripes, in the form of `bpf/plan.h`.
//!
//! A peer keeps its number, and each of its receivers its place, from plan to plan: by these the programs
//! remember how long wires are taken, and which flow has which path.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_team::stripe::{MAX_PATHS, MAX_PEERS, Peer};
use nicteam_team::{MAX_MEMBERS, Stripe};
use nicteam_wire::Mac;

use super::layout::{Plain, padded};
use super::streams::Class;

/// `struct stripe_path`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Path {
    sender: u8,
    receiver: u8,
    delay_us: u16,
    rate_mbps: u32,
}

/// `struct stripe_receiver`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Receiver {
    mac: [u8; 8],
    share_mbps: u32,
    /// As on the wire.
    token: [u8; 8],
}

/// `struct stripe_peer`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerLine {
    system: u64,
    team: [u8; 8],
    takes_rtags: u16,
    keeps_flows: u16,
    paths_len: u32,
    sharers: u32,
    /// A bit for each place of ours from which more than one path leads to it.
    spreading: u32,
    paths: [Path; MAX_PATHS],
    receivers: [Receiver; MAX_MEMBERS],
}

/// `struct stripe_key`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    mac: [u8; 6],
    slot: u16,
}

/// `struct stripe_entry`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    number: u32,
    team: [u8; 6],
    /// Place among the peer's receivers, or of our member; `NO_RECEIVER`: of none.
    receiver: u8,
    /// One more than the place that takes its group-addressed frames; 0: any.
    group_from: u8,
    /// 1: more than one path leads to this receiver.
    shared: u8,
    zero: [u8; 3],
    /// By our place: one more than that of the path among the peer's; 0: there is none.
    path: [u8; MAX_MEMBERS],
}

/// An address of a peer that no receiver of it has.
const NO_RECEIVER: u8 = 0xff;
/// The address of a number, or place, that nobody has.
const NOBODY: Mac = Mac([0; 6]);
/// `OWN_ADDRESS`.
const OWN_ADDRESS: u32 = MAX_PEERS as u32;

const _: () = {
    assert!(MAX_PEERS == 64 && MAX_PATHS == 64);
    assert!(size_of::<PeerLine>() == 1184);
    assert!(size_of::<Key>() == 8);
    assert!(size_of::<Entry>() == 48);
};

// SAFETY: `repr(C)`; the sizes asserted above are the sums of the fields', so
// there is no padding; all fields are integers or arrays and structures of them.
unsafe impl Plain for PeerLine {}
// SAFETY: as above.
unsafe impl Plain for Key {}
// SAFETY: as above.
unsafe impl Plain for Entry {}

impl Key {
    /// The slot that it belongs to.
    pub(super) fn slot(&self) -> u32 {
        self.slot.into()
    }
}

impl Entry {
    /// An address of our own.
    fn of_own(team: Mac, receiver: u8) -> Entry {
        Entry { number: OWN_ADDRESS, team: team.0, receiver, ..Entry::default() }
    }
}

impl Default for PeerLine {
    fn default() -> PeerLine {
        PeerLine {
            system: 0,
            team: [0; 8],
            takes_rtags: 0,
            keeps_flows: 0,
            paths_len: 0,
            sharers: 1,
            spreading: 0,
            paths: [Path::default(); MAX_PATHS],
            receivers: [Receiver::default(); MAX_MEMBERS],
        }
    }
}

impl PeerLine {
    /// What is said of a receiver's address.
    fn entry(&self, team: Entry, receiver: u8) -> Entry {
        let mut entry = Entry { receiver, ..team };
        let mut paths = 0;
        for (path, number) in self.paths.iter().zip(1..=self.paths_len as u8) {
            if path.receiver == receiver {
                entry.path[usize::from(path.sender)] = number;
                paths += 1;
            }
        }
        entry.shared = (paths > 1).into();
        entry
    }
}

/// The peers of one plan; none of a plan that does not stripe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Peers {
    /// By number; nobody has some.
    pub lines: Vec<PeerLine>,
    /// What goes to them twice.
    pub class: Class,
    /// The team's address and the receivers', by number and place; [`NOBODY`] has those that are free.
    addresses: Vec<(Mac, Vec<Mac>)>,
    /// What is said of each address; of one that two have, the first holds.
    entries: Vec<(Mac, Entry)>,
}

impl Peers {
    /// Of this plan, with the numbers of the one before where there are any.
    pub(super) fn after(before: &Peers, stripe: &Stripe) -> Peers {
        let peers = &stripe.peers[..stripe.peers.len().min(MAX_PEERS)];
        let own = |receiver| Entry::of_own(stripe.team, receiver);
        let senders = stripe.senders.iter().map(|sender| (sender.mac, own(sender.id.index() as u8)));
        let mut after = Peers {
            class: Class::new(&stripe.redundant),
            entries: senders.chain([(stripe.team, own(NO_RECEIVER))]).collect(),
            ..Peers::default()
        };
        let teams: Vec<Mac> = peers.iter().map(|peer| peer.team).collect();
        let known: Vec<Mac> = before.addresses.iter().map(|(team, _)| *team).collect();
        let numbers = places(&teams, &known);
        let len = numbers.iter().max().map_or(0, |highest| highest + 1);
        after.lines.resize(len, PeerLine::default());
        after.addresses.resize(len, (NOBODY, Vec::new()));
        for (peer, number) in peers.iter().zip(numbers) {
            let macs: Vec<Mac> = peer.receivers.iter().take(MAX_MEMBERS).map(|receiver| receiver.mac).collect();
            let known = before.addresses.get(number).filter(|(team, _)| *team == peer.team);
            let places = places(&macs, known.map_or(&[], |(_, receivers)| receivers));
            after.add(stripe, peer, number, &places);
        }
        after
    }

    /// A peer, its number, and the places of its receivers.
    fn add(&mut self, stripe: &Stripe, peer: &Peer, number: usize, places: &[usize]) {
        let line = line(stripe, peer, places);
        let group_from = peer.group_from.map_or(0, |member| member.index() as u8 + 1);
        let team =
            Entry { number: number as u32, team: peer.team.0, receiver: NO_RECEIVER, group_from, ..Entry::default() };
        let mut receivers = Vec::new();
        for (receiver, &place) in peer.receivers.iter().zip(places) {
            if receivers.len() <= place {
                receivers.resize(place + 1, NOBODY);
            }
            receivers[place] = receiver.mac;
            self.entries.push((receiver.mac, line.entry(team, place as u8)));
        }
        self.entries.extend(peer.addresses().map(|mac| (mac, team)));
        self.lines[number] = line;
        self.addresses[number] = (peer.team, receivers);
    }

    /// The addresses of their teams.
    pub(super) fn teams(&self) -> impl Iterator<Item = Mac> + '_ {
        self.addresses.iter().map(|(team, _)| *team).filter(|team| *team != NOBODY)
    }

    /// What the index says of them in a slot.
    pub(super) fn index(&self, slot: u32) -> Vec<(Key, Entry)> {
        let mut index: BTreeMap<[u8; 6], Entry> = BTreeMap::new();
        for (mac, entry) in &self.entries {
            index.entry(mac.0).or_insert(*entry);
        }
        index.into_iter().map(|(mac, entry)| (Key { mac, slot: slot as u16 }, entry)).collect()
    }

    /// By number: the team's address, and the receivers' by place; some belong to [`NOBODY`].
    pub(super) fn addresses(&self) -> &[(Mac, Vec<Mac>)] {
        &self.addresses
    }
}

/// A place for each address: the one that it had, else the lowest that nobody has now.
fn places(wanted: &[Mac], before: &[Mac]) -> Vec<usize> {
    let mut taken = BTreeSet::new();
    let kept: Vec<Option<usize>> = wanted
        .iter()
        .map(|mac| before.iter().position(|known| known == mac).filter(|place| taken.insert(*place)))
        .collect();
    let mut free = (0..).filter(|place| !taken.contains(place));
    kept.into_iter().filter_map(|place| place.or_else(|| free.next())).collect()
}

fn line(stripe: &Stripe, peer: &Peer, places: &[usize]) -> PeerLine {
    let (system, team, takes_rtags) = (peer.system, padded(peer.team), peer.takes_rtags.into());
    let keeps_flows = peer.keeps_flows.into();
    let sharers = peer.sharers.max(1);
    let mut line = PeerLine { system, team, takes_rtags, keeps_flows, sharers, ..PeerLine::default() };
    for (&place, receiver) in places.iter().zip(&peer.receivers) {
        let token = receiver.lost_token.to_be_bytes();
        line.receivers[place] = Receiver { mac: padded(receiver.mac), share_mbps: receiver.share_mbps, token };
    }
    let paths = peer.paths.iter().filter_map(|path| {
        let (sender, receiver) = (stripe.senders.get(path.sender)?, peer.receivers.get(path.receiver)?);
        let rate_mbps = sender.rate_mbps.min(receiver.rate_mbps);
        let (sender, receiver) = (sender.id.index() as u8, *places.get(path.receiver)? as u8);
        Some(Path { sender, receiver, delay_us: path.delay_us, rate_mbps })
    });
    let mut seen = 0_u32;
    for (own, path) in line.paths.iter_mut().zip(paths) {
        *own = path;
        line.paths_len += 1;
        let bit = 1 << path.sender;
        line.spreading |= seen & bit;
        seen |= bit;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stays_keeps_his_place_and_who_comes_takes_the_lowest() {
        let mac = |number| Mac([2, 0, 0, 0, 0, number]);
        let of = |wanted: &[u8], before: &[u8]| {
            let macs = |numbers: &[u8]| numbers.iter().map(|&number| mac(number)).collect::<Vec<_>>();
            places(&macs(wanted), &macs(before))
        };
        assert_eq!(of(&[1, 2, 3], &[]), [0, 1, 2]);
        assert_eq!(of(&[1, 3, 4], &[1, 2, 3, 4]), [0, 2, 3], "the second left");
        assert_eq!(of(&[5, 3, 1, 6], &[1, 2, 3]), [1, 2, 0, 3]);
        assert_eq!(of(&[1, 1], &[1]), [0, 1], "two with one address");
    }
}
