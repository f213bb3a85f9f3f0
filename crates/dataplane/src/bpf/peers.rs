//! The peers of a plan that stripes, in the form of `bpf/plan.h`.

use std::collections::BTreeMap;

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
    zero: u32,
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
/// `OWN_ADDRESS`.
const OWN_ADDRESS: u32 = MAX_PEERS as u32;

const _: () = {
    assert!(MAX_PEERS == 64 && MAX_PATHS == 64);
    assert!(size_of::<PeerLine>() == 928);
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
            zero: 0,
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
    /// By number.
    pub lines: Vec<PeerLine>,
    /// What goes to them twice.
    pub class: Class,
    /// The team's address and the receivers', by number.
    addresses: Vec<(Mac, Vec<Mac>)>,
    /// What is said of each address; of one that two have, the first holds.
    entries: Vec<(Mac, Entry)>,
}

impl Peers {
    /// Of this plan.
    pub(super) fn new(stripe: &Stripe) -> Peers {
        let peers = || stripe.peers.iter().take(MAX_PEERS);
        let lines: Vec<PeerLine> = peers().map(|peer| line(stripe, peer)).collect();
        let own = |receiver| Entry::of_own(stripe.team, receiver);
        let senders = stripe.senders.iter().map(|sender| (sender.mac, own(sender.id.index() as u8)));
        let mut entries: Vec<(Mac, Entry)> = senders.chain([(stripe.team, own(NO_RECEIVER))]).collect();
        for (number, (peer, line)) in peers().zip(&lines).enumerate() {
            let group_from = peer.group_from.map_or(0, |member| member.index() as u8 + 1);
            let team = Entry {
                number: number as u32,
                team: peer.team.0,
                receiver: NO_RECEIVER,
                group_from,
                ..Entry::default()
            };
            let receivers = peer.receivers.iter().zip(0..);
            entries.extend(receivers.map(|(of, receiver)| (of.mac, line.entry(team, receiver))));
            entries.extend(peer.addresses().map(|mac| (mac, team)));
        }
        let receivers = |peer: &Peer| peer.receivers.iter().map(|receiver| receiver.mac).collect();
        Peers {
            lines,
            class: Class::new(&stripe.redundant),
            addresses: peers().map(|peer| (peer.team, receivers(peer))).collect(),
            entries,
        }
    }

    /// The addresses of their teams.
    pub(super) fn teams(&self) -> impl Iterator<Item = Mac> + '_ {
        self.addresses.iter().map(|(team, _)| *team)
    }

    /// What the index says of them in a slot.
    pub(super) fn index(&self, slot: u32) -> Vec<(Key, Entry)> {
        let mut index: BTreeMap<[u8; 6], Entry> = BTreeMap::new();
        for (mac, entry) in &self.entries {
            index.entry(mac.0).or_insert(*entry);
        }
        index.into_iter().map(|(mac, entry)| (Key { mac, slot: slot as u16 }, entry)).collect()
    }

    /// By number: the team's address, and the receivers'.
    pub(super) fn addresses(&self) -> &[(Mac, Vec<Mac>)] {
        &self.addresses
    }
}

fn line(stripe: &Stripe, peer: &Peer) -> PeerLine {
    let (system, team, takes_rtags) = (peer.system, padded(peer.team), peer.takes_rtags.into());
    let keeps_flows = peer.keeps_flows.into();
    let sharers = peer.sharers.max(1);
    let mut line = PeerLine { system, team, takes_rtags, keeps_flows, sharers, ..PeerLine::default() };
    for (own, receiver) in line.receivers.iter_mut().zip(&peer.receivers) {
        *own = Receiver { mac: padded(receiver.mac), share_mbps: receiver.share_mbps };
    }
    let paths = peer.paths.iter().filter_map(|path| {
        let (sender, receiver) = (stripe.senders.get(path.sender)?, peer.receivers.get(path.receiver)?);
        let rate_mbps = sender.rate_mbps.min(receiver.rate_mbps);
        let (sender, receiver) = (sender.id.index() as u8, path.receiver as u8);
        Some(Path { sender, receiver, delay_us: path.delay_us, rate_mbps })
    });
    for (own, path) in line.paths.iter_mut().zip(paths) {
        *own = path;
        line.paths_len += 1;
    }
    line
}
