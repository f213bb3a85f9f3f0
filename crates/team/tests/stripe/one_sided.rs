//! One-sided striping under virtual time: a connection to a host behind a port of a switch, and how many members it gets.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use nicteam_team::stripe::{PlainHost, PlainMember};
use nicteam_team::{Action, Choose, MemberId, Plan, PlanState, Stripe, Time, Verdict};
use nicteam_wire::{Frame, Mac};
use proptest::prelude::*;

use crate::stripe::lan::{Lan, id};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
/// A frame, and what it takes on the wire with check sequence, preamble and gap.
const FRAME: usize = 1514;
const WIRE_BYTES: u64 = FRAME as u64 + 24;
const PAYLOAD: u32 = 1460;
const HOST: Mac = Mac([2, 7, 0, 0, 0, 1]);
const PORT: u16 = 40_000;

/// The plan of a team with members of these rates, alone on its segment.
fn plan(rates_mbps: &[u32], change: impl FnOnce(&mut Stripe)) -> (Plan, Mac) {
    let mut lan = Lan::new();
    let host = lan.add(&vec![0; rates_mbps.len()], rates_mbps);
    lan.run(Duration::from_millis(100));
    let mut plan = lan.host(host).plan.clone();
    let Choose::Stripe(stripe) = &mut plan.choose else { panic!() };
    assert_eq!(stripe.plain.members.iter().count(), rates_mbps.len());
    change(stripe);
    (plan, lan.host(host).mac)
}

