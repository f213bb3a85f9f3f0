//! Which member each client sends to (receive load balancing).
//!
//! As Linux 6.1 drivers/net/bonding/bond_alb.c, `rlb_*`: what the stack says of
//! its own address in ARP is said with a member's address instead, one member
//! for each client in rotation; when the member changes, the client is told.
//! Differences:
//! - Members get clients by their speeds. In the kernel the fastest get all
//!   (`rlb_next_rx_slave`).
//! - Who comes gets its part of the clients from those that have more than theirs,
//!   the others stay. The kernel assigns all anew.
//! - The same for IPv6 neighbour discovery, in a table of its own. The kernel
//!   sends it by the active member as it is.
//! - A client that changes its member because the old one is lost is told at
//!   once, not after what is left of two seconds.
//! - A request to one client's Ethernet address, a probe whether it is still
//!   there, tells it its own member again (the kernel's moves it to the active
//!   one until the next update).
//! - The answer that assigns a client to a member is not sent again as an update.

use std::cmp::Reverse;
use std::net::IpAddr;
use std::time::Duration;

use nicteam_machine::{MAX_MEMBERS, MemberId, Time, state};
use nicteam_wire::{Arp, Mac, Ndisc, NdiscKind, Vlan};

use super::addresses::Addresses;
use super::buckets::{Channel, known_speeds};
use crate::balance::simple_hash;

/// Entries for each family (`RLB_HASH_TABLE_SIZE`).
const ENTRIES: usize = 256;
/// Updates sent at once (`RLB_ARP_BURST_SIZE`).
const BURST: usize = 2;
/// Updates after the first when a member was lost (`RLB_UPDATE_RETRY`).
const RETRIES: u32 = 3;
/// Between two rounds of updates (`RLB_UPDATE_DELAY`).
const DELAY: Duration = Duration::from_secs(2);

/// A client's address and the one of ours that it speaks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) server: IpAddr,
    pub(super) client: IpAddr,
}

state!(struct Pair { server, client });

/// The clients, each with its member.
#[derive(Clone, Debug, Default)]
pub(super) struct Rlb {
    /// IPv4 before IPv6; empty before the first.
    clients: Vec<Option<Client>>,
    /// Who had the last turn.
    last: Option<MemberId>,
    /// When to send the updates that wait.
    due: Option<Time>,
    /// No round of updates before.
    quiet_until: Time,
    /// Rounds after the next.
    retries: u32,
}

state!(struct Rlb { clients, last, due, quiet_until, retries });

#[derive(Clone, Debug)]
struct Client {
    pair: Pair,
    /// Its Ethernet address, once it has spoken.
    mac: Option<Mac>,
    /// What the stack says is its own.
    ours: Mac,
    vlan: Option<Vlan>,
    member: Option<MemberId>,
    /// It has not been told its member.
    stale: bool,
    /// When the stack last spoke to it by ARP or neighbour discovery.
    spoken: Time,
}

state!(struct Client { pair, mac, ours, vlan, member, stale, spoken });

impl Rlb {
    /// The member for this client, which is spoken to now; another client that
    /// has its entry is moved to the active member, by the frames returned.
    pub(super) fn choose(
        &mut self,
        pair: Pair,
        mac: Option<Mac>,
        ours: Mac,
        vlan: Option<Vlan>,
        world: &World<'_>,
    ) -> (Option<MemberId>, Vec<(MemberId, Vec<u8>)>) {
        self.clients.resize(2 * ENTRIES, None);
        let entry = entry(pair.client);
        let mut moved = Vec::new();
        match &mut self.clients[entry] {
            Some(client) if client.pair == pair && client.vlan == vlan => {
                client.mac = mac.or(client.mac);
                client.ours = ours;
                client.spoken = world.now;
                if client.member.is_some() {
                    return (client.member, moved);
                }
            }
            Some(other) if world.active.is_some() && other.member != world.active => {
                other.member = world.active;
                moved = other.updates(world.addresses);
            }
            _ => {}
        }
        let member = self.next(world.channels);
        if member.is_some() {
            self.clients[entry] = Some(Client { pair, mac, ours, vlan, member, stale: false, spoken: world.now });
        }
        (member, moved)
    }

