//! Systems, cables between their ports, frames on their way, and a clock.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nicteam_team::lacp::{Lacp, LacpConfig, LacpEvent, PortParams, PortStatus};
use nicteam_team::{Duplex, MemberId, MemberLink, Time};
use nicteam_wire::{Lacpdu, Mac};

/// A port of a system: system, member.
pub type End = (usize, usize);

/// A system and what its ports are made of.
#[derive(Clone, Debug)]
pub struct System {
    pub lacp: Lacp,
    pub ports: Vec<PortParams>,
    /// It neither hears nor speaks nor looks at its clock; its ports forward on.
    pub frozen: bool,
}

/// What was to be seen of a system when it came to rest last.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    pub collecting: u32,
    pub distributing: u32,
    pub active: Option<u16>,
    pub carrier: bool,
}

/// What happens to frames on their way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    pub loss_percent: u64,
    pub duplicate_percent: u64,
    /// A frame takes 1 ms to so many; frames overtake each other.
    pub latency_ms: u64,
}

#[derive(Clone, Debug)]
pub struct Net {
    pub now: Time,
    pub systems: Vec<System>,
    /// The other end of each port's cable.
    pub cables: BTreeMap<End, End>,
    pub weather: Weather,
    /// Ports that hear nothing though they have carrier.
    pub deaf: BTreeSet<End>,
    /// The last LACPDU each port was given, as long as the link has been up.
    pub heard: BTreeMap<End, (Time, Lacpdu)>,
    /// Frames on their way: when they arrive, in which order they left, where they go.
    pub flights: BTreeMap<(Time, u64), (End, Vec<u8>)>,
    /// The ports of each system as they were when it came to rest last.
    pub seen: Vec<Vec<PortStatus>>,
    /// Everything the systems said to users.
    pub events: Vec<(Time, usize, LacpEvent)>,
    /// Frames that left, of any kind.
    pub left: u64,
}

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub fn id(port: usize) -> MemberId {
    MemberId::new(port).unwrap()
}

/// The address of a system.
pub fn system_mac(system: usize) -> Mac {
    Mac([2, 0, 0, 0, 0, 0x10 + system as u8])
}

/// The link of a port.
pub fn link(carrier: bool, speed_mbps: u32) -> MemberLink {
    MemberLink { carrier, speed_mbps: Some(speed_mbps), duplex: Some(Duplex::Full) }
}

/// How long a partner may be silent before this configuration lets it go.
pub fn timeout(config: &LacpConfig) -> Duration {
    match config.lacp_rate {
        nicteam_team::lacp::LacpRate::Fast => ms(3000),
        nicteam_team::lacp::LacpRate::Slow => ms(90_000),
    }
}

impl Net {
    /// Systems of these configurations, each with so many gigabit ports, without cables.
    pub fn new(configs: Vec<LacpConfig>, ports: usize) -> Net {
        let systems = configs.into_iter().enumerate().map(|(system, config)| System {
            lacp: Lacp::new(config, Time::ZERO),
            ports: (0..ports).map(|port| params(system, port)).collect(),
            frozen: false,
        });
        let systems: Vec<System> = systems.collect();
        Net {
            now: Time::ZERO,
            seen: vec![Vec::new(); systems.len()],
            systems,
            cables: BTreeMap::new(),
            weather: Weather::default(),
            deaf: BTreeSet::new(),
            heard: BTreeMap::new(),
            flights: BTreeMap::new(),
            events: Vec::new(),
            left: 0,
        }
    }

    pub fn ends(&self) -> impl Iterator<Item = End> {
        self.systems.iter().enumerate().flat_map(|(system, it)| (0..it.ports.len()).map(move |port| (system, port)))
    }

    pub fn lacp(&self, system: usize) -> &Lacp {
        &self.systems[system].lacp
    }

    pub fn collects(&self, (system, port): End) -> bool {
        self.lacp(system).collecting().contains(id(port))
    }

    pub fn distributes(&self, (system, port): End) -> bool {
        self.lacp(system).distributing().contains(id(port))
    }

    pub fn status(&self, end: End) -> PortStatus {
        self.find(end).expect("the member is a port")
    }

    pub fn find(&self, (system, port): End) -> Option<PortStatus> {
        self.seen[system].iter().find(|status| status.member == id(port)).copied()
    }

    /// It carries traffic without a partner, because nobody speaks LACP there.
    pub fn serves_anyone(&self, end: End) -> bool {
        self.status(end).defaulted && !self.lacp(end.0).config().lacp_strict
    }

    pub fn rest(&self, system: usize) -> Rest {
        let lacp = self.lacp(system);
        Rest {
            collecting: lacp.collecting().bits(),
            distributing: lacp.distributing().bits(),
            active: lacp.active_aggregator().map(|aggregator| aggregator.id),
            carrier: lacp.carrier(),
        }
    }
}

fn params(system: usize, port: usize) -> PortParams {
    let mac = Mac([2, 0, 0, 0, 1 + system as u8, port as u8]);
    PortParams { mac, port_number: port as u16 + 1, priority: 255, link: link(false, 1000) }
}
