//! A host with a bond, cabled to a partner: a team of its own, or nobody who answers.

use std::time::Duration;

use nicteam_simnet::{Host, Way, World};
use nicteam_team::openvswitch::{BondStatus, Negotiation};
use nicteam_team::replay::Recorded;
use nicteam_team::{Action, Config, Effect, MemberId, MemberLink, Team, Time, Verdict};
use nicteam_wire::{Arp, Frame, Mac, ethertype};

pub type Options<'a> = &'a [(&'a str, &'a str)];

/// The bond's host, and the partner's.
const OURS: usize = 0;
const PARTNER: usize = 1;
const LINK: MemberLink = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(nicteam_team::Duplex::Full) };

/// Members `p0`, `p1`, ... of the bond are cabled to those of the partner.
pub struct Net {
    world: World<Host>,
}

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The host number `number` behind the bond.
pub fn source(number: u8) -> Mac {
    Mac([0x50, 0x54, 0, 0, 0, number])
}

/// A host behind the partner.
pub const STRANGER: Mac = Mac([0x50, 0x54, 0, 0, 1, 0]);

/// A frame of no protocol that anybody knows.
pub fn frame(from: Mac, to: Mac) -> Vec<u8> {
    [&to.0[..], &from.0, &0x1234u16.to_be_bytes(), &[0; 46]].concat()
}

/// A gratuitous ARP of a host.
pub fn gratuitous(from: Mac) -> Vec<u8> {
    Arp::gratuitous(from, [10, 0, 0, from.0[5]].into()).frame(Mac::BROADCAST, from, None)
}

/// A TCP segment from port 8 of a host to a port of the stranger.
pub fn segment(from: Mac, port: u16) -> Vec<u8> {
    let ip = [0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1];
    let tcp = [&8u16.to_be_bytes()[..], &port.to_be_bytes(), &[0; 8], &[0x50, 0x10, 0, 0, 0, 0, 0, 0]].concat();
    [&STRANGER.0[..], &from.0, &ethertype::IPV4.to_be_bytes(), &ip, &tcp].concat()
}

fn config(options: Options<'_>) -> Config {
    let mut config = Config::default();
    for (name, value) in options {
        config.set(name, value).unwrap();
    }
    config
}

fn id(member: usize) -> MemberId {
    MemberId::new(member).unwrap()
}

impl Net {
    /// A bond with these options, and nobody at the other end.
    pub fn new(options: Options<'_>, members: usize) -> Net {
        let mut net = Net { world: World::new(0) };
        for (options, last) in [(options, 0xa), (&[][..], 0xb)] {
            let mac = Mac([2, 0, 0, 0, 0, last]);
            let mut host = Host::new(Team::new(config(options), mac, Time::ZERO).unwrap(), mac);
            host.is_logged = true;
            net.world.add(host);
        }
        (0..members).for_each(|member| net.world.connect((OURS, member), (PARTNER, member), Way::default()));
        (0..members).for_each(|member| net.join(&format!("p{member}")));
        net.run(ms(100));
        net
    }

    /// Two bonds, each with these options.
    pub fn pair(options: Options<'_>, members: usize) -> Net {
        let mut net = Net::new(options, members);
        net.start_partner(options, members);
        net.run(ms(5000));
        net
    }

    /// Somebody at the other end begins to answer.
    pub fn start_partner(&mut self, options: Options<'_>, members: usize) {
        let mac = Mac([2, 0, 0, 0, 0, 0xb]);
        let host = Host::new(Team::new(config(options), mac, self.world.now()).unwrap(), mac);
        *self.world.node_mut(PARTNER) = host;
        for member in 0..members {
            let name = format!("p{member}");
            self.world.change(PARTNER, |host, now| host.join(&name, LINK, None, now)).unwrap();
        }
    }

    pub fn join(&mut self, name: &str) {
        self.world.change(OURS, |host, now| host.join(name, LINK, None, now)).unwrap();
    }

    pub fn leave(&mut self, member: usize) {
        self.world.change(OURS, |host, now| host.leave(id(member), now)).unwrap();
    }

    pub fn run(&mut self, duration: Duration) {
        self.world.run(duration);
        let host = self.host();
        assert_eq!((&host.plan, host.carrier), (host.team.plan(), host.team.carrier()));
    }

    /// Pulls a cable or plugs it in; both ends see it.
    pub fn cable(&mut self, member: usize, carrier: bool) {
        self.world.set_carrier((OURS, member), carrier);
        self.run(ms(100));
    }

    /// Lets nothing pass a cable, or all; both ends have carrier.
    pub fn block(&mut self, member: usize, blocked: bool) {
        let link = self.world.link_mut((OURS, member)).unwrap();
        link.ways_mut().iter_mut().for_each(|way| way.blocked = blocked);
    }

    /// Sets options of the bond, beside those that it has.
    pub fn set(&mut self, options: Options<'_>) {
        let mut config = self.host().team.config().clone();
        options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
        self.change(|team, now| team.set_config(config, now)).unwrap();
    }

    pub fn change<R>(&mut self, change: impl FnOnce(&mut Recorded, Time) -> R) -> R {
        self.world.change(OURS, |host, now| host.change(now, |team| change(team, now)))
    }

    /// Sends a frame out of the bond; by which member it leaves, if it does.
    pub fn send(&mut self, frame: &[u8]) -> Option<usize> {
        match self.world.change(OURS, |host, now| host.transmit(frame, now)) {
            Action::Send(members) => {
                let left: Vec<MemberId> = members.iter().collect();
                assert_eq!(left.len(), 1, "more than once: {left:?}");
                left.first().map(|member| member.index())
            }
            _ => None,
        }
    }

    /// True if the bond takes a frame that a member receives.
    pub fn takes(&mut self, member: usize, bytes: &[u8]) -> bool {
        let now = self.world.now();
        let host = self.world.node_mut(OURS);
        host.state.now = now;
        let frame = Frame::parse(bytes).unwrap();
        host.plan.receive_once(id(member), &frame, &mut host.state) == Verdict::ToTeam
    }

    /// What switches were taught since the last call: which source, by which member.
    pub fn taught(&mut self) -> Vec<(usize, Mac)> {
        let log = std::mem::take(&mut self.world.node_mut(OURS).log);
        let rarp = |(_, effect)| match effect {
            Effect::Transmit { member, frame } => {
                let frame = Frame::parse(&frame).unwrap();
                (frame.ethertype() == ethertype::RARP).then(|| (member.index(), frame.src()))
            }
            _ => None,
        };
        log.into_iter().filter_map(rarp).collect()
    }

    pub fn bond(&self) -> BondStatus {
        self.host().team.bond(self.world.now()).unwrap()
    }

    pub fn active(&self) -> Option<usize> {
        let active = self.host().team.active().map(MemberId::index);
        let shown = self.bond().members.into_iter().find(|member| member.active).map(|member| member.id.index());
        assert_eq!(active, shown);
        active
    }

    /// The members that may send.
    pub fn enabled(&self) -> Vec<usize> {
        let members = self.bond().members.into_iter();
        members.filter(|member| member.enabled).map(|member| member.id.index()).collect()
    }

    pub fn negotiation(&self) -> Negotiation {
        self.bond().negotiation
    }

    pub fn host(&self) -> &Host {
        self.world.node(OURS)
    }
}
