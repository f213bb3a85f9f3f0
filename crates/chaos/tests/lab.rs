//! The virtual lab: two hosts with a team each, and a switch between them, or cables alone if their teams have to agree.
//!
//! It carries faults out under virtual time, and yields a record, which is judged as that of a run on a machine.

use std::time::Duration;

use nicteam_chaos::{Cable, Chance, Fault, Field, Plan, draw, effects};
use nicteam_record::{self as record, ConnectionSample, Datagrams, Sample};
use nicteam_simnet::{Host, Switch, Way, World};
use nicteam_team::{Config, Duplex, MemberLink, Mode, Team, Time};
use nicteam_wire::Mac;

use crate::defects::Defect;
use crate::judge;
use crate::machine::{Heard, Machine, PROBE, Station, probe};

/// Members of each team.
pub(crate) const MEMBERS: usize = 2;
pub(crate) const MACS: [Mac; 2] = [Mac([2, 0, 0, 0, 0, 0xa0]), Mac([2, 0, 0, 0, 0, 0xb0])];
/// Nodes 0 and 1 are hosts.
const SWITCH: usize = 2;
/// Flows that are probed in each direction, and how often; with each probe follows another one.
const FLOWS: u8 = 4;
const EACH: Duration = Duration::from_millis(100);
/// From the beginning to the measured window.
const WARMUP: Duration = Duration::from_secs(10);
/// Without faults, at the end.
const QUIET: Duration = Duration::from_secs(15);
const KINDS: [(&str, Chance); 7] = [
    ("cable", Chance::Cable),
    ("silence", Chance::Direction),
    ("stop", Chance::Host),
    ("kill", Chance::Host),
    ("restart", Chance::Switch),
    ("hang", Chance::Switch),
    ("impair", Chance::Impairment),
];
/// Frames that an impaired link loses, of a hundred.
const LOST_PERCENT: u64 = 20;

/// The address that a member has of its own.
pub(crate) fn own_mac(team: Mac, number: usize) -> Mac {
    Mac([team.0[0], 0, 0, 0, 1, team.0[5] + number as u8])
}

/// True if all is tested, not a sample.
pub(crate) fn soaks() -> bool {
    std::env::var_os("NICTEAM_SOAK").is_some()
}

/// What is built, and which faults are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub config: Config,
    pub dataplane: &'static str,
    pub seed: u64,
    pub measured: Duration,
    pub every: Duration,
    pub longest: Duration,
    pub at_once: usize,
    pub defect: Option<Defect>,
}

/// A mode with options with which faults are seen soon.
pub(crate) fn setup(mode: &str, dataplane: &'static str, seed: u64) -> Setup {
    let mut config = Config { mode: mode.parse().unwrap(), ..Config::default() };
    let options: &[_] = match config.mode {
        Mode::Ad => &[("miimon", "100"), ("xmit_hash_policy", "layer3+4"), ("lacp_rate", "fast")],
        Mode::OvsBalanceTcp => &[("miimon", "100"), ("lacp", "active"), ("lacp_rate", "fast")],
        Mode::BalanceXor => &[("miimon", "100"), ("xmit_hash_policy", "layer3+4")],
        _ => &[("miimon", "100")],
    };
    options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
    // What has to be agreed by LACP takes longer to be missed.
    let [every, longest, measured] = if agrees(&config) { [12, 11, 240] } else { [5, 4, 120] }.map(Duration::from_secs);
    Setup { config, dataplane, seed, measured, every, longest, at_once: 1, defect: None }
}

fn agrees(config: &Config) -> bool {
    matches!(config.mode, Mode::Ad | Mode::OvsBalanceTcp)
}

impl Setup {
    /// The hosts are at a switch; teams that need a group there are back to back.
    pub(crate) fn by_switch(&self) -> bool {
        !agrees(&self.config) && !matches!(self.config.mode, Mode::BalanceRr | Mode::BalanceXor | Mode::Broadcast)
    }

    /// The faults that its seed draws.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let plan = Plan {
            seed: self.seed,
            begins: Duration::from_secs(3),
            ends: self.measured - QUIET,
            every: self.every,
            lasts: Duration::from_millis(50)..=self.longest,
            at_once: self.at_once,
            // What is impaired may overtake, so the order is judged only where nothing is.
            kinds: KINDS[..KINDS.len() - usize::from(self.at_once == 1)].to_vec(),
        };
        draw(&plan, &self.field())
    }

    /// What faults can happen to.
    fn field(&self) -> Field {
        let by_switch = self.by_switch();
        let cable = |host: &str, number| Cable {
            ends: [host.to_owned(), if by_switch { "sw" } else { "b" }.to_owned()],
            number,
            rate_bps: 1_000_000_000,
            member_at: Some(host.to_owned()),
        };
        let hosts = if by_switch { &["a", "b"][..] } else { &["a"] };
        let switch = nicteam_chaos::Switch { name: "sw".to_owned(), speaks_lacp: false };
        Field {
            cables: hosts.iter().flat_map(|host| (0..MEMBERS).map(|number| cable(host, number))).collect(),
            hosts: vec!["a".to_owned(), "b".to_owned()],
            switches: if by_switch { vec![switch] } else { Vec::new() },
            impairments: vec!["bad".to_owned()],
            ..Field::default()
        }
    }
}

