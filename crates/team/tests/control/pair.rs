//! Two hosts with teams and cables between them.

use std::time::Duration;

use nicteam_simnet::{Host, Way, World};
use nicteam_team::lacp::Reason;
use nicteam_team::replay::Recorded;
use nicteam_team::{Choose, Config, Effect, LinkState, MemberId, MemberLink, Plan, Team, Time};
use nicteam_wire::{Frame, Mac, ethertype};

use crate::control::world::{id, link};
use crate::replays;

/// Two hosts; member `i` of the one is cabled to member `i` of the other. What their teams are told is recorded, and replayed
/// at the end.
pub struct Pair {
    pub world: World<Host>,
}

impl Pair {
    /// Teams of these configurations, each with so many gigabit members.
    pub fn new(configs: [Config; 2], members: usize) -> Pair {
        Pair::within(replays::LIMIT, configs, members)
    }

    /// The same with recordings of so many bytes.
    pub fn within(limit: usize, configs: [Config; 2], members: usize) -> Pair {
        let mut world = World::new(0);
        for (config, last) in configs.into_iter().zip([0xa, 0xb]) {
            let mac = Mac([2, 0, 0, 0, 0, last]);
            let mut host = Host::new(Recorded::begin(config, mac, Time::ZERO, limit).unwrap(), mac);
            host.is_logged = true;
            world.add(host);
        }
        (0..members).for_each(|member| world.connect((0, member), (1, member), Way::default()));
        let mut pair = Pair { world };
        for host in 0..2 {
            (0..members).for_each(|member| pair.join(host, &format!("eth{member}")));
        }
        pair.deliver();
        pair
    }

    pub fn join(&mut self, host: usize, name: &str) {
        self.world.change(host, |host, now| host.join(name, link(true), None, now)).unwrap();
    }

    pub fn leave(&mut self, host: usize, member: usize) {
        self.world.change(host, |host, now| host.leave(id(member), now)).unwrap();
    }

    pub fn team(&self, host: usize) -> &Team {
        &self.world.node(host).team
    }

    pub fn plan(&self, host: usize) -> &Plan {
        &self.world.node(host).plan
    }

    pub fn carriers(&self) -> [bool; 2] {
        [0, 1].map(|host| self.world.node(host).carrier)
    }

    pub fn change<R>(&mut self, host: usize, change: impl FnOnce(&mut Recorded, Time) -> R) -> R {
        self.world.change(host, |host, now| host.change(now, |team| change(team, now)))
    }

    /// One end of a cable says something else.
    pub fn tell(&mut self, host: usize, member: usize, link: MemberLink) {
        self.world.node_mut(host).members.get_mut(&id(member)).unwrap().link = link;
        self.change(host, |team, now| team.handle_link(id(member), link, now)).unwrap();
    }

    /// Frames arrive at once, as long as there are any.
    pub fn deliver(&mut self) {
        self.run(Duration::ZERO);
    }

    pub fn run(&mut self, duration: Duration) {
        self.world.run(duration);
        for host in self.world.nodes() {
            assert_eq!((&host.plan, host.carrier), (host.team.plan(), host.team.carrier()));
            let touches = |effect: &Effect| matches!(effect, Effect::SetMac { .. } | Effect::TakeAll { .. });
            assert!(!host.log.iter().any(|(_, effect)| touches(effect)), "{:?}", host.log);
        }
    }

    /// Pulls or plugs in a cable; both ends are told at once.
    pub fn cable(&mut self, member: usize, carrier: bool) {
        self.world.set_carrier((0, member), carrier);
        self.deliver();
    }

    /// Lets nothing pass a cable though both ends have carrier.
    pub fn block(&mut self, member: usize) {
        let link = self.world.link_mut((0, member)).unwrap();
        link.ways_mut().iter_mut().for_each(|way| way.blocked = true);
    }

    pub fn state(&self, host: usize, member: usize) -> Option<LinkState> {
        self.team(host).members().into_iter().find(|status| status.id == id(member)).map(|status| status.state)
    }

    /// Gratuitous ARPs: when, by which host and member.
    pub fn announced(&self) -> Vec<(Time, usize, MemberId)> {
        let is_arp = |frame: &[u8]| Frame::parse(frame).unwrap().ethertype() == ethertype::ARP;
        let hosts = self.world.nodes().enumerate();
        let effects = hosts.flat_map(|(number, host)| host.log.iter().map(move |(at, effect)| (*at, number, effect)));
        let announced = effects.filter_map(|(at, host, effect)| match effect {
            Effect::Transmit { member, frame } if is_arp(frame) => Some((at, host, *member)),
            _ => None,
        });
        announced.collect()
    }

    /// The members that a team sends by.
    pub fn table(&self, team: usize) -> Vec<usize> {
        match &self.plan(team).choose {
            Choose::Hash { table, .. } | Choose::HashOrAll { table, .. } => {
                table.iter().map(|member| member.index()).collect()
            }
            Choose::Nobody => Vec::new(),
            other => panic!("{other:?}"),
        }
    }

    pub fn both(&self) -> [Vec<usize>; 2] {
        [self.table(0), self.table(1)]
    }

    pub fn why_not(&self, team: usize, member: usize) -> Option<Reason> {
        self.team(team).members()[member].lacp.unwrap().why_not
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.world.nodes().for_each(|host| replays::holds(&host.team));
        }
    }
}
