//! Two minutes of random faults under virtual time: two hosts with a team each, and a switch between them.
//!
//! The team in every mode has to agree with the plan that it made: when the faults are over, all members carry again.

use std::time::Duration;

use nicteam_chaos::{Cable, Chance, Fault, Field, Plan, draw, promised_ms};
use nicteam_record as record;
use nicteam_simnet::{Host, Node, OneOf, Switch, Way, World};
use nicteam_team::{Action, Config, Duplex, MemberLink, Mode, Team, Time};
use nicteam_wire::Mac;

/// Members of each team.
const MEMBERS: usize = 2;
const MINUTES: Duration = Duration::from_secs(120);
/// Without faults, at the end.
const QUIET: Duration = Duration::from_secs(20);
const KINDS: [(&str, Chance); 5] = [
    ("cable", Chance::Cable),
    ("silence", Chance::Direction),
    ("stop", Chance::Host),
    ("kill", Chance::Host),
    ("restart", Chance::Switch),
];

#[derive(Clone)]
enum Station {
    Host(Box<Host>),
    Switch(Switch),
}

impl OneOf for Station {
    fn one(&self) -> &dyn Node {
        match self {
            Station::Host(host) => &**host,
            Station::Switch(switch) => switch,
        }
    }

    fn one_mut(&mut self) -> &mut dyn Node {
        match self {
            Station::Host(host) => &mut **host,
            Station::Switch(switch) => switch,
        }
    }
}

impl Station {
    fn host(&mut self) -> &mut Host {
        let Station::Host(host) = self else { panic!("no host") };
        host
    }
}

const MACS: [Mac; 2] = [Mac([2, 0, 0, 0, 0, 0xa0]), Mac([2, 0, 0, 0, 0, 0xb0])];
/// Nodes 0 and 1 are hosts.
const SWITCH: usize = 2;

/// Both hosts by a switch, or, if teams are to agree, back to back.
struct Lab {
    world: World<Station>,
    config: Config,
    by_switch: bool,
    /// Frames that were sent as probes: when, from which host, of which flow; and whether they arrived.
    probes: Vec<(Time, usize, u8, bool)>,
}

/// Flows that are probed in each direction, and how often.
const FLOWS: u8 = 2;
const PROBED_EACH: Duration = Duration::from_millis(200);

impl Lab {
    fn new(config: Config, by_switch: bool, seed: u64) -> Lab {
        let mut world = World::new(seed);
        for mac in MACS {
            let team = Team::new(config.clone(), mac, Time::ZERO).unwrap();
            world.add(Station::Host(Box::new(Host::new(team, mac))));
        }
        world.add(Station::Switch(Switch::new(2 * MEMBERS)));
        let way = Way { delay: Duration::from_micros(50), ..Way::default() };
        for number in 0..MEMBERS {
            match by_switch {
                true => {
                    world.connect((0, number), (SWITCH, number), way);
                    world.connect((1, number), (SWITCH, MEMBERS + number), way);
                }
                false => world.connect((0, number), (1, number), way),
            }
        }
        let link = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
        for (node, mac) in MACS.into_iter().enumerate() {
            for number in 0..MEMBERS {
                let own = Mac([mac.0[0], 0, 0, 0, 1, mac.0[5] + number as u8]);
                // Of a member that has the team's address every frame is taken, as the switch sends it none but those.
                let own = config.mode.stripes().then_some(own);
                let join = |it: &mut Station, now| it.host().join(&format!("eth{number}"), link, own, now);
                world.change(node, join).unwrap();
            }
        }
        Lab { world, config, by_switch, probes: Vec::new() }
    }

    /// What faults can happen to.
    fn field(&self) -> Field {
        let cable = |host: &str, number| Cable {
            ends: [host.to_owned(), if self.by_switch { "sw" } else { "b" }.to_owned()],
            number,
            rate_bps: 1_000_000_000,
            member_at: Some(host.to_owned()),
        };
        let hosts = if self.by_switch { &["a", "b"][..] } else { &["a"] };
        Field {
            cables: hosts.iter().flat_map(|host| (0..MEMBERS).map(|number| cable(host, number))).collect(),
            hosts: vec!["a".to_owned(), "b".to_owned()],
            switches: match self.by_switch {
                true => vec![nicteam_chaos::Switch { name: "sw".to_owned(), speaks_lacp: false }],
                false => Vec::new(),
            },
            ..Field::default()
        }
    }

