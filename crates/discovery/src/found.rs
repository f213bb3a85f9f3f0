//! What discovery found: the peers, and what a plan needs of them.

use std::collections::BTreeSet;

use nicteam_machine::{MemberId, MemberSet};
use nicteam_plan::stripe::{MAX_ADDRESSES, MAX_PEERS, Peer, Sender};

use super::auth::Refused;
use super::discovery::Discovery;
use super::neighbour::{Neighbour, Rank};
use super::own::Own;

impl Discovery {
    /// The members that can send.
    pub fn senders(&self) -> Vec<Sender> {
        let usable = self.own.iter().filter(|own| own.usable);
        let token = |mac| self.auth.lost_token(self.system, self.lost_tokens, mac);
        let sender = |own: &Own| Sender {
            id: own.id,
            mac: own.mac,
            rate_mbps: own.rate_mbps.max(1),
            lost_token: token(own.mac),
        };
        usable.map(sender).collect()
    }

    /// Those that frames can be striped to, by address. Where there is not room
    /// for all, those are left out of which nothing proves that they are there,
    /// then those without traffic, then the newest. Of two that name the same address one counts, by the same order.
    pub fn peers(&self) -> Vec<Peer> {
        let mut peers = self.table().0;
        peers.sort_by_key(|peer| peer.team);
        peers
    }

    /// How many there is no room for among [`Discovery::peers`].
    pub fn left_out(&self) -> usize {
        let addresses = || self.neighbours.all().map(|of| 1 + of.members.len()).sum::<usize>();
        let is_room = self.neighbours.len() <= MAX_PEERS && addresses() <= MAX_ADDRESSES;
        if is_room { 0 } else { self.table().1 }
    }

    /// Peers by rank, and for how many others there is no room.
    fn table(&self) -> (Vec<Peer>, usize) {
        let (senders, now) = (self.senders(), self.now);
        let from = &self.segments.found().from;
        let mut ranked: Vec<(Rank, &Neighbour)> = self.neighbours.all().map(|of| (of.rank(now), of)).collect();
        ranked.sort_by_key(|(rank, of)| (*rank, of.system));
        let (mut taken, mut room, mut left_out) = (BTreeSet::new(), MAX_ADDRESSES, 0);
        let mut peers: Vec<Peer> = Vec::new();
        for (_, neighbour) in ranked {
            let token = |mac| self.auth.lost_token(neighbour.system, neighbour.lost_tokens, mac);
            let group_from = from.get(&neighbour.system).copied();
            let peer = Peer { group_from, ..neighbour.peer(&senders, token) };
            let addresses = peer.addresses().count();
            if peer.receivers.is_empty() || peer.addresses().any(|mac| taken.contains(&mac)) {
                continue;
            }
            if peers.len() == MAX_PEERS || addresses > room {
                left_out += 1;
                continue;
            }
            room -= addresses;
            taken.extend(peer.addresses());
            peers.push(peer);
        }
        (peers, left_out)
    }

    /// By which members group-addressed frames leave, and are taken: one of each segment.
    pub fn group(&self) -> MemberSet {
        self.segments.found().segments.iter().map(|(listener, _)| *listener).collect()
    }

    /// The segments that our members lie on, each with the one of [`Discovery::group`].
    pub fn segments(&self) -> &[(MemberId, MemberSet)] {
        &self.segments.found().segments
    }

    /// Members that hear what they say themselves: their cables end where they begin.
    pub fn looped(&self) -> MemberSet {
        self.segments.looped()
    }

    /// Members that hear no team and none of our own members, though others do hear teams.
    pub fn deaf(&self) -> MemberSet {
        let hears: MemberSet = self.neighbours.all().flat_map(Neighbour::heard_by).collect();
        let is_alone = |id: MemberId| self.segments().iter().any(|(_, members)| *members == MemberSet::one(id));
        let usable = self.own.iter().filter(|own| own.usable).map(|own| own.id);
        let deaf = |id: &MemberId| !hears.contains(*id) && is_alone(*id) && self.segments.is_settled(*id);
        if hears.is_empty() { MemberSet::EMPTY } else { usable.filter(deaf).collect() }
    }

    /// True if hellos are authenticated.
    pub fn has_key(&self) -> bool {
        self.auth.has_key()
    }

    /// How many of those that are known have the key that is new, where hellos by the one before are believed, too.
    pub fn have_new_key(&self) -> Option<usize> {
        let known = self.neighbours.all();
        self.auth.changes_keys().then(|| known.filter(|of| self.auth.has_new_key(of.system)).count())
    }

    /// Hellos that were not believed.
    pub fn refused(&self) -> Refused {
        self.auth.refused()
    }

    /// All that are known.
    pub fn neighbours(&self) -> impl Iterator<Item = &Neighbour> {
        self.neighbours.all()
    }

    /// Hellos of systems for which there was no room.
    pub fn overlooked(&self) -> u64 {
        self.overlooked
    }
}