    /// Every client of this address of ours was told the team's address by a
    /// broadcast: those of other members are told again, once the broadcast has
    /// worked (`rlb_req_update_subnet_clients`).
    pub(super) fn told_all(&mut self, server: IpAddr, world: &World<'_>, now: Time) {
        self.quiet_until = now + DELAY;
        self.due = self.due.map(|due| due.max(self.quiet_until));
        self.mark(now, |client| client.pair.server == server && client.member != world.active);
    }

    /// Somebody says that he has this address: entries that say so with another
    /// Ethernet address are not ours any more (`rlb_purge_src_ip`).
    pub(super) fn heard(&mut self, ip: IpAddr, mac: Mac) {
        for entry in &mut self.clients {
            entry.take_if(|client| client.pair.server == ip && client.ours != mac);
        }
    }

    /// A client answered (`rlb_update_entry_from_arp`).
    pub(super) fn answered(&mut self, pair: Pair, mac: Mac, now: Time) {
        if let Some(Some(client)) = self.clients.get_mut(entry(pair.client))
            && client.pair == pair
            && client.mac != Some(mac)
        {
            client.mac = Some(mac);
            client.stale = true;
            self.due = Some(self.due.unwrap_or(self.quiet_until.max(now)));
        }
    }

    /// A member is lost: its clients get others, and are told (`rlb_clear_slave`).
    pub(super) fn lose(&mut self, member: MemberId, channels: &[Channel], now: Time) {
        while let Some(place) = self.client_of(Some(member)) {
            self.reassign(place, channels);
            self.hurry(now);
        }
    }

    /// A member's address changed: its clients are told (`rlb_req_update_slave_clients`).
    pub(super) fn readdressed(&mut self, member: MemberId, now: Time) {
        if self.mark(now, |client| client.member == Some(member)) {
            self.hurry(now);
        }
    }

    /// A member came, or its speed changed: it gets its part of the clients from
    /// those that have more than theirs, and these clients are told.
    pub(super) fn rebalance(&mut self, channels: &[Channel], now: Time) {
        if channels.is_empty() {
            return;
        }
        while let Some(place) = self.client_of(None).or_else(|| self.client_of(Some(self.overloaded(channels)?))) {
            self.reassign(place, channels);
        }
        self.mark(now, |client| client.stale);
    }

    /// IPv6 clients are balanced no more: those of other members than the active
    /// one are told to speak to it, by the frames returned.
    pub(super) fn give_up_ipv6(&mut self, active: Option<MemberId>, addresses: &Addresses) -> Vec<(MemberId, Vec<u8>)> {
        let mut told = Vec::new();
        for client in self.clients.iter_mut().skip(ENTRIES).filter_map(Option::take) {
            if client.member != active {
                told.extend(Client { member: active, ..client }.updates(addresses));
            }
        }
        told
    }

    /// Gives a client another member.
    fn reassign(&mut self, place: usize, channels: &[Channel]) {
        let next = self.next(channels);
        if let Some(client) = &mut self.clients[place] {
            client.member = next;
            client.stale |= client.mac.is_some();
        }
    }

    /// The first client of this member, or of none.
    fn client_of(&self, member: Option<MemberId>) -> Option<usize> {
        self.clients.iter().position(|client| client.as_ref().is_some_and(|client| client.member == member))
    }

    /// The member with the most clients for its speed, if one of them is better off elsewhere.
    fn overloaded(&self, channels: &[Channel]) -> Option<MemberId> {
        let loads = self.loads(channels);
        let lightest = loads.iter().map(|load| load.after(1)).min()?;
        loads.iter().max_by_key(|load| load.after(0)).filter(|load| load.after(0) > lightest).map(|load| load.id)
    }

    /// The addresses of clients with this Ethernet address, each with its VLAN.
    pub(super) fn addresses_of(&self, mac: Mac) -> impl Iterator<Item = (IpAddr, Option<Vlan>)> {
        let clients = self.clients.iter().flatten().filter(move |client| client.mac == Some(mac));
        clients.map(|client| (client.pair.client, client.vlan))
    }

    /// The Ethernet addresses of clients that the stack has spoken to since, by IPv4; the last first.
    pub(super) fn spoken_since(&self, since: Time) -> Vec<Mac> {
        let clients = self.clients.iter().take(ENTRIES).flatten().filter(|client| client.spoken >= since);
        let mut clients: Vec<(Time, Mac)> = clients.filter_map(|client| Some((client.spoken, client.mac?))).collect();
        clients.sort_by_key(|&(spoken, mac)| (Reverse(spoken), mac));
        clients.into_iter().map(|(_, mac)| mac).collect()
    }