    /// Begins a fault, or ends it.
    fn carry_out(&mut self, fault: &Fault, over: bool) {
        let names = |key: &str| fault.keys.contains(key);
        let host = usize::from(!names("\"a\""));
        let number = usize::from(names("number = 1"));
        let now = self.world.now();
        match fault.kind {
            "cable" => self.world.set_carrier((host, number), over),
            "silence" => {
                let from_host = !names("from = ") || names(&format!("from = \"{}\"", ["a", "b"][host]));
                let from_far = !names("from = ") || !from_host;
                let far = self.world.far((host, number)).unwrap();
                let link = self.world.link_mut((host, number)).unwrap();
                link.way_mut((host, number)).blocked = from_host && !over;
                link.way_mut(far).blocked = from_far && !over;
            }
            "restart" => {
                (0..2 * MEMBERS).for_each(|port| self.world.set_carrier((SWITCH, port), over));
            }
            "stop" if over => self.world.node_mut(host).host().resume(now),
            "stop" | "kill" if !over => self.world.node_mut(host).host().stall(),
            "kill" => {
                let team = Team::new(self.config.clone(), MACS[host], now).unwrap();
                self.world.change(host, |it, now| {
                    it.host().restart(team, now).unwrap();
                    it.host().resume(now);
                });
            }
            other => panic!("no fault `{other}`"),
        }
    }

    /// A frame from one host's stack to the other, of this flow; true if it arrives.
    fn carries(&mut self, from: usize, flow: u8) -> bool {
        let to = 1 - from;
        let before = self.received(to);
        let mut frame: Vec<u8> = [&MACS[to].0[..], &MACS[from].0, &[0x08, 0x00]].concat();
        // IPv4, UDP: addresses and ports of the flow.
        frame.extend([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1 + from as u8, 10, 0, 0, 1 + to as u8]);
        frame.extend([0x9c, flow, 0x9c, 0x40, 0, 26, 0, 0]);
        frame.resize(60, 0);
        let action = self.world.change(from, |it, now| it.host().transmit(&frame, now));
        let Action::Stripe { member, src, dst, .. } = action else {
            self.world.run(Duration::from_millis(1));
            return self.received(to) > before;
        };
        // The dataplane notes that the peer has traffic, so that its paths are probed often.
        self.world.node_mut(from).host().notes.sent(dst);
        self.world.run(Duration::from_millis(1));
        let arrived = self.received(to) > before;
        if arrived {
            self.world.node_mut(to).host().notes.heard(member, src);
        }
        arrived
    }

    /// Lets time pass, if wanted with a probe of every flow now and then.
    fn pass(&mut self, until: Time, is_probed: bool) {
        if !is_probed {
            return self.world.run(until.since(self.world.now()));
        }
        while self.world.now() < until {
            let now = self.world.now();
            for (from, flow) in (0..2).flat_map(|from| (0..FLOWS).map(move |flow| (from, flow))) {
                let arrived = self.carries(from, flow);
                self.probes.push((now, from, flow, arrived));
            }
            let left = until.since(self.world.now());
            self.world.run(PROBED_EACH.saturating_sub(self.world.now().since(now)).min(left));
        }
    }

    /// The longest time in which no probe of one flow arrived, of those sent in this time, milliseconds.
    fn silence_ms(&self, from: Time, until: Time) -> f64 {
        let mut longest = Duration::ZERO;
        for (host, flow) in (0..2).flat_map(|from| (0..FLOWS).map(move |flow| (from, flow))) {
            let own = self
                .probes
                .iter()
                .filter(|(at, of, number, _)| *at >= from && *at < until && (*of, *number) == (host, flow));
            let mut silent_from = None;
            for (at, _, _, arrived) in own {
                match (arrived, silent_from) {
                    (true, _) => silent_from = None,
                    (false, None) => silent_from = Some(*at),
                    (false, Some(begin)) => longest = longest.max(at.since(begin)),
                }
            }
        }
        longest.as_secs_f64() * 1e3
    }

    /// Frames that members of a host received.
    fn received(&self, node: usize) -> u64 {
        let Station::Host(host) = self.world.node(node) else { panic!("no host") };
        host.members.values().map(|member| member.traffic.rx_frames).sum()
    }
}

/// Carries two minutes of faults out, so many at a time; what each team is like then.
fn two_minutes(config: &Config, by_switch: bool, seed: u64, at_once: usize) -> (Lab, Vec<Fault>) {
    let mut lab = Lab::new(config.clone(), by_switch, seed);
    let plan = Plan {
        seed,
        begins: Duration::from_secs(10),
        ends: MINUTES - QUIET,
        every: Duration::from_millis(if at_once == 1 { 9000 } else { 900 }),
        lasts: Duration::from_millis(50)..=Duration::from_secs(4),
        at_once,
        kinds: KINDS.to_vec(),
    };
    let faults = draw(&plan, &lab.field());
    let over = |fault: &Fault| fault.at + fault.lasts.unwrap_or_default();
    let begins = faults.iter().map(|fault| (fault.at, false, fault));
    let mut times: Vec<_> = begins.chain(faults.iter().map(|fault| (over(fault), true, fault))).collect();
    times.sort_by_key(|(at, ends, _)| (*at, !*ends));
    for (at, ends, fault) in times {
        lab.pass(Time::ZERO + at, at_once == 1);
        lab.carry_out(fault, ends);
    }
    lab.pass(Time::ZERO + MINUTES, at_once == 1);
    (lab, faults)
}