/// A segment of TCP from a port of ours to the host's, or back.
fn segment((dst, src): (Mac, Mac), ports: (u16, u16), sequence: u32, ack: u32, options: &[u8], bytes: u32) -> Vec<u8> {
    let mut frame = [dst.0, src.0].concat();
    frame.extend([8, 0, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend([ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat());
    frame.extend([sequence.to_be_bytes(), ack.to_be_bytes()].concat());
    frame.extend([(20 + options.len() as u8) << 2, 0x10, 1, 0, 0, 0, 0, 0]);
    frame.extend(options);
    frame.resize(frame.len() + bytes as usize, 7);
    frame
}

/// A host towards plain ones, and what its dataplane remembers.
struct Sender {
    plan: Plan,
    state: PlanState,
    own: Mac,
    now: u64,
}

impl Sender {
    fn new(rates_mbps: &[u32], change: impl FnOnce(&mut Stripe)) -> Sender {
        let (plan, own) = plan(rates_mbps, change);
        Sender { plan, state: PlanState::new(0), own, now: 10 * SECOND }
    }

    /// By which member it leaves; with that one's address, or as the plan has it.
    fn send(&mut self, frame: &[u8]) -> MemberId {
        self.state.now = Time::from_nanos(self.now);
        let action = self.plan.choose(&Frame::parse(frame).unwrap(), &mut self.state);
        let Action::Send(members) = action else { panic!("{action:?}") };
        assert_eq!(members.iter().count(), 1);
        members.iter().next().unwrap()
    }

    fn data(&mut self, to: Mac, port: u16, sequence: u32) -> MemberId {
        self.send(&segment((to, self.own), (port, 5001), sequence, 1, &[], PAYLOAD))
    }

    fn receive(&mut self, frame: &[u8]) -> Verdict {
        self.state.now = Time::from_nanos(self.now);
        self.plan.receive_once(id(0), &Frame::parse(frame).unwrap(), &mut self.state)
    }

    fn acknowledge(&mut self, from: Mac, port: u16, ack: u32, options: &[u8]) -> Verdict {
        self.receive(&segment((self.own, from), (5001, port), 1, ack, options, 0))
    }

    fn report(&mut self, mac: Mac) -> PlainHost {
        let report = self.state.stripe.take_plain_report(Time::from_nanos(self.now));
        *report.hosts.iter().find(|host| host.mac == mac).unwrap()
    }

    fn counts(&mut self) -> Vec<PlainMember> {
        self.state.stripe.take_plain_report(Time::from_nanos(self.now)).members
    }
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A frame with this number comes to the host's port of the switch.
    AtPort(u32),
    /// To the host.
    AtHost(u32),
    /// Its acknowledgement of all before this number comes back.
    Acknowledged(u32),
}

/// A connection through members of these rates to a host behind a port; nothing is lost.
struct Path {
    sender: Sender,
    rates_mbps: Vec<u32>,
    port_mbps: u64,
    delay: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    scheduled: u64,
    /// When the wires of members, and of the port, are free.
    free: Vec<u64>,
    port_free: u64,
    /// Numbers that were sent, and acknowledged; and that arrived before those between.
    sent: u32,
    acked: u32,
    early: BTreeMap<u32, ()>,
    arrived: u32,
    /// Bytes under way, at most, now and ever.
    window: u32,
    most: u32,
    /// How long the width was so much.
    widths: BTreeMap<u8, u64>,
}

impl Path {
    fn new(rates_mbps: &[u32], port_mbps: u32, delay: Duration) -> Path {
        // The stack sends on as long as some milliseconds of all members wait, and what is under way.
        let sum: u64 = rates_mbps.iter().map(|&rate| u64::from(rate)).sum();
        let most = (sum * (delay.as_nanos() as u64 + 10 * MS) / 8000) as u32;
        Path {
            sender: Sender::new(rates_mbps, |_| ()),
            rates_mbps: rates_mbps.to_vec(),
            port_mbps: port_mbps.into(),
            delay: delay.as_nanos() as u64,
            events: BinaryHeap::new(),
            scheduled: 0,
            free: vec![0; rates_mbps.len()],
            port_free: 0,
            sent: 0,
            acked: 0,
            early: BTreeMap::new(),
            arrived: 0,
            window: 10 * PAYLOAD,
            most,
            widths: BTreeMap::new(),
        }
    }

    /// For so long; what was delivered, Mbit/s on the wire.
    fn run(&mut self, time: u64) -> u64 {
        let (end, before) = (self.sender.now + time, self.acked);
        self.widths.clear();
        self.fill_window();
        while let Some(&Reverse((at, _, event))) = self.events.peek()
            && at <= end
        {
            self.events.pop();
            let width = self.sender.report(HOST).width;
            *self.widths.entry(width).or_default() += at - self.sender.now;
            self.sender.now = at;
            self.handle(event);
        }
        let frames = u64::from(self.acked.wrapping_sub(before) / PAYLOAD);
        frames * WIRE_BYTES * 8000 / time
    }

    fn handle(&mut self, event: Event) {
        let now = self.sender.now;
        match event {
            Event::AtPort(number) => {
                self.port_free = self.port_free.max(now) + WIRE_BYTES * 8000 / self.port_mbps;
                self.schedule(self.port_free + self.delay / 2, Event::AtHost(number));
            }
            Event::AtHost(number) => {
                self.early.insert(number, ());
                while self.early.remove(&self.arrived).is_some() {
                    self.arrived = self.arrived.wrapping_add(PAYLOAD);
                }
                self.schedule(now + self.delay / 2, Event::Acknowledged(self.arrived));
            }
            Event::Acknowledged(ack) => {
                self.sender.acknowledge(HOST, PORT, ack, &[]);
                let news = ack.wrapping_sub(self.acked);
                if news > 0 && news < u32::MAX / 2 {
                    self.acked = ack;
                    self.window = (self.window + news).min(self.most);
                    self.fill_window();
                }
            }
        }
    }

    fn fill_window(&mut self) {
        while self.sent.wrapping_sub(self.acked) + PAYLOAD <= self.window {
            let member = self.sender.data(HOST, PORT, self.sent).index();
            let wire_ns = WIRE_BYTES * 8000 / u64::from(self.rates_mbps[member]);
            self.free[member] = self.free[member].max(self.sender.now) + wire_ns;
            self.schedule(self.free[member], Event::AtPort(self.sent));
            self.sent = self.sent.wrapping_add(PAYLOAD);
        }
    }

    fn schedule(&mut self, at: u64, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at, self.scheduled, event)));
    }

    fn width(&mut self) -> u8 {
        self.sender.report(HOST).width
    }

    /// The part of the last run in which more than so many members were used, of 100.
    fn wider_than(&self, width: u8) -> u64 {
        let all: u64 = self.widths.values().sum();
        let wider: u64 = self.widths.range(width + 1..).map(|(_, time)| time).sum();
        wider * 100 / all.max(1)
    }
}

const QUICK: Duration = Duration::from_millis(1);