    /// When updates are to be sent.
    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }

    /// The updates that are due.
    pub(super) fn updates(&mut self, addresses: &Addresses, now: Time) -> Vec<(MemberId, Vec<u8>)> {
        if self.due.is_none_or(|due| due > now) {
            return Vec::new();
        }
        let stale = self.clients.iter().flatten().filter(|client| client.stale);
        let frames: Vec<_> = stale.flat_map(|client| client.updates(addresses)).collect();
        self.quiet_until = now + DELAY;
        if self.retries > 0 && !frames.is_empty() {
            self.retries -= 1;
            self.due = Some(self.quiet_until);
        } else {
            self.retries = 0;
            self.due = None;
            // A member that has just joined has yet to say its address.
            let untold = |client: &Client| client.member.is_some_and(|member| addresses.of(member).is_none());
            self.clients.iter_mut().flatten().for_each(|client| client.stale &= untold(client));
        }
        frames
    }

    /// The member for one more client: who has the fewest for its speed, of equal
    /// ones the next in rotation.
    fn next(&mut self, channels: &[Channel]) -> Option<MemberId> {
        let mut loads = self.loads(channels);
        let turn = loads.iter().position(|load| Some(load.id) == self.last).map_or(0, |at| at + 1);
        loads.rotate_left(turn);
        let next = loads.into_iter().min_by_key(|load| load.after(1)).map(|load| load.id);
        self.last = next.or(self.last);
        next
    }

    /// How many clients each member has.
    fn loads(&self, channels: &[Channel]) -> Vec<Load> {
        let mut clients = [0; MAX_MEMBERS];
        for member in self.clients.iter().flatten().filter_map(|client| client.member) {
            clients[member.index()] += 1;
        }
        let load = |(id, speed_mbps): (MemberId, u64)| Load { id, clients: clients[id.index()], speed_mbps };
        known_speeds(channels).map(load).collect()
    }

    /// Marks clients that have an Ethernet address; true if there are any.
    fn mark(&mut self, now: Time, mut which: impl FnMut(&Client) -> bool) -> bool {
        let mut any = false;
        for client in self.clients.iter_mut().flatten() {
            if client.mac.is_some() && which(client) {
                client.stale = true;
                any = true;
            }
        }
        if any {
            self.due = Some(self.due.unwrap_or(self.quiet_until.max(now)));
        }
        any
    }

    /// What waits is sent now, and again.
    fn hurry(&mut self, now: Time) {
        self.due = Some(now);
        self.retries = RETRIES;
    }
}

/// What a choice depends on beside the clients.
pub(super) struct World<'a> {
    pub(super) channels: &'a [Channel],
    pub(super) active: Option<MemberId>,
    pub(super) addresses: &'a Addresses,
    pub(super) now: Time,
}

/// A member's clients.
struct Load {
    id: MemberId,
    clients: u64,
    speed_mbps: u64,
}

impl Load {
    /// Clients for its speed, once it has so many more.
    fn after(&self, more: u64) -> u64 {
        ((self.clients + more) << 32) / self.speed_mbps
    }
}

impl Client {
    /// What tells it its member (`rlb_update_client`).
    fn updates(&self, addresses: &Addresses) -> Vec<(MemberId, Vec<u8>)> {
        let (Some(member), Some(to)) = (self.member, self.mac) else { return Vec::new() };
        let Some(from) = addresses.of(member) else { return Vec::new() };
        let frame = match (self.pair.server, self.pair.client) {
            (IpAddr::V4(server), IpAddr::V4(client)) => {
                let operation = Arp::REPLY;
                let arp = Arp { operation, sender_mac: from, sender_ip: server, target_mac: to, target_ip: client };
                arp.frame(to, from, self.vlan)
            }
            (IpAddr::V6(server), IpAddr::V6(client)) => {
                let kind = NdiscKind::Advertisement { router: false, solicited: false, overrides: true };
                let ndisc = Ndisc { src: server, dst: client, target: server, link_layer: Some(from), kind };
                ndisc.frame(to, from, self.vlan)
            }
            // A pair is of one family.
            _ => return Vec::new(),
        };
        vec![(member, frame); BURST]
    }
}

fn entry(client: IpAddr) -> usize {
    match client {
        IpAddr::V4(ip) => usize::from(simple_hash(&ip.octets())),
        IpAddr::V6(ip) => ENTRIES + usize::from(simple_hash(&ip.octets())),
    }
}
