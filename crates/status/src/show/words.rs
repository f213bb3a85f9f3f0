//! Why a member does not aggregate, as `show` says it: a test for each of the
//! words, from the PDUs that bring it about.

use nicteam_team::lacp::{Lacp, LacpConfig, LacpEffect, LacpRate, PortParams};
use nicteam_team::{Config, Duplex, LinkState, MemberId, MemberLink, MemberStatus, Mode, Time};
use nicteam_wire::{LacpState, Lacpdu, Mac, PortInfo};

use super::text;
use crate::{Aggregation, DeviceFacts, MemberState, STATUS_SCHEMA, TeamStatus, problems};

const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
const PARTNER: Mac = Mac([2, 0, 0, 0, 0, 2]);
const OTHER: Mac = Mac([2, 0, 0, 0, 0, 3]);
/// Active, fast, aggregatable; and in sync, collecting, distributing.
const OUT_OF_SYNC: LacpState = LacpState(0x07);
const HEALTHY: LacpState = LacpState(0x3f);

/// `eth0` and `eth1`, and what their partner says.
struct Bench {
    lacp: Lacp,
    now: Time,
    /// What was sent last by each.
    sent: [Vec<u8>; 2],
}

impl Bench {
    /// Ports of these speeds.
    fn new(speeds_mbps: [u32; 2]) -> Bench {
        let config = LacpConfig { lacp_rate: LacpRate::Fast, aggregate_wait_ms: 0, ..LacpConfig::new(OWN) };
        let mut bench = Bench { lacp: Lacp::new(config, Time::ZERO), now: Time::ZERO, sent: [Vec::new(), Vec::new()] };
        for (port, speed_mbps) in speeds_mbps.into_iter().enumerate() {
            let link = MemberLink { carrier: true, speed_mbps: Some(speed_mbps), duplex: Some(Duplex::Full) };
            let params = PortParams { mac: OWN, port_number: port as u16 + 1, priority: 255, link };
            bench.lacp.add_port(member(port), params, bench.now);
            bench.drain();
        }
        bench
    }

    fn gigabit() -> Bench {
        Bench::new([1000, 1000])
    }

    /// The partner of a port speaks each second, so many times.
    fn hears(&mut self, ports: &[(usize, Mac, u16, LacpState)], times: u64) {
        for _ in 0..times {
            for (port, system, key, state) in ports {
                let port = *port;
                let own = self.lacp.ports()[port].actor;
                let partner = PortInfo {
                    system_priority: 65535,
                    system: *system,
                    key: *key,
                    port_priority: 255,
                    port: port as u16 + 1,
                    state: *state,
                };
                let frame = Lacpdu::new(partner, own).frame(*system);
                self.lacp.handle_frame(member(port), &frame, self.now);
                self.drain();
            }
            self.pass(1000);
        }
    }

    fn pass(&mut self, ms: u64) {
        let end = self.now + std::time::Duration::from_millis(ms);
        while let Some((at, _)) = self.lacp.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.lacp.handle_timeout(self.now);
            self.drain();
        }
        self.now = end;
    }

    fn drain(&mut self) {
        while let Some(effect) = self.lacp.poll_effect() {
            if let LacpEffect::Transmit { member, frame } = effect {
                self.sent[member.index()] = frame;
            }
        }
    }

    /// What `nicteam team show` prints.
    fn shown(&self) -> String {
        let members = self.lacp.ports().into_iter().map(|port| {
            let link = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
            let status = MemberStatus {
                id: port.member,
                name: format!("eth{}", port.member),
                state: LinkState::Up,
                link,
                active: self.lacp.distributing().contains(port.member),
                link_failures: 0,
                lacp: Some(port),
            };
            let facts =
                DeviceFacts { index: 1, admin_up: true, permanent_mac: "02:00:00:00:00:01", mac: "02:00:00:00:00:01" };
            MemberState::of(&status, facts)
        });
        let config = Config { mode: Mode::Ad, ..Config::default() };
        let mut status = TeamStatus {
            schema: STATUS_SCHEMA,
            nicteam: String::new(),
            team: "team0".to_owned(),
            device: None,
            index: 1,
            mac: OWN.to_string(),
            mtu: 1500,
            admin_up: true,
            carrier: true,
            mode: "802.3ad".to_owned(),
            options: Default::default(),
            active: None,
            lacp: Some(Aggregation::of_lacp(&self.lacp, 0)),
            peers: Vec::new(),
            one_sided: None,
            segments: Vec::new(),
            openvswitch: None,
            hellos: None,
            control_frames: Vec::new(),
            pagp: Vec::new(),
            dataplane: "packet".to_owned(),
            generation: 1,
            last_event: Some(0),
            uptime_ms: 0,
            pid: 1,
            capabilities: Vec::new(),
            unsent_frames: 0,
            withheld_acks: None,
            failover_in_kernel: false,
            members: members.collect(),
            missing: Vec::new(),
            repairs: Vec::new(),
            problems: Vec::new(),
        };
        status.problems = problems(&status, &config);
        text(&status)
    }

    /// The problem, with its hint, is shown; and of `eth0` nothing is wrong.
    #[track_caller]
    fn says(&self, problem: &str, hint: &str) {
        let shown = self.shown();
        let lines = format!("  problem    {problem}\n             hint: {hint}\n");
        assert!(shown.contains(&lines), "{lines}{shown}");
        assert!(!shown.contains("member eth0"), "{shown}");
    }
}