#[test]
fn a_host_with_a_port_of_all_members_gets_all() {
    for delay_ms in [1, 5, 50] {
        let mut path = Path::new(&[50; 4], 200, Duration::from_millis(delay_ms));
        path.run(SECOND + 20 * delay_ms * MS);
        assert_eq!(path.width(), 4, "{delay_ms} ms: {:?}", path.widths);
        let delivered = path.run(SECOND);
        assert!(delivered >= 194, "{delivered} of 200 Mbit/s, {delay_ms} ms, {:?}", path.widths);
    }
}

#[test]
fn a_host_with_a_port_of_one_member_is_back_on_one_within_a_second() {
    for delay_ms in [1, 5] {
        let mut path = Path::new(&[50; 4], 50, Duration::from_millis(delay_ms));
        path.run(SECOND);
        assert_eq!(path.width(), 1, "{delay_ms} ms: {:?}", path.widths);
        let delivered = path.run(8 * SECOND);
        assert!(path.wider_than(1) <= 10, "{delay_ms} ms: {:?}", path.widths);
        assert!(delivered >= 48, "{delivered} of 50 Mbit/s, {delay_ms} ms");
        let is_held = path.sender.report(HOST).held_ms > 0;
        assert!(is_held || path.width() > 1, "more is not tried for a while");
    }
}

#[test]
fn a_host_with_a_port_of_two_and_a_half_members_gets_three() {
    let mut path = Path::new(&[50; 4], 125, QUICK);
    path.run(SECOND);
    let delivered = path.run(2 * SECOND);
    assert_eq!(path.width(), 3, "{:?}", path.widths);
    assert!(path.wider_than(3) <= 10 && delivered >= 121, "{delivered} of 125 Mbit/s, {:?}", path.widths);
}

#[test]
fn a_host_whose_port_becomes_slower_is_back_on_one_within_a_second() {
    let mut path = Path::new(&[50; 4], 200, QUICK);
    path.run(SECOND);
    assert_eq!(path.width(), 4, "{:?}", path.widths);
    // A round trip takes less than a window, also with the whole window in the port's queue.
    (path.port_mbps, path.most) = (50, 90_000);
    path.window = path.most;
    path.run(SECOND);
    assert_eq!(path.width(), 1, "{:?}", path.widths);
}

#[test]
fn whoever_sends_little_stays_on_one_member() {
    let mut sender = Sender::new(&[100; 4], |_| ());
    let first = sender.data(HOST, PORT, 0);
    for number in 1..2000 {
        // Half of a member.
        sender.now += WIRE_BYTES * 8000 / 50;
        assert_eq!(sender.data(HOST, PORT, number * PAYLOAD), first);
        sender.acknowledge(HOST, PORT, number * PAYLOAD, &[]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if nicteam_testnet::is_soak() { 200 } else { 8 }, ..ProptestConfig::default() })]

    /// Whatever the rates: what the port and the members carry is delivered, but for what makes too little of a difference.
    #[test]
    fn a_connection_gets_what_the_port_carries(
        rates in prop::collection::vec(20..100_u32, 2..5),
        port_mbps in 20..300_u32,
        delay_us in 200..5_000_u64,
    ) {
        let mut path = Path::new(&rates, port_mbps, Duration::from_micros(delay_us));
        path.run(2 * SECOND);
        let delivered = path.run(2 * SECOND);
        let (sum, most) = (rates.iter().sum::<u32>(), *rates.iter().max().unwrap());
        let possible = u64::from(port_mbps.min(sum));
        let gains_nothing = u64::from(most / 4);
        prop_assert!(
            delivered + gains_nothing + possible * 6 / 100 >= possible,
            "{} of {} Mbit/s, members {:?}, port {}, widths {:?}", delivered, possible, rates, port_mbps, path.widths,
        );
        let slowest = *rates.iter().min().unwrap();
        if port_mbps <= slowest {
            prop_assert!(path.wider_than(1) <= 15, "members {:?}, port {}, widths {:?}", rates, port_mbps, path.widths);
        }
    }
}

