//! The peers of a plan that stripes, in the form of `bpf/plan.h`.
//!
//! A peer keeps its number, and each of its receivers its place, from plan to plan: by these the programs
//! remember how long wires are taken, and which flow has which path.
//!
//! A plan is written into a slot that holds an earlier one: [`Peers::changes`] says what differs, and only that is written.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nicteam_team::stripe::{MAX_ADDRESSES, MAX_PATHS, MAX_PEERS, Peer};
use nicteam_team::{MAX_MEMBERS, Stripe};
use nicteam_wire::Mac;

use super::abi::laid_out_as;
use super::constants::NO_RECEIVER;
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

/// The address of a number, or place, that nobody has.
const NOBODY: Mac = Mac([0; 6]);
/// `OWN_ADDRESS`.
const OWN_ADDRESS: u32 = MAX_PEERS as u32;

laid_out_as!(stripe_path, Path);
laid_out_as!(stripe_receiver, Receiver);
laid_out_as!(stripe_peer, PeerLine);
laid_out_as!(stripe_key, Key);
laid_out_as!(stripe_entry, Entry);

// SAFETY: `repr(C)`, without padding as `laid_out_as!` asserts; all fields are integers or arrays and structures of them.
unsafe impl Plain for PeerLine {}
// SAFETY: as above.
unsafe impl Plain for Key {}
// SAFETY: as above.
unsafe impl Plain for Entry {}

impl Key {
    /// Of this address in a slot.
    pub(super) fn new(slot: u32, mac: Mac) -> Key {
        Key { mac: mac.0, slot: slot as u16 }
    }

    /// The slot that it belongs to.
    pub(super) fn slot(&self) -> u32 {
        self.slot.into()
    }

    /// The address.
    pub(super) fn mac(&self) -> Mac {
        Mac(self.mac)
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
    /// By number; nobody has some. What a plan has in common with the one before is there once.
    lines: Vec<Arc<PeerLine>>,
    /// What goes to them twice.
    pub class: Class,
    /// The team's address and the receivers', by number and place; [`NOBODY`] has those that are free.
    addresses: Vec<(Mac, Vec<Mac>)>,
    /// What is said of each address, by address.
    index: Vec<(Mac, Entry)>,
}

/// By what a slot that holds one plan's peers comes to hold another's.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes<'a> {
    /// Each with its number.
    pub lines: Vec<(u32, &'a PeerLine)>,
    /// Addresses that nobody has any more.
    pub gone: Vec<Mac>,
    /// What is said of others.
    pub index: Vec<(Mac, &'a Entry)>,
    /// What goes twice.
    pub class: Option<&'a Class>,
}

impl Peers {
    /// Of this plan, with the numbers of the one before where there are any. Peers for which there is no room are left out.
    pub(super) fn after(before: &Peers, stripe: &Stripe) -> Peers {
        let mut room = MAX_ADDRESSES;
        let has_room = |peer: &&Peer| match room.checked_sub(peer.addresses().count()) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        };
        let peers: Vec<&Peer> = stripe.peers.iter().filter(has_room).take(MAX_PEERS).collect();
        let teams: Vec<Mac> = peers.iter().map(|peer| peer.team).collect();
        let known: Vec<Mac> = before.addresses.iter().map(|(team, _)| *team).collect();
        let numbers = places(&teams, &known);
        let len = numbers.iter().max().map_or(0, |highest| highest + 1);
        let nobody = Arc::new(PeerLine::default());
        let mut after = Peers {
            class: Class::new(&stripe.redundant),
            lines: vec![nobody; len],
            addresses: vec![(NOBODY, Vec::new()); len],
            index: Vec::new(),
        };
        let own = |receiver| Entry::of_own(stripe.team, receiver);
        let mut index: BTreeMap<Mac, Entry> = BTreeMap::new();
        // Of an address that two have, the first holds.
        let mut say = |mac: Mac, entry: Entry| {
            index.entry(mac).or_insert(entry);
        };
        stripe.senders.iter().for_each(|sender| say(sender.mac, own(sender.id.index() as u8)));
        say(stripe.team, own(NO_RECEIVER));
        for (peer, number) in peers.into_iter().zip(numbers) {
            let macs: Vec<Mac> = peer.receivers.iter().take(MAX_MEMBERS).map(|receiver| receiver.mac).collect();
            let known = before.addresses.get(number).filter(|(team, _)| *team == peer.team);
            let places = places(&macs, known.map_or(&[], |(_, receivers)| receivers));
            after.add(stripe, peer, number, &places, &mut say);
            if let Some(same) = before.lines.get(number).filter(|line| **line == after.lines[number]) {
                after.lines[number] = Arc::clone(same);
            }
        }
        after.index = index.into_iter().collect();
        after
    }

    /// A peer, its number, and the places of its receivers.
    fn add(&mut self, stripe: &Stripe, peer: &Peer, number: usize, places: &[usize], say: &mut impl FnMut(Mac, Entry)) {
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
            say(receiver.mac, line.entry(team, place as u8));
        }
        peer.addresses().for_each(|mac| say(mac, team));
        self.lines[number] = Arc::new(line);
        self.addresses[number] = (peer.team, receivers);
    }

