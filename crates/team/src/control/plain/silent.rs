//! Members by which no answer comes back.
//!
//! Up to two hosts in use are asked by ARP, each 100 ms, by every member at the same moment. The question is the probe of RFC
//! 5227: without a sender's IP address, so that nobody's cache changes; to the host alone; and from the member's own
//! address, so that the answer comes to that member, if the way there and the way back carry frames. A member that misses
//! three in a row of a host that answered all of these by another one is *silent*, unless another host hears it. It is
//! asked on, and used again after three answers in a row, or twice as many each time that it falls silent again
//! within a minute. So fast, because TCP tries a third time after 0.6 s: that segment is to find its way.
//!
//! Where the dataplane names fewer than two hosts, those that the stack spoke to last by ARP take their place: datagrams are
//! not reported. A host that acknowledged nothing in the last 3 s is asked each 200 ms. One that answers nobody blames
//! nobody. One that answers a few questions at a time does not either: who asks first is another member each time, so
//! nobody misses three while somebody else has all three.
//!
//! Only a host says something of members whose answer goes to the address that asked. One that stripes sends it to any of our
//! members, by any of its own: it is not asked, and a host of which that is not known is found out by an answer to one
//! member's question at another one's address. What such a host has blamed members for is taken back.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use nicteam_events::PlainEvent;
use nicteam_machine::{MemberId, MemberSet, Time, state};
use nicteam_plan::stripe::{PlainHost, PlainReport};
use nicteam_wire::{Arp, Mac, Vlan};

use super::known::Known;

/// Between two questions.
const ROUND: Duration = Duration::from_millis(100);
/// Hosts that are asked at once.
const HOSTS: usize = 2;
/// Questions in a row that decide.
const IN_A_ROW: u8 = 3;
/// The most answers in a row after which a silent member is used again.
const MOST_ANSWERS: u8 = 48;
/// One that falls silent so soon after it was used again has to answer twice as many.
const SOON: Duration = Duration::from_secs(60);
/// So long after a member was silent TCP still sends again what it lost.
const AFTERWARDS: Duration = Duration::from_secs(5);
/// A host that the stack spoke to by ARP is taken to be in use for so long. (Answers to probes keep the stack's entry of it
/// fresh, so it need not ask itself.)
const SPOKEN: Duration = Duration::from_secs(300);
/// A host is asked for so long after it was in use.
const LINGER: Duration = Duration::from_secs(10);
/// And for so long after it last answered, if a member is silent.
const PATIENCE: Duration = Duration::from_secs(60);
/// A host to which nothing was delivered for so long is asked each so many rounds alone.
const IDLE: Duration = Duration::from_secs(3);
const IDLE_ROUNDS: u8 = 2;
/// A host that answered nobody so often is asked each so many rounds alone, and another takes its place.
const MUTE: u8 = 20;

/// Who is silent, and who is asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Silent {
    own: Vec<(MemberId, Mac)>,
    hosts: Vec<Host>,
    round_at: Option<Time>,
    /// Rounds so far.
    round: u8,
    quiet: BTreeMap<MemberId, Quiet>,
}

state!(struct Silent { own, hosts, round_at, round, quiet });

/// A host that is asked.
#[derive(Clone, Debug)]
struct Host {
    mac: Mac,
    ip: Ipv4Addr,
    vlan: Option<Vlan>,
    /// When it was in use last.
    used: Time,
    /// When something was last delivered to it.
    busy: Time,
    /// When it last answered somebody; at first, when it was asked.
    answered: Time,
    /// Rounds in a row in which it answered nobody.
    mute: u8,
    /// Who asks first.
    turn: u8,
    /// In this round: who asked, who was answered, and whether an answer went to another member than asked.
    asked: MemberSet,
    heard: MemberSet,
    strays: bool,
    /// By member: what became of its questions.
    members: BTreeMap<MemberId, Row>,
}

state!(struct Host { mac, ip, vlan, used, busy, answered, mute, turn, asked, heard, strays, members });

/// Questions in a row that were missed, or answered; one of both is 0. Of rounds in which somebody was answered.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    missed: u8,
    answered: u8,
}

state!(struct Row { missed, answered });