fn config(mode: Mode) -> Config {
    let mut config = Config { mode, ..Config::default() };
    config.set("miimon", "100").unwrap();
    config
}

#[test]
fn every_mode_carries_again_after_two_minutes_of_faults() {
    for mode in [Mode::ActiveBackup, Mode::BalanceTlb, Mode::BalanceAlb, Mode::Stripe, Mode::Ad, Mode::BalanceXor] {
        let by_switch = !matches!(mode, Mode::Ad | Mode::BalanceXor);
        for seed in 0..4 {
            let (mut lab, faults) = two_minutes(&config(mode), by_switch, seed, 3);
            assert!(faults.len() > 30, "{} faults", faults.len());
            for node in 0..2 {
                let Station::Host(host) = lab.world.node(node) else { unreachable!() };
                let name = format!("{mode}, seed {seed}, host {node}");
                assert!(host.carrier, "{name}: the team has no carrier");
                let up = host.team.members().iter().filter(|member| member.link.carrier).count();
                assert_eq!(up, MEMBERS, "{name}: {:?}", host.team.members());
                let carried = (0..32).filter(|flow| lab.carries(node, *flow)).count();
                assert_eq!(carried, 32, "{name}: flows that arrive");
            }
        }
    }
}

/// What a record says of a network with this team at both ends.
fn topology(config: &Config) -> record::Topology {
    let options = config.options().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let team = |node: &str| record::Team {
        node: node.to_owned(),
        device: "team0".to_owned(),
        peer: String::new(),
        mode: config.mode.to_string(),
        xmit_hash_policy: String::new(),
        options,
        members: Vec::new(),
        engine: "nicteam".to_owned(),
        dataplane: "bpf".to_owned(),
        engine_version: String::new(),
        offloads: std::collections::BTreeMap::new(),
    };
    let host = record::Host { name: "a".to_owned(), ..record::Host::default() };
    record::Topology { hosts: vec![host], switches: Vec::new(), links: Vec::new(), teams: vec![team("a")] }
}

#[test]
fn no_fault_takes_longer_than_its_mode_promises() {
    for mode in [Mode::ActiveBackup, Mode::BalanceTlb, Mode::BalanceAlb, Mode::Stripe, Mode::Ad, Mode::BalanceXor] {
        let mut config = config(mode);
        if mode == Mode::Ad {
            config.set("lacp_rate", "fast").unwrap();
        }
        let (by_switch, topology) = (!matches!(mode, Mode::Ad | Mode::BalanceXor), topology(&config));
        for seed in 0..2 {
            let (lab, faults) = two_minutes(&config, by_switch, seed, 1);
            assert!(faults.len() >= 6, "{} faults", faults.len());
            for (place, fault) in faults.iter().enumerate() {
                let over = fault.at + fault.lasts.unwrap_or_default();
                let until = faults.get(place + 1).map_or(MINUTES, |next| next.at);
                let ms = |time: Duration| time.as_secs_f64() * 1e3;
                let seen = record::Fault {
                    t_ms: ms(fault.at),
                    over_ms: Some(ms(over)),
                    until_ms: ms(until),
                    kind: fault.kind.to_owned(),
                    team: Some("team0".to_owned()),
                    ..record::Fault::default()
                };
                let promised_ms = promised_ms(&seen, &topology).unwrap();
                let silence_ms = lab.silence_ms(Time::ZERO + fault.at, Time::ZERO + until);
                assert!(silence_ms <= promised_ms, "{mode}, seed {seed}, {fault}: {silence_ms} of {promised_ms} ms");
            }
        }
    }
}

#[test]
fn a_seed_is_the_same_two_minutes_each_time() {
    let log = |seed| {
        let (lab, _) = two_minutes(&config(Mode::Ad), false, seed, 3);
        (lab.world.flown(), format!("{:?}", (lab.received(0), lab.received(1))))
    };
    assert_eq!(log(3), log(3));
    assert_ne!(log(3).0, log(4).0);
}

#[test]
fn a_fault_that_does_not_end_is_seen() {
    // What the checks above are worth: they fail if a cable stays pulled.
    let mut lab = Lab::new(config(Mode::ActiveBackup), true, 1);
    lab.world.run(Duration::from_secs(1));
    assert!(lab.carries(0, 1) && lab.carries(1, 1));
    for number in 0..MEMBERS {
        lab.world.set_carrier((0, number), false);
    }
    lab.world.run(Duration::from_secs(1));
    assert!(!lab.carries(0, 1));
    let Station::Host(host) = lab.world.node(0) else { unreachable!() };
    assert!(!host.carrier);
}