/// What is built.
pub(crate) struct Lab {
    pub world: World<Station>,
    setup: Setup,
    streams: Vec<Stream>,
    samples: Vec<Sample>,
}

/// Probes of one flow, from one host.
struct Stream {
    from: usize,
    flow: u8,
    /// Which arrived, of all that were sent.
    arrived: Vec<bool>,
    counts: Datagrams,
    /// The highest number that arrived, and one.
    next: u32,
    last: Option<Time>,
}

impl Stream {
    fn hear(&mut self, (at, _, number): Heard) {
        self.look(at);
        self.last = Some(at);
        match std::mem::replace(&mut self.arrived[number as usize], true) {
            true => self.counts.duplicated += 1,
            false => self.counts.received += 1,
        }
        self.counts.reordered += u64::from(number + 1 < self.next);
        self.next = self.next.max(number + 1);
        self.counts.lost = u64::from(self.next).saturating_sub(self.counts.received);
    }

    fn look(&mut self, at: Time) {
        let silence_us = self.last.map_or(0, |last| at.since(last).as_micros() as u64);
        self.counts.longest_silence_us = self.counts.longest_silence_us.max(silence_us);
    }

    fn sample(&mut self, index: u32, now: Time) -> ConnectionSample {
        self.look(now);
        let datagrams = Some(self.counts);
        self.counts.longest_silence_us = 0;
        let received_bytes = self.counts.received * PROBE as u64;
        ConnectionSample { index, received_bytes, datagrams, ..ConnectionSample::default() }
    }
}

impl Lab {
    pub(crate) fn new(setup: &Setup) -> Lab {
        let Setup { config, dataplane, seed, defect, .. } = setup;
        let mut world = World::new(*seed);
        for (mac, defect) in MACS.into_iter().zip([*defect, None]) {
            let team = Team::new(config.clone(), mac, Time::ZERO).unwrap();
            let mut machine = Machine::new(Host::new(team, mac), *dataplane == "packet", defect);
            machine.has_own_in_frames = config.mode == Mode::BalanceTlb;
            world.add(Station::Machine(Box::new(machine)));
        }
        world.add(Station::Switch(Switch::new(2 * MEMBERS)));
        let way = Way { delay: Duration::from_micros(50), ..Way::default() };
        for number in 0..MEMBERS {
            match setup.by_switch() {
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
                // Of a member that has the team's address every frame is taken, as the switch sends it none but those.
                let has_own = matches!(config.mode, Mode::BalanceAlb | Mode::Stripe);
                let own = has_own.then_some(own_mac(mac, number));
                let join = |it: &mut Station, now| it.machine().host.join(&format!("eth{number}"), link, own, now);
                world.change(node, join).unwrap();
            }
            world.change(node, |it, now| it.machine().tell_macs(now));
        }
        let stream =
            |from, flow| Stream { from, flow, arrived: Vec::new(), counts: Datagrams::default(), next: 0, last: None };
        let streams = (0..2).flat_map(|from| (0..FLOWS).map(move |flow| stream(from, flow))).collect();
        Lab { world, setup: setup.clone(), streams, samples: Vec::new() }
    }

    /// Begins a fault, or ends it.
    fn happen(&mut self, fault: &Fault, over: bool) {
        let names = |key: &str| fault.keys.contains(key);
        let host = usize::from(!names("\"a\""));
        let number = usize::from(names("number = 1"));
        let now = self.world.now();
        match fault.kind {
            "cable" => self.world.set_carrier((host, number), over),
            "silence" | "impair" => {
                let from_host = !names("from = ") || names(&format!("from = \"{}\"", ["a", "b"][host]));
                let from_far = !names("from = ") || !from_host;
                let near = (host, number);
                let far = self.world.far(near).unwrap();
                for (port, _) in [(near, from_host), (far, from_far)].into_iter().filter(|(_, concerns)| *concerns) {
                    let way = self.world.link_mut(near).unwrap().way_mut(port);
                    match fault.kind {
                        "silence" => way.blocked = !over,
                        _ => way.loss_percent = if over { 0 } else { LOST_PERCENT },
                    }
                }
            }
            "restart" => (0..2 * MEMBERS).for_each(|port| self.world.set_carrier((SWITCH, port), over)),
            "hang" => self.world.links_mut().flat_map(|link| link.ways_mut()).for_each(|way| way.blocked = !over),
            "stop" if over => self.world.change(host, |it, now| it.machine().resume(now)),
            "stop" | "kill" if !over => self.world.node_mut(host).machine().stop(),
            "kill" => {
                let team = Team::new(self.setup.config.clone(), MACS[host], now).unwrap();
                self.world.change(host, |it, now| it.machine().restart(team, now));
            }
            other => panic!("no fault `{other}`"),
        }
    }