/// A member that is silent, or was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quiet {
    is_silent: bool,
    /// Since when it is, or is no more.
    pub(super) since: Time,
    /// Answers in a row after which it is used again.
    needs: u8,
    /// The host that blamed it.
    pub(super) host: Mac,
    pub(super) ip: Ipv4Addr,
}

state!(struct Quiet { is_silent, since, needs, host, ip });

impl Silent {
    /// Those that are silent.
    pub(super) fn members(&self) -> MemberSet {
        self.quiet.iter().filter(|(_, quiet)| quiet.is_silent).map(|(id, _)| *id).collect()
    }

    /// Those that are silent, or were within the last seconds.
    pub(super) fn lately(&self, now: Time) -> MemberSet {
        let lately = self.quiet.iter().filter(|(_, quiet)| quiet.is_silent || now.since(quiet.since) < AFTERWARDS);
        lately.map(|(id, _)| *id).collect()
    }

    /// Since when, and of whom; of one that is silent.
    pub(super) fn of(&self, id: MemberId) -> Option<&Quiet> {
        self.quiet.get(&id).filter(|quiet| quiet.is_silent)
    }

    /// True if this host is asked.
    pub(super) fn asks(&self, mac: Mac) -> bool {
        self.hosts.iter().any(|host| host.mac == mac)
    }

    /// The members that can send.
    pub(super) fn own(&self) -> impl Iterator<Item = MemberId> {
        self.own.iter().map(|(id, _)| *id)
    }

    /// True if it is one of these.
    pub(super) fn has(&self, id: MemberId) -> bool {
        self.own().any(|own| own == id)
    }

    /// The members that can send, with their addresses; with fewer than two there is nobody to compare.
    pub(super) fn set_own(&mut self, own: Vec<(MemberId, Mac)>, events: &mut Vec<PlainEvent>, now: Time) {
        if own == self.own {
            return;
        }
        let stays = |id: &MemberId| own.iter().any(|(own, _)| own == id);
        self.quiet.retain(|id, _| stays(id));
        for host in &mut self.hosts {
            host.members.retain(|id, _| stays(id));
        }
        self.own = own;
        if self.own.len() < 2 {
            (self.hosts, self.round_at) = (Vec::new(), None);
        }
        // Those by which they were judged may be gone.
        let silent = self.members();
        if self.own().all(|id| silent.contains(id)) {
            self.forgive(events, now);
        }
    }

    /// When the next round is.
    pub(super) fn round_at(&self) -> Option<Time> {
        self.round_at
    }

    /// Chooses whom to ask: the hosts of the report, then those that were spoken to; as far as it is known where.
    pub(super) fn take_report(
        &mut self,
        report: &PlainReport,
        known: &Known<'_>,
        events: &mut Vec<PlainEvent>,
        now: Time,
    ) {
        if self.own.len() < 2 {
            return;
        }
        let is_busy = |host: &PlainHost| host.striped || host.delivered_mbps > 0;
        let spoken = known.spoken_since(Time::ZERO + now.since(Time::ZERO + SPOKEN));
        let striping: Vec<Mac> = self.hosts.iter().map(|host| host.mac).filter(|mac| known.stripes(*mac)).collect();
        self.hosts.retain(|host| !striping.contains(&host.mac));
        striping.iter().for_each(|mac| self.acquit(*mac, events, now));
        for host in &mut self.hosts {
            let reported = report.hosts.iter().find(|of| of.mac == host.mac);
            if reported.is_some() || spoken.contains(&host.mac) {
                host.used = now;
            }
            if reported.is_some_and(is_busy) {
                host.busy = now;
            }
            let places = known.places_of(host.mac);
            if let Some(place) = places.first().filter(|_| !places.contains(&(host.ip, host.vlan))) {
                *host = Host { used: host.used, busy: host.busy, ..Host::new(host.mac, *place, now) };
            }
        }
        let is_anyone_silent = !self.members().is_empty();
        self.hosts
            .retain(|host| now.since(host.used) < LINGER || is_anyone_silent && now.since(host.answered) < PATIENCE);
        let mut hosts: Vec<PlainHost> = report.hosts.iter().filter(|host| !known.stripes(host.mac)).cloned().collect();
        hosts.sort_by_key(|host| (!host.striped, u32::MAX - host.delivered_mbps, host.mac));
        let reported = hosts.iter().map(|host| (host.mac, is_busy(host)));
        for (mac, busy) in reported.chain(spoken.iter().map(|mac| (*mac, false))) {
            self.offer(mac, busy, known, now);
        }
        if self.hosts.iter().all(|host| now.since(host.answered) >= PATIENCE) {
            self.forgive(events, now);
        }
        if self.hosts.is_empty() {
            self.round_at = None;
        } else {
            self.round_at.get_or_insert(now);
        }
    }

