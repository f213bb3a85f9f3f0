//! Reports of a lost carrier, forged ones and real ones, and echo times that cannot be.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nicteam_team::{Action, Choose, Plan, PlanState, Stripe, Time};
use nicteam_wire::{Frame, Hello, HelloKind, Lost, Mac, Times};

use crate::stripe::lan::{Lan, frame, id};

const KEY: &str = "0123456789abcdef";
/// The member that is said to be lost, and another one of the peer's.
const LOST: usize = 2;
const MEMBERS: usize = 4;

/// A plan for a peer of four members, and what its forwarding remembers.
struct Host {
    plan: Plan,
    state: PlanState,
    /// A frame for the peer.
    bytes: Vec<u8>,
    at_ms: u64,
}

impl Host {
    fn new(change: impl FnOnce(&mut Stripe)) -> Host {
        let mut lan = Lan::new();
        let (a, b) = (lan.add(&[0; MEMBERS], &[1000; MEMBERS]), lan.add(&[0; MEMBERS], &[1000; MEMBERS]));
        lan.run(Duration::from_millis(300));
        let mut plan = lan.host(a).plan.clone();
        let Choose::Stripe(stripe) = &mut plan.choose else { panic!() };
        change(stripe);
        let bytes = frame(lan.host(b).mac, lan.host(a).mac, 200);
        Host { plan, state: PlanState::new(0), bytes, at_ms: 5000 }
    }

    fn stripe(&self) -> &Stripe {
        let Choose::Stripe(stripe) = &self.plan.choose else { panic!() };
        stripe
    }

    fn theirs(&self, place: usize) -> Mac {
        self.stripe().peers[0].receivers[place].mac
    }

    /// Frames that find the wires free, one a millisecond; how many go to each of the peer's members.
    fn send(&mut self, count: u64) -> BTreeMap<Mac, u32> {
        let mut used = BTreeMap::new();
        for _ in 0..count {
            self.state.now = Time::from_millis(self.at_ms);
            let action = self.plan.choose(&Frame::parse(&self.bytes).unwrap(), &mut self.state);
            let Action::Stripe { dst, .. } = action else { panic!("{action:?}") };
            *used.entry(dst).or_default() += 1;
            self.at_ms += 1;
        }
        used
    }

    fn leaves_lost(&mut self) -> bool {
        let used = self.send(12);
        !used.contains_key(&self.theirs(LOST))
    }

    fn report(&mut self, token: u64) {
        let lost = Lost { mac: self.theirs(LOST), token };
        self.receive(&lost.frame(self.stripe().senders[0].mac, self.theirs(0)));
    }

    fn receive(&mut self, frame: &[u8]) {
        self.state.now = Time::from_millis(self.at_ms);
        self.plan.receive_once(id(0), &Frame::parse(frame).unwrap(), &mut self.state);
    }

    /// A probe to a member of the peer's leaves; it as an echo.
    fn probe(&mut self, place: usize, stamp: u64) -> Vec<u8> {
        let hello = Hello {
            kind: HelloKind::Probe,
            system: 7,
            sequence: 0,
            team: Mac([2, 0, 0, 0, 9, 9]),
            place: 0,
            stamp,
            next_ms: 0,
            takes_rtags: true,
            rivals: 0,
            members: Vec::new(),
        };
        let mut frame = hello.frame(self.theirs(place), self.stripe().senders[0].mac);
        self.plan.note_transmitted(&Frame::parse(&frame).unwrap(), &mut self.state);
        assert!(Hello::reflect(&mut frame));
        frame
    }
}

#[test]
fn a_report_counts_until_a_probe_that_left_after_it_is_back() {
    let mut host = Host::new(|_| {});
    let early = host.probe(LOST, 1);
    host.report(0);
    assert!(host.leaves_lost());
    host.receive(&early);
    let other = host.probe(0, 2);
    host.receive(&other);
    assert!(host.leaves_lost(), "neither an echo of before nor one of another member says anything");
    let (late, later) = (host.probe(LOST, 3), host.probe(LOST, 4));
    host.receive(&later);
    assert!(host.leaves_lost(), "the first one counts, of which nobody knows the stamp ahead");
    host.receive(&late);
    assert!(!host.leaves_lost());

    // For a second nobody is believed who says it of this member, then it is as before.
    host.report(0);
    assert!(!host.leaves_lost());
    host.at_ms += 1000;
    host.report(0);
    assert!(host.leaves_lost());
    host.at_ms += 100;
    assert!(!host.leaves_lost());
    host.report(0);
    assert!(host.leaves_lost(), "nothing contradicted it, so it counts again");
}

#[test]
fn ten_forged_reports_a_second_take_little_from_a_member() {
    let mut host = Host::new(|_| {});
    let (mut used, mut stamp) = (0, 0);
    for _ in 0..20 {
        host.report(0);
        // A probe each 5 ms is back after one.
        for _ in 0..20 {
            stamp += 1;
            let echo = host.probe(LOST, stamp);
            let lost = host.theirs(LOST);
            used += host.send(1).get(&lost).copied().unwrap_or_default();
            host.receive(&echo);
            used += host.send(4).get(&lost).copied().unwrap_or_default();
        }
    }
    assert!((480..=520).contains(&used), "{used} of 2000 frames to one of four members");
}

