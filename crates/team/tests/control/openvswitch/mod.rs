//! Open vSwitch's modes: one rule of ofproto/bond.c, or one of its own tests (tests/ofproto-dpif.at), after the other.

mod buckets;
mod lacp;
mod members;

use std::time::Duration;

use nicteam_simnet::{Host, World};
use nicteam_team::openvswitch::{BondMember, BondStatus};
use nicteam_team::replay::Recorded;
use nicteam_team::{Action, Buckets, Choose, Config, Effect, PlanState, Team, Time};
use nicteam_wire::{Frame, Mac, rarp_packet};

use crate::control::pair::Pair;
use crate::control::world::{World as Alone, id, link, ms};

const TEN_S: Duration = Duration::from_secs(10);

fn config(mode: &str, options: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    for (name, value) in [("mode", mode)].iter().chain(options) {
        config.set(name, value).unwrap();
    }
    config
}

/// A team without cables, with these carriers.
fn alone(mode: &str, options: &[(&str, &str)], carriers: &[bool]) -> Alone {
    Alone::with_members(config(mode, options), carriers)
}

/// Two teams of a mode that speak LACP, each second.
fn pair(mode: &str, options: &[(&str, &str)]) -> Pair {
    let fast = [&[("lacp", "active"), ("lacp-time", "fast")], options].concat();
    Pair::new([config(mode, &fast), config(mode, &fast)], 2)
}

fn bond(team: &Team, now: Time) -> BondStatus {
    team.bond(now).unwrap()
}

fn member(team: &Team, now: Time, place: usize) -> BondMember {
    bond(team, now).members.into_iter().find(|member| member.id == id(place)).unwrap()
}

fn buckets(choose: &Choose) -> &Buckets {
    let Choose::Buckets(buckets) = choose else { panic!("{choose:?}") };
    buckets
}

/// The number of a bucket's members, by place.
fn shares(choose: &Choose, members: usize) -> Vec<usize> {
    let table = &buckets(choose).table;
    (0..members).map(|place| table.iter().filter(|member| **member == Some(id(place))).count()).collect()
}

fn guest(last: u8) -> Mac {
    Mac([0x50, 0x54, 0, 0, 0, last])
}

/// A frame from a guest behind the team.
fn frame(last: u8, bytes: usize) -> Vec<u8> {
    let (dst, src) = (Mac([2, 0, 0, 0, 0, 0xee]), guest(last));
    let mut frame = [&dst.0[..], &src.0, &[8, 0]].concat();
    frame.resize(bytes, 0);
    frame
}

/// A host with a team and two cables, whose dataplane is the plan itself.
struct Guests {
    world: World<Host>,
}

impl Guests {
    fn new(mode: &str, options: &[(&str, &str)], members: usize) -> Guests {
        Guests::of(mode, options, members, PlanState::new(0))
    }

    /// The same with a dataplane that remembers this.
    fn of(mode: &str, options: &[(&str, &str)], members: usize, state: PlanState) -> Guests {
        let mut world = World::new(0);
        let mac = Mac([2, 0, 0, 0, 0, 1]);
        let mut host = Host::new(Team::new(config(mode, options), mac, Time::ZERO).unwrap(), mac);
        (host.is_logged, host.state) = (true, state);
        world.add(host);
        let mut guests = Guests { world };
        for place in 0..members {
            let name = format!("m{place}");
            guests.world.change(0, |host, now| host.join(&name, link(true), None, now)).unwrap();
        }
        guests
    }

    fn host(&self) -> &Host {
        self.world.node(0)
    }

    fn change<R>(&mut self, change: impl FnOnce(&mut Recorded, Time) -> R) -> R {
        self.world.change(0, |host, now| host.change(now, |team| change(team, now)))
    }

    /// A guest sends so many bytes; the member by which they leave.
    fn send(&mut self, last: u8, bytes: usize) -> usize {
        let action = self.world.change(0, |host, now| host.transmit(&frame(last, bytes), now));
        let Action::Send(members) = action else { panic!("{action:?}") };
        members.iter().next().unwrap().index()
    }

    fn carrier(&mut self, place: usize, carrier: bool) {
        self.world.node_mut(0).members.get_mut(&id(place)).unwrap().link = link(carrier);
        self.change(|team, now| team.handle_link(id(place), link(carrier), now)).unwrap();
    }

    fn run(&mut self, duration: Duration) {
        self.world.run(duration);
    }

    /// The sources that were taught to switches since the log was cleared, each with its member.
    fn taught(&mut self) -> Vec<(Mac, usize)> {
        let log = std::mem::take(&mut self.world.node_mut(0).log);
        let taught = log.into_iter().filter_map(|(_, effect)| match effect {
            Effect::Transmit { member, frame } => {
                let src = Frame::parse(&frame).unwrap().src();
                assert_eq!(frame, rarp_packet(src, None));
                Some((src, member.index()))
            }
            _ => None,
        });
        taught.collect()
    }

    fn bond(&self) -> BondStatus {
        bond(&self.host().team, self.world.now())
    }
}
