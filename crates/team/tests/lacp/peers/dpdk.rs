//! DPDK app/test/test_link_bonding_mode4.c (04d43857ea3a): four ports and a
//! partner that only mirrors: it answers each LACPDU with the sender's own
//! values under another system, in sync and open, and never speaks first.

use std::collections::VecDeque;

use nicteam_team::lacp::{AdSelect, LacpConfig, LacpEffect, PortParams, ReceiveState};
use nicteam_team::{MemberId, Time};
use nicteam_wire::{LacpState, Lacpdu, Mac, Marker, MarkerKind, PortInfo, SlowPdu};

use crate::lacp::net::{id, link, ms, system_mac};
use crate::lacp::twin::Twin;

const PORTS: usize = 4;
const PARTNER: Mac = Mac([0x33, 0xff, 0xbb, 0xff, 0, 0]);
/// What a port says once the handshake is done, and what the mirror says always.
const DONE: LacpState = LacpState(0x3d);
/// Their bound: 30 rounds of 100 ms.
const HANDSHAKE_MS: u64 = 3000;

/// The slow rate: a mirror is not asked to speak.
fn slow() -> LacpConfig {
    LacpConfig { aggregate_wait_ms: 0, ..LacpConfig::new(system_mac(0)) }
}

/// Four ports at the mirror.
struct Bench {
    lacp: Twin,
    now: Time,
    /// Ports whose LACPDUs are not answered.
    deaf: Vec<MemberId>,
    /// The state that each port said last.
    said: [LacpState; PORTS],
    /// Every frame that was sent and is no LACPDU.
    others: Vec<(MemberId, SlowPdu)>,
    lacpdus: usize,
}

impl Bench {
    fn new(config: LacpConfig) -> Bench {
        let mut bench = Bench {
            lacp: Twin::new(config, Time::ZERO, true),
            now: Time::ZERO,
            deaf: Vec::new(),
            said: [LacpState::default(); PORTS],
            others: Vec::new(),
            lacpdus: 0,
        };
        for port in 0..PORTS {
            let mac = Mac([0, 0xff, 0, 0xff, 0, port as u8]);
            let params = PortParams { mac, port_number: port as u16 + 1, priority: 255, link: link(true, 10_000) };
            bench.lacp.add_port(id(port), params, bench.now);
            bench.mirror();
        }
        bench
    }

    /// Lets frames and their mirror images pass until nobody speaks.
    fn mirror(&mut self) {
        let mut sent = VecDeque::new();
        loop {
            while let Some(effect) = self.lacp.poll_effect() {
                if let LacpEffect::Transmit { member, frame } = effect {
                    sent.push_back((member, frame));
                }
            }
            let Some((member, frame)) = sent.pop_front() else { return };
            match SlowPdu::parse(&frame) {
                Ok(SlowPdu::Lacp(pdu)) => self.answer(member, &pdu),
                Ok(other) => self.others.push((member, other)),
                Err(error) => panic!("{error:?}"),
            }
        }
    }

    fn answer(&mut self, member: MemberId, pdu: &Lacpdu) {
        self.lacpdus += 1;
        self.said[member.index()] = pdu.actor.state;
        if !self.deaf.contains(&member) {
            let mirrored = PortInfo { system: PARTNER, state: DONE, ..pdu.actor };
            let from = Mac([0x22, 0xbb, 0xff, 0xbb, 0, member.index() as u8]);
            self.lacp.handle_frame(member, &Lacpdu::new(mirrored, pdu.actor).frame(from), self.now);
        }
    }

    fn run(&mut self, for_ms: u64) {
        let end = self.now + ms(for_ms);
        while let Some((at, _)) = self.lacp.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.lacp.handle_timeout(self.now);
            self.mirror();
        }
        self.now = end;
    }

    fn done(&self) -> [bool; PORTS] {
        self.said.map(|state| state == DONE)
    }

    fn carrier(&mut self, port: usize, carrier: bool) {
        self.lacp.handle_link(id(port), link(carrier, 10_000), self.now);
        self.mirror();
    }
}