    /// Lets time pass, with two probes of every flow now and then, and a sample each time.
    pub(crate) fn pass(&mut self, until: Time) {
        while self.world.now() < until {
            let now = self.world.now();
            for stream in &mut self.streams {
                for _ in 0..2 {
                    let frame = probe(stream.from, MACS, stream.flow, stream.arrived.len() as u32);
                    stream.arrived.push(false);
                    self.world.change(stream.from, |it, now| it.machine().transmit(&frame, now));
                }
            }
            self.world.run(EACH.min(until.since(now)));
            self.sample();
        }
    }

    fn sample(&mut self) {
        let now = self.world.now();
        let t_ms = now.since(Time::ZERO).as_secs_f64() * 1e3 - WARMUP.as_secs_f64() * 1e3;
        for (node, name) in ["a", "b"].into_iter().enumerate() {
            for heard in std::mem::take(&mut self.world.node_mut(node).machine().heard) {
                let mut streams = self.streams.iter_mut();
                streams.find(|it| it.from != node && it.flow == heard.1).unwrap().hear(heard);
            }
            let own = self.streams.iter_mut().enumerate().filter(|(_, stream)| stream.from != node);
            let connections = own.map(|(index, stream)| stream.sample(index as u32, now)).collect();
            let host = name.to_owned();
            let (members, relayed) = Default::default();
            self.samples.push(Sample { t_ms, host, cpu_ms: 0.0, members, connections, relayed, mac_moves: None });
        }
    }

    /// What a record says of it, after these faults.
    fn record(&self, faults: &[Fault]) -> record::Run {
        let options: Vec<_> = self.setup.config.options().into_iter().collect();
        let options: Vec<(&str, &str)> = options.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut run = judge::run(&self.setup.config.mode.to_string(), &options);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let fault = |fault: &Fault| record::Fault {
            t_ms: ms(fault.at),
            over_ms: Some(ms(fault.at + fault.lasts.unwrap_or_default())),
            kind: fault.kind.to_owned(),
            team: Some("team0".to_owned()),
            text: fault.to_string(),
            ..record::Fault::default()
        };
        run.topology.teams.iter_mut().for_each(|team| self.setup.dataplane.clone_into(&mut team.dataplane));
        run.measured_ms = ms(self.setup.measured);
        run.faults = effects(faults.iter().map(fault).collect(), &self.samples, run.measured_ms);
        let template = run.connections.remove(0);
        for (index, stream) in self.streams.iter().enumerate() {
            let mut connection = template.clone();
            connection.index = index as u32;
            [connection.from, connection.to] = [stream.from, 1 - stream.from].map(|node| ["a", "b"][node].to_owned());
            connection.datagrams = Some(stream.counts);
            run.connections.push(connection);
        }
        run
    }

    /// Probes of new flows from a host that arrive, of so many.
    pub(crate) fn carried(&mut self, from: usize, flows: u8) -> usize {
        for flow in 0..flows {
            let frame = probe(from, MACS, FLOWS + flow, 0);
            self.world.change(from, |it, now| it.machine().transmit(&frame, now));
        }
        self.world.run(Duration::from_millis(1));
        let mut heard = std::mem::take(&mut self.world.node_mut(1 - from).machine().heard);
        heard.dedup_by_key(|(_, flow, _)| *flow);
        heard.len()
    }
}

/// Carries faults out; the record of it, and what is there afterwards.
pub(crate) fn carry_out(setup: &Setup, faults: &[Fault]) -> (record::Run, Lab) {
    let mut lab = Lab::new(setup);
    let start = Time::ZERO + WARMUP;
    lab.pass(start);
    let over = |fault: &Fault| fault.at + fault.lasts.unwrap_or_default();
    let begins = faults.iter().map(|fault| (fault.at, false, fault));
    let mut times: Vec<_> = begins.chain(faults.iter().map(|fault| (over(fault), true, fault))).collect();
    times.sort_by_key(|(at, ends, _)| (*at, !*ends));
    for (at, ends, fault) in times {
        lab.pass(start + at);
        lab.happen(fault, ends);
    }
    lab.pass(start + setup.measured);
    (lab.record(faults), lab)
}