#[test]
fn with_a_key_a_report_needs_its_token_and_that_counts_once() {
    const TOKEN: u64 = 0x0102_0304_0506_0708;
    let mut host = Host::new(|stripe| stripe.peers[0].receivers[LOST].lost_token = TOKEN);
    for forged in [0, TOKEN + 1] {
        host.report(forged);
        assert!(!host.leaves_lost());
    }
    host.report(TOKEN);
    assert!(host.leaves_lost());
    host.at_ms += 5000;
    assert!(host.leaves_lost(), "it cannot be said twice, so it counts for longer");
    host.at_ms += 5000;
    assert!(!host.leaves_lost());
    host.report(TOKEN);
    assert!(!host.leaves_lost(), "somebody sends again what he heard");
    // Nor in the next plan, until there is another token.
    host.plan.generation += 1;
    host.report(TOKEN);
    assert!(!host.leaves_lost());
    host.plan.generation += 1;
    let Choose::Stripe(stripe) = &mut host.plan.choose else { panic!() };
    stripe.peers[0].receivers[LOST].lost_token = TOKEN + 1;
    host.report(TOKEN + 1);
    assert!(host.leaves_lost());
}

/// The tokens of a host's members: as it has them, and as its peer expects them.
fn tokens(lan: &Lan, host: usize) -> [BTreeMap<Mac, u64>; 2] {
    let own = lan.stripe(host).senders.iter().map(|of| (of.mac, of.lost_token));
    let peer = lan.stripe(1 - host);
    [own.collect(), peer.peers[0].receivers.iter().map(|of| (of.mac, of.lost_token)).collect()]
}

#[test]
fn both_ends_know_the_same_tokens_and_others_after_each_change() {
    let mut lan = Lan::new();
    (0..2).for_each(|_| _ = lan.add_with_key(&[0; 3], &[1000; 3], KEY));
    lan.run(Duration::from_millis(300));
    let mut seen = BTreeSet::new();
    for up in [true, false, true] {
        lan.plug(0, 1, up);
        lan.run(Duration::from_millis(300));
        for host in 0..2 {
            let [own, expected] = tokens(&lan, host);
            assert_eq!(own, expected);
            assert!(own.values().all(|token| *token != 0));
        }
        let [own, _] = tokens(&lan, 0);
        assert!(own.values().all(|token| seen.insert(*token)), "no token counts twice: {own:?}");
    }
    let mut open = Lan::new();
    (0..2).for_each(|_| _ = open.add(&[0; 2], &[1000; 2]));
    open.run(Duration::from_millis(300));
    assert!(tokens(&open, 0).iter().all(|tokens| tokens.values().all(|token| *token == 0)));
}

/// How many of a hundred frames go by other paths than the first after echoes of it that were due, and late, like this.
fn moved(due_ms: impl Fn(u64) -> u64, late_ms: i64) -> u32 {
    let mut host = Host::new(|_| {});
    for round in 0..8 {
        for place in 0..MEMBERS {
            let (own, theirs) = (host.stripe().senders[place].mac, host.theirs(place));
            let mut echo = host.probe(place, round);
            echo[..6].copy_from_slice(&own.0);
            echo[6..12].copy_from_slice(&theirs.0);
            let late_ns = if place == 0 { late_ms * 1_000_000 } else { 0 };
            let due = if place == 0 { due_ms(host.at_ms) } else { host.at_ms } * 1_000_000;
            Times::set_due(&mut echo, due);
            Times::set_arrived(&mut echo, (due + 3_600_000_000_000).wrapping_add_signed(late_ns));
            host.state.now = Time::from_millis(host.at_ms);
            host.plan.receive_once(id(place), &Frame::parse(&echo).unwrap(), &mut host.state);
        }
    }
    let (mut used, own) = (0, host.stripe().senders[0].id);
    for _ in 0..400 {
        let Action::Stripe { member, .. } = host.plan.choose(&Frame::parse(&host.bytes).unwrap(), &mut host.state)
        else {
            panic!()
        };
        used += u32::from(member == own);
    }
    100_u32.saturating_sub(used)
}

#[test]
fn echo_times_that_cannot_be_move_nothing() {
    assert!(moved(|now| now, 8) > 50, "a queue does");
    assert!(moved(|now| now + 99, 8) > 50 && moved(|now| now - 999, 8) > 50);
    assert_eq!(moved(|now| now + 101, 8), 0, "no transmit backlog lasts so long");
    assert_eq!(moved(|now| now - 1000, 8), 0, "no probe is under way for so long");
    for late_ms in [1001, -1001, 1_000_000_000] {
        assert_eq!(moved(|now| now, late_ms), 0, "a queue of {late_ms} ms");
    }
}