    /// Asks this host from now on, if there is room, or one that is mute, or one without traffic while this one has some.
    fn offer(&mut self, mac: Mac, busy: bool, known: &Known<'_>, now: Time) {
        let gives_way = |host: &Host| host.mute >= MUTE || busy && now.since(host.busy) >= IDLE;
        let room = match self.hosts.iter().position(gives_way) {
            _ if self.asks(mac) => return,
            _ if self.hosts.len() < HOSTS => None,
            Some(place) => Some(place),
            None => return,
        };
        let Some(place) = known.places_of(mac).first().copied() else { return };
        let mut host = Host::new(mac, place, now);
        if !busy {
            host.busy = Time::ZERO;
        }
        match room {
            Some(at) => self.hosts[at] = host,
            None => self.hosts.push(host),
        }
    }

    /// A member received ARP for this address; true if it answers a question of ours.
    pub(super) fn hear(&mut self, member: MemberId, dst: Mac, arp: &Arp) -> bool {
        let answers = arp.operation == Arp::REPLY && arp.target_ip.is_unspecified();
        let asked = self.hosts.iter_mut().find(|host| (host.mac, host.ip) == (arp.sender_mac, arp.sender_ip));
        let Some(host) = asked.filter(|_| answers) else { return false };
        // A switch that does not know the address shows the answer to others, too.
        if self.own.contains(&(member, arp.target_mac)) {
            host.heard.insert(member);
        }
        host.strays |= dst != arp.target_mac && self.own.contains(&(member, dst));
        true
    }

    /// Evaluates the round that ends, and asks anew.
    pub(super) fn handle_timeout(&mut self, events: &mut Vec<PlainEvent>, now: Time) -> Vec<(MemberId, Vec<u8>)> {
        if self.round_at.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let strays: Vec<Mac> = self.hosts.iter().filter(|host| host.strays).map(|host| host.mac).collect();
        self.hosts.iter_mut().for_each(|host| host.end_round(now));
        strays.iter().for_each(|mac| self.acquit(*mac, events, now));
        self.use_again(events, now);
        self.leave(events, now);
        self.round_at = Some(now + ROUND);
        self.ask(now)
    }

    fn ask(&mut self, now: Time) -> Vec<(MemberId, Vec<u8>)> {
        self.round = self.round.wrapping_add(1);
        let (own, round) = (&self.own, self.round);
        let asked = self.hosts.iter_mut().filter(|host| round.is_multiple_of(host.rounds(now)));
        let frames = asked.flat_map(|host| {
            let mut askers = own.clone();
            host.turn = host.turn.wrapping_add(1);
            askers.rotate_left(usize::from(host.turn) % own.len().max(1));
            host.asked = askers.iter().map(|(id, _)| *id).collect();
            askers.iter().map(|&(id, mac)| (id, host.question(mac))).collect::<Vec<_>>()
        });
        frames.collect()
    }

    /// Silent members that answer again.
    fn use_again(&mut self, events: &mut Vec<PlainEvent>, now: Time) {
        for (&member, quiet) in self.quiet.iter_mut().filter(|(_, quiet)| quiet.is_silent) {
            let answered = self.hosts.iter().filter_map(|host| host.members.get(&member)).map(|row| row.answered).max();
            if let Some(answered) = answered.filter(|answered| *answered >= quiet.needs) {
                events.push(PlainEvent::Heard { member, silent_for: now.since(quiet.since), answered });
                (quiet.is_silent, quiet.since) = (false, now);
            }
        }
    }