#[test]
fn test_mode4_lacp() {
    let mut bench = Bench::new(slow());
    bench.run(HANDSHAKE_MS);
    assert_eq!(bench.done(), [true; PORTS], "{:?}", bench.said);
    assert_eq!(bench.lacp.distributing().bits(), 0b1111);
}

#[test]
fn test_mode4_agg_mode_selection() {
    for ad_select in [AdSelect::Stable, AdSelect::Bandwidth, AdSelect::Count] {
        let mut bench = Bench::new(LacpConfig { ad_select, ..slow() });
        bench.run(HANDSHAKE_MS);
        assert_eq!((bench.done(), bench.lacp.config().ad_select), ([true; PORTS], ad_select));
    }
}

/// Of rx and tx_burst what LACP decides: who collects and distributes while the
/// first link is down, and that its return needs five answers at most. Which
/// frames pass then, `team/tests/control/aggregate.rs` asks of the plan.
#[test]
fn test_mode4_rx_and_tx_burst() {
    let mut bench = Bench::new(slow());
    bench.run(HANDSHAKE_MS);
    let quiet = bench.lacpdus;
    bench.run(0);
    assert_eq!((bench.lacpdus, bench.others.len()), (quiet, 0), "no slow frames among the others");
    bench.carrier(0, false);
    bench.run(300);
    assert_eq!((bench.lacp.collecting().bits(), bench.lacp.distributing().bits()), (0b1110, 0b1110));
    let before = bench.lacpdus;
    bench.carrier(0, true);
    while !bench.done()[0] && bench.lacpdus - before < 5 {
        bench.run(10);
    }
    assert!(bench.done()[0] && bench.lacp.distributing().bits() == 0b1111, "{:?}", bench.said);
}

#[test]
fn test_mode4_marker() {
    let mut bench = Bench::new(slow());
    bench.run(HANDSHAKE_MS);
    for port in 0..PORTS {
        let quiet = bench.lacpdus;
        // Requester system and transaction are zero there, too.
        let marker =
            Marker { kind: MarkerKind::Information, port: port as u16 + 1, system: Mac::default(), transaction: 0 };
        bench.lacp.handle_frame(id(port), &marker.frame(PARTNER), bench.now);
        bench.mirror();
        assert_eq!(bench.others, [(id(port), SlowPdu::Marker(marker.response()))], "one answer, by the same port");
        assert_eq!(bench.lacpdus, quiet, "and nothing else");
        bench.others.clear();
    }
}

#[test]
fn test_mode4_expired() {
    let mut bench = Bench::new(slow());
    bench.run(HANDSHAKE_MS);
    bench.deaf.push(id(0));
    let mut waited_ms = 0;
    while bench.lacp.ports()[0].receive != ReceiveState::Expired {
        assert!(waited_ms <= 90_000, "the long timeout");
        bench.run(100);
        waited_ms += 100;
    }
    bench.run(1100);
    let ports = bench.lacp.ports();
    assert!(bench.said[0].has(LacpState::EXPIRED), "{:?}", bench.said);
    assert_eq!(ports[0].receive, ReceiveState::Expired);
    assert_eq!(bench.done(), [false, true, true, true], "{:?}", bench.said);
    assert_eq!(bench.lacp.distributing().bits(), 0b1110);
    // Back once it is answered again.
    bench.deaf.clear();
    bench.run(1100);
    assert_eq!(bench.done(), [true; PORTS]);
}

/// Setup and teardown of every case there: ports come and go while it runs.
#[test]
fn ports_added_and_removed_while_it_runs() {
    let mut bench = Bench::new(slow());
    bench.run(HANDSHAKE_MS);
    for port in [3, 0] {
        bench.lacp.remove_port(id(port), bench.now);
        bench.mirror();
    }
    bench.run(7000);
    assert_eq!(bench.lacp.distributing().bits(), 0b0110);
    for port in [3, 0] {
        let params = PortParams { mac: PARTNER, port_number: port as u16 + 1, priority: 255, link: link(true, 10_000) };
        bench.lacp.add_port(id(port), params, bench.now);
        bench.mirror();
    }
    bench.run(HANDSHAKE_MS);
    assert_eq!(bench.lacp.distributing().bits(), 0b1111);
}