    /// The addresses of their teams.
    pub(super) fn teams(&self) -> impl Iterator<Item = Mac> + '_ {
        self.addresses.iter().map(|(team, _)| *team).filter(|team| *team != NOBODY)
    }

    /// What has to be written into a slot that holds those of `before`; without, into one of which nothing is known
    /// but the addresses that it has.
    pub(super) fn changes(&self, before: Result<&Peers, &BTreeSet<Mac>>) -> Changes<'_> {
        let before = match before {
            Ok(before) => before,
            Err(known) => {
                let named = |mac: &&Mac| self.index.binary_search_by_key(*mac, |(mac, _)| *mac).is_ok();
                return Changes {
                    gone: known.iter().filter(|mac| !named(mac)).copied().collect(),
                    class: Some(&self.class),
                    ..self.changes(Ok(&Peers::default()))
                };
            }
        };
        let mut changes = Changes { class: (self.class != before.class).then_some(&self.class), ..Changes::default() };
        for (number, line) in (0..).zip(&self.lines) {
            let is_there =
                before.lines.get(number as usize).is_some_and(|there| Arc::ptr_eq(there, line) || there == line);
            if !is_there {
                changes.lines.push((number, line));
            }
        }
        let (mut old, mut new) = (before.index.iter().peekable(), self.index.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => break changes,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((old, _)), Some((new, _))) => old.cmp(new),
            };
            let there = if order.is_le() { old.next() } else { None };
            let wanted = if order.is_ge() { new.next() } else { None };
            match (there, wanted) {
                (Some((mac, _)), None) => changes.gone.push(*mac),
                (there, Some((mac, entry))) if there.is_none_or(|(_, there)| there != entry) => {
                    changes.index.push((*mac, entry));
                }
                _ => {}
            }
        }
    }

    /// All that the index says something of.
    pub(super) fn indexed(&self) -> impl Iterator<Item = Mac> + '_ {
        self.index.iter().map(|(mac, _)| *mac)
    }

    /// By number: the team's address, and the receivers' by place; some belong to [`NOBODY`].
    pub(super) fn addresses(&self) -> &[(Mac, Vec<Mac>)] {
        &self.addresses
    }
}