    /// Members that have become silent.
    fn leave(&mut self, events: &mut Vec<PlainEvent>, now: Time) {
        for member in self.own().collect::<Vec<_>>() {
            let silent = self.members();
            let rows = || self.hosts.iter().filter_map(|host| host.members.get(&member));
            if silent.contains(member) || rows().any(|row| row.answered > 0) {
                continue;
            }
            let blames = |host: &&Host| host.members.get(&member).is_some_and(|row| row.missed >= IN_A_ROW);
            let by_others = |host: &Host| {
                let others = host.members.iter().filter(|(id, row)| **id != member && row.answered >= IN_A_ROW);
                // One that is silent itself is no measure: so somebody is always left.
                others.filter(|(id, _)| !silent.contains(**id)).count() as u8
            };
            let blaming = self.hosts.iter().filter(blames).map(|host| (host, by_others(host)));
            let Some((host, answered)) = blaming.max_by_key(|(_, others)| *others).filter(|(_, others)| *others > 0)
            else {
                continue;
            };
            let missed = host.members.get(&member).map_or(0, |row| row.missed);
            let before = self.quiet.get(&member).filter(|quiet| now.since(quiet.since) < SOON);
            let needs = before.map_or(IN_A_ROW, |quiet| quiet.needs.saturating_mul(2).min(MOST_ANSWERS));
            let (mac, ip) = (host.mac, host.ip);
            self.quiet.insert(member, Quiet { is_silent: true, since: now, needs, host: mac, ip });
            events.push(PlainEvent::Silent { member, host: mac, ip, missed, answered });
        }
    }

    /// Members that this host blamed are not silent: its answers say nothing of them.
    fn acquit(&mut self, host: Mac, events: &mut Vec<PlainEvent>, now: Time) {
        let blamed = self.quiet.iter_mut().filter(|(_, quiet)| quiet.is_silent && quiet.host == host);
        for (&member, quiet) in blamed {
            events.push(PlainEvent::Heard { member, silent_for: now.since(quiet.since), answered: 0 });
            (quiet.is_silent, quiet.since) = (false, now);
        }
    }

    /// No answers are left that could show whether silent members work.
    fn forgive(&mut self, events: &mut Vec<PlainEvent>, now: Time) {
        self.hosts.iter_mut().for_each(|host| host.members.clear());
        for (&member, quiet) in self.quiet.iter_mut().filter(|(_, quiet)| quiet.is_silent) {
            events.push(PlainEvent::Heard { member, silent_for: now.since(quiet.since), answered: 0 });
            (quiet.is_silent, quiet.since) = (false, now);
        }
    }
}

impl Host {
    fn new(mac: Mac, (ip, vlan): (Ipv4Addr, Option<Vlan>), now: Time) -> Host {
        let (asked, heard) = (MemberSet::EMPTY, MemberSet::EMPTY);
        Host {
            mac,
            ip,
            vlan,
            used: now,
            busy: now,
            answered: now,
            mute: 0,
            turn: 0,
            asked,
            heard,
            strays: false,
            members: BTreeMap::new(),
        }
    }

    /// It is asked each so many rounds.
    fn rounds(&self, now: Time) -> u8 {
        match now.since(self.busy) {
            _ if self.mute >= MUTE => MUTE,
            idle if idle >= IDLE => IDLE_ROUNDS,
            _ => 1,
        }
    }

    /// Is `ip` there? Asked by nobody (RFC 5227, section 2.1.1), but to the host alone.
    fn question(&self, from: Mac) -> Vec<u8> {
        let arp = Arp {
            operation: Arp::REQUEST,
            sender_mac: from,
            sender_ip: Ipv4Addr::UNSPECIFIED,
            target_mac: Mac::default(),
            target_ip: self.ip,
        };
        arp.frame(self.mac, from, self.vlan)
    }

    /// What became of the questions of the round.
    fn end_round(&mut self, now: Time) {
        let (asked, heard) = (std::mem::take(&mut self.asked), std::mem::take(&mut self.heard));
        if std::mem::take(&mut self.strays) {
            // It is asked seldom, and gives way to others, as one that is mute.
            self.members.clear();
            self.mute = MUTE;
            return;
        }
        if asked.is_empty() {
            return;
        }
        if !asked.iter().any(|id| heard.contains(id)) {
            self.mute = self.mute.saturating_add(1);
            return;
        }
        (self.mute, self.answered) = (0, now);
        for member in asked.iter() {
            let row = self.members.entry(member).or_default();
            *row = match heard.contains(member) {
                true => Row { missed: 0, answered: row.answered.saturating_add(1) },
                false => Row { missed: row.missed.saturating_add(1), answered: 0 },
            };
        }
    }
}