fn member(port: usize) -> MemberId {
    MemberId::new(port).unwrap()
}

#[test]
fn two_members_that_aggregate_are_said_to() {
    let mut bench = Bench::gigabit();
    bench.hears(&[(0, PARTNER, 7, HEALTHY), (1, PARTNER, 7, HEALTHY)], 3);
    let shown = bench.shown();
    assert!(shown.starts_with("team0: 802.3ad, carrier, 2 of 2 members up, 2 aggregate with 02:00:00:00:00:02\n"));
    assert!(!shown.contains("problem"), "{shown}");
}

#[test]
fn partner_silent() {
    let mut bench = Bench::gigabit();
    bench.hears(&[(0, PARTNER, 7, HEALTHY)], 3);
    bench.says(
        "member eth1 does not aggregate: partner silent: no LACPDU comes",
        "switch LACP on at the other end (one end has to be active), and let nothing between drop its frames",
    );
    bench.pass(10_000);
    assert!(bench.shown().contains(", no partner\n"), "{}", bench.shown());
}

#[test]
fn keys_differ() {
    let mut bench = Bench::gigabit();
    bench.hears(&[(0, PARTNER, 7, HEALTHY), (1, PARTNER, 8, HEALTHY)], 3);
    bench.says(
        "member eth1 does not aggregate: keys differ: the partner's is 8 here, 7 in the active aggregator",
        "put the partner's ports into one group",
    );
}

#[test]
fn partner_in_another_system() {
    let mut bench = Bench::gigabit();
    bench.hears(&[(0, PARTNER, 7, HEALTHY), (1, OTHER, 7, HEALTHY)], 3);
    bench.says(
        "member eth1 does not aggregate: partner in another system: 02:00:00:00:00:03 here, 02:00:00:00:00:02 in the active aggregator",
        "cable all members to one system, or let the two be one (MLAG)",
    );
}

#[test]
fn suspended() {
    let mut bench = Bench::gigabit();
    bench.hears(&[(0, PARTNER, 7, HEALTHY), (1, PARTNER, 7, OUT_OF_SYNC)], 3);
    bench.says(
        "member eth1 does not aggregate: suspended: the partner receives our LACPDUs but does not attach its port",
        "ask the partner why: its group may be full, down, or of other ports",
    );
}

#[test]
fn churned() {
    let mut bench = Bench::gigabit();
    bench.hears(&[(0, PARTNER, 7, HEALTHY), (1, PARTNER, 7, OUT_OF_SYNC)], 62);
    bench.says(
        "member eth1 does not aggregate: churned: out of sync for more than 60 s",
        "ask the partner why: its group may be full, down, or of other ports",
    );
}

#[test]
fn speeds_differ() {
    let mut bench = Bench::new([1000, 100]);
    bench.hears(&[(0, PARTNER, 7, HEALTHY), (1, PARTNER, 7, HEALTHY)], 3);
    bench.says(
        "member eth1 does not aggregate: speeds differ: 100 Mbit/s here, 1000 Mbit/s in the active aggregator",
        "members of one aggregate have one speed; ad_select chooses among several",
    );
}

#[test]
fn marker_unanswered() {
    let mut bench = Bench::gigabit();
    let both = [(0, PARTNER, 7, HEALTHY), (1, PARTNER, 7, HEALTHY)];
    bench.hears(&both, 3);
    assert!(bench.lacp.flush(member(1), bench.now).is_some());
    bench.drain();
    bench.hears(&both, 2);
    bench.says(
        "member eth1 aggregates; its last marker was not answered",
        "the partner lacks the marker responder that the standard demands",
    );
}

#[test]
fn looped() {
    let mut bench = Bench::gigabit();
    bench.hears(&[(0, PARTNER, 7, HEALTHY)], 1);
    let own = bench.sent[1].clone();
    bench.lacp.handle_frame(member(1), &own, bench.now);
    bench.drain();
    bench.hears(&[(0, PARTNER, 7, HEALTHY)], 2);
    bench.says(
        "member eth1 does not aggregate: looped to ourselves: our own LACPDUs come back",
        "look where its cable ends; two systems must not share an ad_actor_system",
    );
}

#[test]
fn every_problem_is_of_the_member_that_has_it() {
    let mut bench = Bench::gigabit();
    bench.pass(1000);
    let shown = bench.shown();
    for name in ["eth0", "eth1"] {
        assert!(shown.contains(&format!("member {name} does not aggregate: partner silent")), "{shown}");
    }
}