#[test]
fn what_is_sent_again_counts_for_the_member_that_carried_it() {
    let mut sender = Sender::new(&[10; 4], |_| ());
    let (mut carried, mut resent) = (BTreeMap::new(), [0; 4]);
    let first = 0_u32.wrapping_sub(50 * PAYLOAD);
    for number in 0..200_u32 {
        sender.now += 5 * MS;
        let sequence = first.wrapping_add(number * PAYLOAD);
        carried.insert(number, sender.data(HOST, PORT, sequence));
        if number % 4 == 3 {
            let again = number - number % 50;
            let by = sender.data(HOST, PORT, first.wrapping_add(again * PAYLOAD + 100));
            assert_ne!(by, carried[&again], "frame {again} goes by another one");
            resent[carried[&again].index()] += 1;
        }
    }
    let by_member: BTreeMap<MemberId, usize> = carried.values().fold(BTreeMap::new(), |mut sums, member| {
        *sums.entry(*member).or_default() += 1;
        sums
    });
    assert_eq!(by_member.len(), 4, "{by_member:?}");
    for PlainMember { id, sent, resent: again } in sender.counts() {
        assert_eq!((sent, again), (by_member[&id] as u64, resent[id.index()]));
    }
}

/// Says that something behind a gap was received.
fn sack(ack: u32) -> Vec<u8> {
    let mut options = vec![1, 1, 5, 10];
    options.extend((ack + 1000).to_be_bytes());
    options.extend((ack + 2000).to_be_bytes());
    options
}

#[test]
fn a_young_gap_that_a_striped_host_reports_is_kept_back() {
    const DELAY: u64 = 4 * MS;
    let mut sender = Sender::new(&[10; 4], |stripe| stripe.sack_delay = Duration::from_nanos(DELAY));
    let other = Mac([2, 7, 0, 0, 0, 2]);
    (0..10).for_each(|number| _ = sender.data(HOST, PORT, number * PAYLOAD));
    let (team, ack) = (sender.own, 2 * PAYLOAD);
    let reports = |sender: &mut Sender, host| sender.acknowledge(host, PORT, ack, &sack(ack));
    // Who was not sent to reports what is lost; who was, also of a connection that nobody remembers.
    let unknown = |sender: &mut Sender, host| sender.acknowledge(host, PORT + 1, ack, &sack(ack));
    assert_eq!(unknown(&mut sender, other), Verdict::ToTeam);
    assert!(matches!(unknown(&mut sender, HOST), Verdict::WithoutGap { .. }));
    let verdict = reports(&mut sender, HOST);
    assert!(
        matches!(verdict, Verdict::WithoutGap { src: HOST, dst, gap } if dst == team && gap.ack == ack),
        "{verdict:?}"
    );
    assert_eq!(reports(&mut sender, HOST), Verdict::Withhold);
    sender.now += MS;
    assert_eq!(reports(&mut sender, HOST), Verdict::Withhold);
    sender.now += DELAY;
    assert_eq!(reports(&mut sender, HOST), Verdict::ToTeam, "it is old");
    // A tenth of a second after the last frame that had several members to choose from.
    let next = 6 * PAYLOAD;
    sender.now += 100 * MS;
    assert_eq!(sender.acknowledge(HOST, PORT, next, &sack(next)), Verdict::ToTeam);
}

#[test]
fn what_goes_by_one_member_is_said_by_the_plan() {
    let used = |change: fn(&mut Stripe), bytes: &dyn Fn(&Sender, u8) -> Vec<u8>| {
        let mut sender = Sender::new(&[100; 4], change);
        for number in 0..250_u8 {
            sender.now += MS;
            sender.send(&bytes(&sender, number));
        }
        let hosts = sender.state.stripe.take_plain_report(Time::from_nanos(sender.now)).hosts;
        (!hosts.is_empty(), hosts.iter().any(|host| host.striped))
    };
    let tcp = |sender: &Sender, number: u8| {
        segment((HOST, sender.own), (PORT, 5001), u32::from(number) * PAYLOAD, 1, &[], PAYLOAD)
    };
    let udp = |sender: &Sender, number: u8| {
        let mut frame = tcp(sender, number);
        frame[14 + 9] = 17;
        frame
    };
    let nothing = (false, false);
    assert_eq!(used(|_| (), &tcp), (true, true));
    assert_eq!(used(|_| (), &udp), (true, false), "it is in use");
    assert_eq!(used(|stripe| stripe.plain.kind = "all".parse().unwrap(), &udp), (true, true));
    assert_eq!(used(|stripe| stripe.plain.kind = "off".parse().unwrap(), &tcp), nothing);
    assert_eq!(used(|stripe| stripe.plain.members = [id(2)].into_iter().collect(), &tcp), nothing, "one alone");
}
