//! Systems, cables between their ports, and what is to be seen of both.

use std::time::Duration;

use nicteam_simnet::{Port, Way, World};
use nicteam_team::lacp::{Lacp, LacpConfig, LacpRate, PortParams, PortStatus};
use nicteam_team::{Duplex, MemberId, MemberLink, Time};
use nicteam_wire::{Lacpdu, Mac};

use crate::lacp::system::{Rest, System};

/// A port of a system: system, member.
pub type End = Port;

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
    pub world: World<System>,
    weather: Weather,
}

pub const fn ms(ms: u64) -> Duration {
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
        LacpRate::Fast => ms(3000),
        LacpRate::Slow => ms(90_000),
    }
}

impl Net {
    /// Systems of these configurations, each with so many gigabit ports, without cables.
    pub fn new(configs: Vec<LacpConfig>, ports: usize, seed: u64, are_recorded: bool) -> Net {
        let mut world = World::new(seed);
        for (system, config) in configs.into_iter().enumerate() {
            world.add(System::new(config, (0..ports).map(|port| params(system, port)).collect(), are_recorded));
        }
        Net { world, weather: Weather::default() }
    }

    pub fn now(&self) -> Time {
        self.world.now()
    }

    pub fn systems(&self) -> impl ExactSizeIterator<Item = &System> {
        self.world.nodes()
    }

    pub fn system(&self, system: usize) -> &System {
        self.world.node(system)
    }

    pub fn ends(&self) -> impl Iterator<Item = End> {
        self.systems().enumerate().flat_map(|(system, it)| (0..it.ports.len()).map(move |port| (system, port)))
    }

    /// The other end of a port's cable.
    pub fn far(&self, end: End) -> Option<End> {
        self.world.far(end)
    }

    pub fn weather(&self) -> Weather {
        self.weather
    }

    /// Changes what happens to frames on every cable.
    pub fn change_weather(&mut self, change: impl FnOnce(&mut Weather)) {
        change(&mut self.weather);
        let way = self.way();
        self.world.links_mut().for_each(|link| *link.ways_mut() = [way; 2]);
    }

    /// What a cable does to frames.
    pub fn way(&self) -> Way {
        let Weather { loss_percent, duplicate_percent, latency_ms } = self.weather;
        let jitter = ms(latency_ms.saturating_sub(1));
        Way { delay: ms(1), jitter, loss_percent, duplicate_percent, ..Way::default() }
    }

    /// Lets a port hear, or lets it hear nothing though it has carrier.
    pub fn set_receiving(&mut self, (system, port): End, receives: bool) {
        let not_receiving = &mut self.world.node_mut(system).not_receiving;
        if receives {
            not_receiving.remove(&port);
        } else {
            not_receiving.insert(port);
        }
    }

    /// Lets every port hear.
    pub fn all_receive(&mut self) {
        let systems = self.systems().len();
        (0..systems).for_each(|system| self.world.node_mut(system).not_receiving.clear());
    }

    pub fn receives(&self, (system, port): End) -> bool {
        !self.system(system).not_receiving.contains(&port)
    }

    pub fn lacp(&self, system: usize) -> &Lacp {
        &self.system(system).lacp
    }

    /// The last LACPDU that a port was given, as long as the link has been up.
    pub fn heard(&self, (system, port): End) -> Option<&(Time, Lacpdu)> {
        self.system(system).heard.get(&port)
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
        self.system(system).seen.iter().find(|status| status.member == id(port)).copied()
    }

    /// It carries traffic without a partner, because nobody speaks LACP there.
    pub fn serves_anyone(&self, end: End) -> bool {
        self.status(end).defaulted && !self.lacp(end.0).config().lacp_strict
    }

    pub fn rest(&self, system: usize) -> Rest {
        self.system(system).rest()
    }
}

fn params(system: usize, port: usize) -> PortParams {
    let mac = Mac([2, 0, 0, 0, 1 + system as u8, port as u8]);
    PortParams { mac, port_number: port as u16 + 1, priority: 255, link: link(false, 1000) }
}
