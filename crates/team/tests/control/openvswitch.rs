//! Open vSwitch's modes: one rule of ofproto/bond.c, or one of its own tests (tests/ofproto-dpif.at), after the other.

use std::time::Duration;

use nicteam_simnet::{Host, World};
use nicteam_team::buckets::{BUCKETS, Key};
use nicteam_team::hash::slb;
use nicteam_team::openvswitch::{BondMember, BondStatus, Negotiation};
use nicteam_team::{
    Action, Buckets, Choose, Config, Effect, Identity, LinkState, MemberId, Receive, Team, TeamError, Time, Verdict,
};
use nicteam_wire::{Arp, Frame, Mac, Vlan, ethertype, rarp_packet, tagged};
use proptest::prelude::*;

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
        let mut world = World::new(0);
        let mac = Mac([2, 0, 0, 0, 0, 1]);
        let mut host = Host::new(Team::new(config(mode, options), mac, Time::ZERO).unwrap(), mac);
        host.is_logged = true;
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

    fn change<R>(&mut self, change: impl FnOnce(&mut Team, Time) -> R) -> R {
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

#[test]
fn the_first_enabled_member_is_active_and_stays_so() {
    for mode in ["ovs-active-backup", "ovs-balance-slb"] {
        let mut world = alone(mode, &[], &[false, true, true]);
        let active = |world: &Alone| world.team.active().map(MemberId::index);
        assert_eq!(active(&world), Some(1), "{mode}");
        world.hint(id(0), true);
        assert_eq!(active(&world), Some(1), "{mode}: one that comes up changes nothing");
        world.hint(id(1), false);
        assert_eq!(active(&world), Some(0), "{mode}");
        world.hint(id(1), true);
        assert_eq!(active(&world), Some(0), "{mode}: nor does one that comes back");
        (0..3).for_each(|place| world.hint(id(place), false));
        assert_eq!((active(&world), &world.plan.choose, world.carrier), (None, &Choose::Nobody, false), "{mode}");
    }
}

#[test]
fn a_primary_takes_over_in_active_backup_alone() {
    let options = [("bond-primary", "m1")];
    for (mode, takes_over) in [("ovs-active-backup", true), ("ovs-balance-slb", false)] {
        let mut world = alone(mode, &options, &[true, false, true]);
        world.hint(id(1), true);
        let after = if takes_over { Some(id(1)) } else { Some(id(0)) };
        assert_eq!(world.team.active(), after, "{mode}");
        // Where somebody has to be chosen anyhow it is the primary.
        world.hint(id(0), false);
        assert_eq!(world.team.active(), Some(id(1)), "{mode}");
        // Another one that is made active by hand stays so as long as the primary lets it.
        world.activate(id(2)).unwrap();
        let after = if takes_over { Some(id(1)) } else { Some(id(2)) };
        assert_eq!(world.team.active(), after, "{mode}");
        assert!(matches!(world.activate(id(0)), Err(TeamError::NotUp { .. })), "{mode}");
    }
}

#[test]
fn delays_hold_and_nobody_waits_while_none_is_enabled() {
    let mut world = alone("ovs-balance-slb", &[("bond_updelay", "300"), ("bond_downdelay", "200")], &[true, true]);
    let seen = |world: &Alone, place| member(&world.team, world.now(), place);
    world.hint(id(0), false);
    assert_eq!((seen(&world, 0).enabled, seen(&world, 0).delay), (true, Some(ms(200))));
    assert_eq!(world.team.active(), Some(id(0)), "it is active until it is disabled");
    world.run(ms(150));
    assert_eq!(seen(&world, 0).delay, Some(ms(50)));
    world.run(ms(50));
    assert_eq!((seen(&world, 0).enabled, seen(&world, 0).may_enable, world.team.active()), (false, false, Some(id(1))));
    world.hint(id(0), true);
    assert_eq!(
        (seen(&world, 0).enabled, seen(&world, 0).may_enable, seen(&world, 0).delay),
        (false, true, Some(ms(300)))
    );
    world.run(ms(100));
    // Both would wait: the one whose time is over first is enabled at once, the other one waits on.
    world.hint(id(1), false);
    world.run(ms(199));
    assert!(!seen(&world, 0).enabled);
    world.run(ms(1));
    assert!(seen(&world, 0).enabled && !seen(&world, 1).enabled);
    (0..2).for_each(|place| world.hint(id(place), false));
    world.run(ms(200));
    assert_eq!(world.team.active(), None);
    world.hint(id(1), true);
    world.hint(id(0), true);
    assert!(seen(&world, 1).enabled && !seen(&world, 0).enabled, "updelay counts while one is enabled");
}

#[test]
fn what_the_link_says_holds_against_what_is_done_by_hand() {
    let mut world = alone("ovs-balance-slb", &[], &[true, false]);
    let enable = |world: &mut Alone, place, on| world.team_change(|team, now| team.enable_member(id(place), on, now));
    enable(&mut world, 0, false).unwrap();
    assert!(member(&world.team, world.now(), 0).enabled, "without updelay it is enabled again at once");
    enable(&mut world, 1, true).unwrap();
    assert!(!member(&world.team, world.now(), 1).enabled, "and one without carrier disabled");
    let mut world = alone("ovs-balance-slb", &[("updelay", "1000"), ("downdelay", "1000")], &[true, true, false]);
    enable(&mut world, 0, false).unwrap();
    let disabled = member(&world.team, world.now(), 0);
    assert_eq!((disabled.enabled, disabled.delay, world.team.active()), (false, Some(ms(1000)), Some(id(1))));
    // As the real one does: with nobody left the one that waits longest need not wait.
    world.run(ms(100));
    enable(&mut world, 1, false).unwrap();
    assert_eq!((world.state(0), world.state(1), world.team.active()), (LinkState::Up, LinkState::Back, Some(id(0))));
    enable(&mut world, 2, true).unwrap();
    assert_eq!(world.state(2), LinkState::Fail);
    world.run(ms(1000));
    assert_eq!((world.state(1), world.state(2)), (LinkState::Up, LinkState::Down));
    let mut world = alone("active-backup", &[], &[true]);
    assert!(matches!(enable(&mut world, 0, false), Err(TeamError::NotOpenVSwitch(_))));
}

#[test]
fn a_restart_keeps_the_active_member() {
    for (last, expected) in [("m1", 1), ("m0", 0), ("m2", 0), ("gone", 0)] {
        let mut team = Team::new(config("ovs-active-backup", &[]), guest(0), Time::ZERO).unwrap();
        team.remember_active(last);
        team.begin_members();
        for (place, carrier) in [true, true, false].into_iter().enumerate() {
            team.add_member(&format!("m{place}"), link(carrier), Time::ZERO).unwrap();
            while team.poll_effect().is_some() {}
        }
        team.members_complete(Time::ZERO);
        while team.poll_effect().is_some() {}
        assert_eq!(team.active(), Some(id(expected)), "{last}");
        // Afterwards it is a member as any other.
        team.activate(id(1), Time::ZERO).unwrap();
        while team.poll_effect().is_some() {}
        team.handle_links(&[(id(0), link(true))], Time::ZERO).unwrap();
        assert_eq!(team.active(), Some(id(1)), "{last}");
    }
}

#[test]
fn buckets_get_members_in_turn_and_change_them_when_theirs_is_lost() {
    let mut guests = Guests::new("ovs-balance-slb", &[("bond-hash-basis", "3")], 3);
    let choose = |guests: &Guests| guests.host().plan.choose.clone();
    assert_eq!(buckets(&choose(&guests)).key, Key::Source { basis: 3 });
    let first: Vec<usize> = (1..=3).map(|last| guests.send(last, 100)).collect();
    assert_eq!(first, [0, 1, 2], "each new bucket has the next member");
    assert_eq!(guests.send(1, 100), 0, "and keeps it");
    let lost = first[1];
    guests.carrier(lost, false);
    let next = guests.send(2, 100);
    assert_ne!(next, lost);
    guests.carrier(lost, true);
    assert_eq!(guests.send(2, 100), next, "it does not come back");
    assert_eq!((guests.send(1, 100), guests.send(3, 100)), (0, 2), "the others stay");
}

#[test]
fn load_moves_when_its_time_has_come_and_as_the_rules_say() {
    let mut guests = Guests::new("ovs-balance-slb", &[], 2);
    // Guests whose buckets all have the first member: every second one gets it.
    let firsts: Vec<u8> = (1..=12).filter(|last| guests.send(*last, 60) == 0).collect();
    assert!(firsts.len() >= 4, "{firsts:?}");
    for _ in 0..200 {
        firsts[..4].iter().for_each(|last| assert_eq!(guests.send(*last, 1000), 0));
    }
    assert_eq!(guests.bond().next_rebalance, Some(TEN_S));
    guests.run(ms(9_999));
    let counted = |guests: &mut Guests| firsts[..4].iter().map(|last| guests.send(*last, 60)).collect::<Vec<_>>();
    assert_eq!(counted(&mut guests), [0; 4]);
    guests.run(ms(1));
    // 800,000 bytes and a few on the one, a few on the other: half of it moves, the lower numbers of equal ones first.
    let mut moved = counted(&mut guests);
    moved.sort_unstable();
    assert_eq!(moved, [0, 0, 1, 1]);
    let loads: u64 = guests.bond().members.iter().flat_map(|member| &member.buckets).map(|(_, bytes)| bytes).sum();
    assert!((400_000..405_000).contains(&loads), "halved: {loads}");
    assert_eq!(guests.bond().next_rebalance, Some(TEN_S));
}

#[test]
fn another_interval_counts_from_now_on() {
    let mut guests = Guests::new("ovs-balance-slb", &[], 2);
    let set = |guests: &mut Guests, interval| {
        let config = config("ovs-balance-slb", &[("bond-rebalance-interval", interval)]);
        guests.change(|team, now| team.set_config(config, now)).unwrap();
    };
    guests.run(ms(3000));
    assert_eq!(guests.bond().next_rebalance, Some(ms(7000)));
    set(&mut guests, "20000");
    assert_eq!(guests.bond().next_rebalance, Some(ms(20_000)));
    set(&mut guests, "1");
    assert_eq!(guests.bond().next_rebalance, Some(ms(1000)), "less than a second is a second");
    set(&mut guests, "0");
    assert_eq!(guests.bond().next_rebalance, None);
    // Without rebalancing members that are lost are left all the same.
    let member = guests.send(1, 100);
    guests.carrier(member, false);
    assert_ne!(guests.send(1, 100), member);
}

#[test]
fn a_bucket_migrates_by_hand() {
    let mut guests = Guests::new("ovs-balance-slb", &[], 2);
    let from = guests.send(1, 100);
    let bucket = slb::bucket(guest(1), 0, 0);
    guests.change(|team, now| team.migrate(bucket, id(1 - from), now)).unwrap();
    assert_eq!(guests.send(1, 100), 1 - from);
    guests.carrier(from, false);
    let refused = guests.change(|team, now| team.migrate(bucket, id(from), now));
    assert!(matches!(refused, Err(TeamError::NotEnabled { .. })), "{refused:?}");
    assert_eq!(guests.change(|team, now| team.migrate(bucket, id(7), now)), Err(TeamError::NoMember(id(7))));
    for mode in ["ovs-active-backup", "ovs-balance-tcp", "balance-xor"] {
        let mut guests = Guests::new(mode, &[], 2);
        let refused = guests.change(|team, now| team.migrate(0, id(0), now));
        assert!(matches!(refused, Err(TeamError::NoBuckets(_))), "{mode}: {refused:?}");
    }
}

#[test]
fn after_a_failover_switches_learn_each_source_by_its_member() {
    for (mode, spreads) in [("ovs-active-backup", false), ("ovs-balance-slb", true)] {
        let mut guests = Guests::new(mode, &[], 3);
        guests.taught();
        (1..=6).for_each(|last| assert!(guests.send(last, 100) < 3));
        assert_eq!(guests.taught(), [], "{mode}: nobody has to learn");
        guests.carrier(0, false);
        let taught = guests.taught();
        let macs: Vec<Mac> = taught.iter().map(|(mac, _)| *mac).collect();
        assert_eq!(macs, (1..=6).map(guest).collect::<Vec<_>>(), "{mode}");
        for (mac, member) in taught {
            assert_eq!(guests.send(mac.0[5], 100), member, "{mode}: by whom its frames leave");
            assert!(member != 0 && (spreads || member == 1), "{mode}");
        }
        guests.carrier(0, true);
        assert_eq!(guests.taught(), [], "{mode}: one that comes back takes nothing over");
        guests.change(|team, now| team.activate(id(2), now)).unwrap();
        assert_eq!(guests.taught().len(), 6, "{mode}: another active member");
        guests.run(Duration::from_secs(301));
        guests.change(|team, now| team.activate(id(1), now)).unwrap();
        assert_eq!(guests.taught(), [], "{mode}: sources are forgotten after 300 s");
    }
}

#[test]
fn groups_are_heard_by_the_active_member_and_reflections_by_nobody() {
    let mut guests = Guests::new("ovs-balance-slb", &[], 2);
    let by = guests.send(1, 100);
    let lines: Vec<Receive> = guests.host().plan.members.iter().map(|line| line.receive).collect();
    assert_eq!(lines, [Receive::DropIfMoved { active: true }, Receive::DropIfMoved { active: false }]);
    let verdict = |guests: &mut Guests, member: usize, bytes: &[u8]| {
        let host = guests.world.node_mut(0);
        host.plan.receive_once(id(member), &Frame::parse(bytes).unwrap(), &mut host.state)
    };
    assert_eq!(verdict(&mut guests, 1 - by, &frame(1, 100)), Verdict::Drop, "its own frame came back");
    assert_eq!(verdict(&mut guests, 1 - by, &frame(9, 100)), Verdict::ToTeam);
    let arp = Arp::gratuitous(guest(9), [10, 0, 0, 9].into()).frame(Mac::BROADCAST, guest(9), None);
    assert_eq!([0, 1].map(|member| verdict(&mut guests, member, &arp)), [Verdict::ToTeam, Verdict::Drop]);
    let all = config("ovs-balance-slb", &[("all-members-active", "true")]);
    guests.change(|team, now| team.set_config(all, now)).unwrap();
    assert_eq!([0, 1].map(|member| verdict(&mut guests, member, &arp)), [Verdict::ToTeam; 2]);
}

#[test]
fn balance_tcp_without_lacp_carries_nothing() {
    let world = alone("ovs-balance-tcp", &[], &[true, true]);
    assert_eq!((&world.plan.choose, world.carrier), (&Choose::Nobody, false));
    assert!(world.plan.members.iter().all(|line| line.receive == Receive::Drop));
    let enabled = bond(&world.team, world.now()).members.iter().all(|member| member.enabled);
    assert!(enabled, "the members are well");
    assert!(world.team.members().iter().all(|member| !member.active));
}

#[test]
fn with_lacp_buckets_are_given_to_those_that_the_partner_takes() {
    for mode in ["ovs-balance-slb", "ovs-balance-tcp"] {
        let mut pair = pair(mode, &[]);
        pair.run(ms(1000));
        let now = pair.world.now();
        let seen = bond(pair.team(0), now);
        assert_eq!(seen.negotiation, Negotiation::Negotiated, "{mode}");
        assert!(seen.members.iter().all(|member| member.enabled && member.lacp_may_enable), "{mode}: {seen:?}");
        assert!(pair.plan(0).members.iter().all(|line| line.receive == Receive::Deliver), "{mode}");
        let given = if mode == "ovs-balance-tcp" { BUCKETS } else { 0 };
        let given_to = shares(&pair.plan(0).choose, 2);
        assert_eq!(given_to.iter().sum::<usize>(), given, "{mode}");
        let evenly = given_to.iter().all(|share| (88..=168).contains(share));
        assert!(evenly || given == 0, "though one was enabled before the other: {given_to:?}");
        assert!(pair.plan(0).lease.is_some() && !pair.plan(0).notes_sources, "{mode}");
        pair.cable(1, false);
        assert_eq!(buckets(&pair.plan(0).choose).enabled, [id(0)], "{mode}");
        assert_eq!(shares(&pair.plan(0).choose, 2), [given, 0], "{mode}");
        // One bucket carries something, which holds it when the other member is back.
        pair.world.change(0, |host, now| host.transmit(&frame(1, 100), now));
        let used = buckets(&pair.plan(0).choose).bucket(&Frame::parse(&frame(1, 100)).unwrap());
        pair.cable(1, true);
        pair.run(ms(1000));
        assert_eq!(buckets(&pair.plan(0).choose).enabled, [id(0), id(1)], "{mode}");
        if mode == "ovs-balance-tcp" {
            assert_eq!(buckets(&pair.plan(0).choose).table[usize::from(used)], Some(id(0)));
            assert!(shares(&pair.plan(0).choose, 2).iter().all(|share| (88..=168).contains(share)));
        }
        let rarp = |(_, effect): &(Time, Effect)| matches!(effect, Effect::Transmit { frame, .. } if Frame::parse(frame).unwrap().ethertype() == ethertype::RARP);
        assert!(!pair.world.node(0).log.iter().any(rarp), "{mode}: the partner knows");
    }
}

#[test]
fn balance_tcps_buckets_are_spread_by_a_seed() {
    let shares_of = |seed: u8| {
        let mut pair = pair("ovs-balance-tcp", &[]);
        let identity = Identity { number: 1, secret: [seed; 32] };
        pair.change(0, |team, now| team.set_identity(identity, now));
        pair.run(ms(1000));
        // All anew, as the seed says.
        let other = [("lacp", "active"), ("lacp-time", "fast"), ("bond-hash-basis", "1")];
        let other = config("ovs-balance-tcp", &other);
        pair.change(0, |team, now| team.set_config(other, now)).unwrap();
        (shares(&pair.plan(0).choose, 2), buckets(&pair.plan(0).choose).table.clone())
    };
    let (one, again, other) = (shares_of(1), shares_of(1), shares_of(2));
    assert_eq!(one, again);
    assert_ne!(one.1, other.1);
    // Of 256 tosses fewer than 88, or more than 168: once in two million.
    assert!([one, other].iter().all(|(shares, _)| (88..=168).contains(&shares[0])));
}

#[test]
fn without_a_partner_nothing_is_carried_or_one_member_carries_all() {
    for mode in ["ovs-active-backup", "ovs-balance-slb", "ovs-balance-tcp"] {
        for (fallback, carries) in [("false", false), ("true", true)] {
            let options = [("lacp", "active"), ("lacp-time", "fast"), ("lacp-fallback-ab", fallback)];
            let plain = config("active-backup", &[]);
            let mut pair = Pair::new([config(mode, &options), plain], 2);
            assert_eq!(pair.plan(0).choose, Choose::Nobody, "{mode}");
            pair.run(ms(4000));
            let now = pair.world.now();
            assert_eq!(bond(pair.team(0), now).negotiation, Negotiation::Configured, "{mode} {fallback}");
            let expected = if carries { Choose::One(id(0)) } else { Choose::Nobody };
            assert_eq!(pair.plan(0).choose, expected, "{mode} {fallback}");
            assert_eq!(pair.world.node(0).carrier, carries, "{mode} {fallback}");
            let enabled = bond(pair.team(0), now).members.iter().filter(|member| member.enabled).count();
            assert_eq!(enabled, if carries { 2 } else { 0 }, "{mode} {fallback}");
            assert_eq!(bond(pair.team(0), now).next_rebalance.is_some(), !carries && mode != "ovs-active-backup");
            if carries {
                pair.cable(0, false);
                assert_eq!(pair.plan(0).choose, Choose::One(id(1)), "{mode}: as active-backup does");
            }
        }
    }
}

#[test]
fn a_cable_that_is_plugged_in_does_not_end_the_fallback() {
    let options = [("lacp", "active"), ("lacp-fallback-ab", "true")];
    let mut pair = Pair::new([config("ovs-balance-tcp", &options), config("active-backup", &[])], 2);
    let negotiation = |pair: &Pair| bond(pair.team(0), pair.world.now()).negotiation;
    pair.run(ms(2900));
    assert_eq!(negotiation(&pair), Negotiation::Negotiated, "each waits for its first LACPDU");
    pair.run(ms(200));
    assert_eq!(negotiation(&pair), Negotiation::Configured);
    pair.cable(1, false);
    pair.cable(1, true);
    for _ in 0..35 {
        pair.run(ms(100));
        assert_eq!((&pair.plan(0).choose, negotiation(&pair)), (&Choose::One(id(0)), Negotiation::Configured));
    }
}

proptest! {
    /// Whatever happens to cables and options: afterwards everything that has carrier is enabled, and frames go by it.
    #[test]
    fn after_all_that_happens_members_with_carrier_are_used(
        mode in prop::sample::select(vec!["ovs-active-backup", "ovs-balance-slb", "ovs-balance-tcp"]),
        delays in (0..4_u32, 0..4_u32),
        steps in prop::collection::vec((0..3_usize, 0..4_u8, 0..3000_u64), 0..25),
    ) {
        let (up, down) = ((delays.0 * 200).to_string(), (delays.1 * 200).to_string());
        let options = [("lacp", "active"), ("lacp-time", "fast"), ("updelay", &*up), ("downdelay", &*down)];
        let mut pair = Pair::new([config(mode, &options), config("ovs-balance-slb", &options)], 3);
        for (place, what, wait) in steps {
            match what {
                0 => pair.cable(place, false),
                1 => pair.cable(place, true),
                2 => drop(pair.change(0, |team, now| team.enable_member(id(place), wait % 2 == 0, now))),
                _ => {
                    let other = [&options[..], &[("bond-hash-basis", if place == 0 { "0" } else { "5" })]].concat();
                    pair.change(0, |team, now| team.set_config(config(mode, &other), now)).unwrap();
                }
            }
            pair.run(ms(wait));
            let (now, plan) = (pair.world.now(), pair.plan(0));
            let seen = bond(pair.team(0), now);
            let enabled: Vec<MemberId> = seen.members.iter().filter(|of| of.enabled).map(|of| of.id).collect();
            match &plan.choose {
                Choose::Buckets(buckets) => {
                    let mut sends = buckets.enabled.clone();
                    sends.sort_unstable();
                    prop_assert_eq!(&sends, &enabled);
                    prop_assert!(buckets.table.iter().flatten().all(|member| enabled.contains(member)));
                    let all = mode != "ovs-balance-tcp" || buckets.table.iter().all(Option::is_some);
                    prop_assert!(all, "a bucket of balance-tcp without a member");
                }
                Choose::One(member) => prop_assert!(enabled.contains(member)),
                // Without a link LACP has no partner; members whose downdelay runs are enabled yet.
                Choose::Nobody => {
                    prop_assert!(enabled.is_empty() || seen.negotiation == Negotiation::Configured, "{seen:?}");
                }
                other => panic!("{other:?}"),
            }
        }
        (0..3).for_each(|place| pair.cable(place, true));
        pair.run(ms(8000));
        for host in 0..2 {
            let seen = bond(pair.team(host), pair.world.now());
            prop_assert!(seen.members.iter().all(|member| member.enabled && member.may_enable), "{seen:?}");
            prop_assert_eq!(seen.negotiation, Negotiation::Negotiated);
        }
        let generation = pair.plan(0).generation;
        pair.run(ms(5000));
        prop_assert_eq!(pair.plan(0).generation, generation, "a team at rest makes no plans");
    }
}

#[test]
fn a_partner_that_begins_to_speak_ends_the_fallback() {
    let options = [("lacp", "passive"), ("lacp-time", "fast"), ("lacp-fallback-ab", "true")];
    let partner = |lacp| config("ovs-balance-tcp", &[("lacp", lacp), ("lacp-time", "fast")]);
    let mut pair = Pair::new([config("ovs-balance-tcp", &options), partner("off")], 2);
    pair.run(ms(4000));
    assert_eq!(pair.plan(0).choose, Choose::One(id(0)));
    // LACP begins while the members are there, and ends so.
    pair.change(1, |team, now| team.set_config(partner("active"), now)).unwrap();
    pair.run(ms(2000));
    for host in 0..2 {
        assert_eq!(shares(&pair.plan(host).choose, 2).iter().sum::<usize>(), BUCKETS, "{host}");
    }
    pair.change(1, |team, now| team.set_config(partner("off"), now)).unwrap();
    assert!(pair.team(1).lacp().is_none() && !pair.team(1).listens().slow);
    pair.run(ms(7000));
    assert_eq!(pair.plan(0).choose, Choose::One(id(0)), "its silence is noticed");
}

#[test]
fn with_lacp_the_delays_count_from_what_it_says() {
    let mut pair = pair("ovs-balance-slb", &[("updelay", "500"), ("downdelay", "300")]);
    pair.run(ms(1500));
    assert_eq!(buckets(&pair.plan(0).choose).enabled.len(), 2);
    pair.block(1);
    // The partner is silent for 3 s.
    pair.run(ms(3900));
    let now = pair.world.now();
    let silent = member(pair.team(0), now, 1);
    assert_eq!((silent.may_enable, silent.enabled, silent.delay.is_some()), (false, false, false), "{silent:?}");
    assert_eq!(buckets(&pair.plan(0).choose).enabled, [id(0)]);
}

#[test]
fn the_mode_changes_while_lacp_stays() {
    let mut pair = pair("ovs-balance-slb", &[]);
    pair.run(ms(1000));
    let other = config("ovs-balance-tcp", &[("lacp", "active"), ("lacp-time", "fast")]);
    let before = pair.team(0).members()[0].lacp.unwrap();
    pair.change(0, |team, now| team.set_config(other, now)).unwrap();
    assert_eq!(pair.team(0).members()[0].lacp.unwrap().mux, before.mux, "LACP does not notice");
    assert_eq!(shares(&pair.plan(0).choose, 2).iter().sum::<usize>(), BUCKETS);
}

#[test]
fn members_that_lacp_kept_down_come_up_in_a_mode_without_it() {
    let mut pair = Pair::new([config("ovs-balance-tcp", &[("lacp", "active")]), config("active-backup", &[])], 2);
    let states = |pair: &Pair| [0, 1].map(|member| pair.state(0, member).unwrap());
    assert_eq!(states(&pair), [LinkState::Down; 2]);
    pair.change(0, |team, now| team.set_config(config("balance-xor", &[]), now)).unwrap();
    pair.run(ms(100));
    assert_eq!(states(&pair), [LinkState::Up; 2]);
    assert!(pair.world.node(0).carrier && pair.team(0).lacp().is_none());
}

#[test]
fn counters_of_lacp_are_open_vswitchs() {
    let mut pair = pair("ovs-balance-slb", &[]);
    pair.run(ms(1500));
    let counters = |pair: &Pair| pair.team(0).members()[1].lacp.unwrap().counters;
    let before = counters(&pair);
    assert!(before.lacpdus_received > 0 && (before.expired, before.defaulted, before.carrier_changes) == (0, 0, 0));
    pair.cable(1, false);
    pair.cable(1, true);
    pair.run(ms(1500));
    assert_eq!(counters(&pair).carrier_changes, 2);
    pair.block(1);
    pair.run(ms(7000));
    assert_eq!((counters(&pair).expired, counters(&pair).defaulted), (1, 1));
    pair.change(0, |team, now| {
        let mut frame = [&[1, 0x80, 0xc2, 0, 0, 2], &guest(1).0[..], &[0x88, 0x09, 1, 7]].concat();
        frame.resize(60, 0);
        team.handle_frame(id(1), &frame, now);
    });
    assert_eq!(counters(&pair).malformed, 1);
}

#[test]
fn a_tag_is_part_of_a_source() {
    let mut guests = Guests::new("ovs-balance-slb", &[], 2);
    let in_vlan = tagged(frame(1, 100), &[Vlan::customer(7).unwrap()]);
    guests.world.change(0, |host, now| host.transmit(&in_vlan, now));
    guests.world.node_mut(0).log.clear();
    guests.change(|team, now| team.activate(id(1), now)).unwrap();
    let log = &guests.host().log;
    let frames: Vec<&Vec<u8>> = log
        .iter()
        .filter_map(|(_, effect)| if let Effect::Transmit { frame, .. } = effect { Some(frame) } else { None })
        .collect();
    assert_eq!(frames, [&rarp_packet(guest(1), Vlan::customer(7))]);
}