/// A place for each address: the one that it had, else the lowest that nobody has now.
fn places(wanted: &[Mac], before: &[Mac]) -> Vec<usize> {
    // Of two with one address the first counts, and its place is one's alone.
    let mut known: BTreeMap<Mac, usize> = before.iter().enumerate().rev().map(|(place, mac)| (*mac, place)).collect();
    let kept: Vec<Option<usize>> = wanted.iter().map(|mac| known.remove(mac)).collect();
    let taken: BTreeSet<usize> = kept.iter().flatten().copied().collect();
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
    use nicteam_team::balance::{Eligible, Number};
    use nicteam_team::stripe::redundant::Classes;
    use nicteam_team::stripe::{Path as PlanPath, Plain, Receiver as PlanReceiver, Sender};
    use nicteam_team::{Balance, MemberId, MemberSet};

    fn mac(team: u16, place: u8) -> Mac {
        let [high, low] = team.to_be_bytes();
        Mac([2, 0, high, low, 0, place])
    }

    /// Peers with these receivers each, beside their teams' addresses, to which one path leads.
    fn stripe(teams: &[(u16, &[u8])]) -> Stripe {
        let id = MemberId::new(0).unwrap();
        let receiver =
            |team, place| PlanReceiver { mac: mac(team, place), rate_mbps: 1000, share_mbps: 1000, lost_token: 0 };
        let peer = |&(team, places): &(u16, &[u8])| Peer {
            team: mac(team, 0),
            system: team.into(),
            takes_rtags: true,
            keeps_flows: false,
            sharers: 1,
            group_from: None,
            receivers: places.iter().map(|&place| receiver(team, place)).collect(),
            others: Vec::new(),
            paths: vec![PlanPath { sender: 0, receiver: 0, delay_us: 0 }],
        };
        let (eligible, number) = (Eligible::Alb, Number::Destination);
        Stripe {
            team: mac(0, 1),
            senders: vec![Sender { id, mac: mac(0, 1), rate_mbps: 1000, lost_token: 0 }],
            peers: teams.iter().map(peer).collect::<Vec<_>>().into(),
            group: MemberSet::one(id),
            redundant: Classes::default(),
            sack_delay: std::time::Duration::ZERO,
            plain: Plain::default(),
            other: Balance { eligible, number, table: vec![id], active: id, counted: false, punt: None },
        }
    }

    /// Numbers whose lines, and addresses that, are to be written; those that are to be removed.
    fn written(changes: &Changes<'_>) -> (Vec<u32>, Vec<Mac>, Vec<Mac>) {
        let lines = changes.lines.iter().map(|(number, _)| *number).collect();
        (lines, changes.index.iter().map(|(mac, _)| *mac).collect(), changes.gone.clone())
    }

    #[test]
    fn only_what_a_slot_does_not_hold_yet_is_written() {
        let before = Peers::after(&Peers::default(), &stripe(&[(1, &[1, 2]), (2, &[1]), (3, &[1])]));
        let (all, own) = (written(&before.changes(Ok(&Peers::default()))), mac(0, 1));
        let addresses = [mac(1, 0), mac(1, 1), mac(1, 2), mac(2, 0), mac(2, 1), mac(3, 0), mac(3, 1)];
        assert_eq!(all, (vec![0, 1, 2], [&[own], &addresses[..]].concat(), vec![]));
        let same = Peers::after(&before, &stripe(&[(1, &[1, 2]), (2, &[1]), (3, &[1])]));
        assert_eq!(same.changes(Ok(&before)), Changes::default());
        // The second has another member, the third is gone, and a fourth has its number.
        let after = Peers::after(&before, &stripe(&[(1, &[1, 2]), (2, &[5]), (4, &[1])]));
        let (new, gone) = (vec![mac(2, 5), mac(4, 0), mac(4, 1)], vec![mac(2, 1), mac(3, 0), mac(3, 1)]);
        assert_eq!(written(&after.changes(Ok(&before))), (vec![1, 2], new, gone));
        assert!(after.changes(Ok(&before)).class.is_none());
        // A slot of which only the addresses are known is written whole.
        let known = BTreeSet::from([own, mac(1, 1), mac(9, 9)]);
        let changes = before.changes(Err(&known));
        assert_eq!(written(&changes), (vec![0, 1, 2], all.1, vec![mac(9, 9)]));
        assert!(changes.class.is_some());
    }

    #[test]
    fn who_has_more_addresses_than_there_is_room_for_is_left_out() {
        let many: Vec<u8> = (1..=30).collect();
        let teams: Vec<(u16, &[u8])> =
            (1..=300).map(|team| (team, if team == 300 { &[1][..] } else { &many[..] })).collect();
        let peers = Peers::after(&Peers::default(), &stripe(&teams));
        assert_eq!(MAX_ADDRESSES / 31, 264);
        assert_eq!(peers.teams().count(), 265, "and the last, which has few");
        assert!(peers.indexed().count() <= MAX_ADDRESSES + 1);
    }

    #[test]
    fn who_stays_keeps_his_place_and_who_comes_takes_the_lowest() {
        let of = |wanted: &[u8], before: &[u8]| {
            let macs = |numbers: &[u8]| numbers.iter().map(|&number| mac(1, number)).collect::<Vec<_>>();
            places(&macs(wanted), &macs(before))
        };
        assert_eq!(of(&[1, 2, 3], &[]), [0, 1, 2]);
        assert_eq!(of(&[1, 3, 4], &[1, 2, 3, 4]), [0, 2, 3], "the second left");
        assert_eq!(of(&[5, 3, 1, 6], &[1, 2, 3]), [1, 2, 0, 3]);
        assert_eq!(of(&[1, 1], &[1]), [0, 1], "two with one address");
    }
}
