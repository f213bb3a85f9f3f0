//! What a failover entails: addresses, groups, priorities.

use nicteam_team::{Choose, Config, Effect, FailOverMac, Group, Mode, PrimaryReselect, Receive};
use nicteam_wire::{Frame, Mac};

use crate::control::world::{MAC, World, id, link, ms};

const OWN: [Mac; 3] = [Mac([2, 0, 0, 0, 1, 0]), Mac([2, 0, 0, 0, 1, 1]), Mac([2, 0, 0, 0, 1, 2])];

fn with_prios(prios: &[(&str, i32)], reselect: PrimaryReselect) -> Config {
    Config {
        mode: Mode::ActiveBackup,
        primary_reselect: reselect,
        prio: prios.iter().map(|&(name, prio)| (name.to_owned(), prio)).collect(),
        ..Config::default()
    }
}

/// Three members with their own addresses; which they were told to take since.
fn with_own_macs(fail_over_mac: FailOverMac, mode: Mode) -> World {
    let mut world = World::with_members(Config { mode, fail_over_mac, ..Config::default() }, &[true, true, true]);
    for (place, mac) in OWN.into_iter().enumerate() {
        world.team.handle_member_mac(id(place), mac);
        while let Some(effect) = world.team.poll_effect() {
            let now = world.now();
            world.log.push((now, effect));
        }
    }
    world
}

fn take_macs(world: &mut World) -> Vec<(Option<usize>, Mac)> {
    let moved = |(_, effect): (_, Effect)| match effect {
        Effect::SetMac { member, mac } => Some((member.map(|id| id.index()), mac)),
        _ => None,
    };
    world.log.drain(..).filter_map(moved).collect()
}

#[test]
fn the_team_takes_the_active_members_address() {
    let mut world = with_own_macs(FailOverMac::Active, Mode::ActiveBackup);
    world.team.handle_addresses(vec![(0, [10, 0, 0, 1].into())]);
    assert_eq!(take_macs(&mut world), [(None, OWN[0])]);
    world.hint(id(0), false);
    let order: Vec<&Effect> = world.log.iter().map(|(_, effect)| effect).collect();
    let place = |wanted: fn(&Effect) -> bool| order.iter().position(|effect| wanted(effect)).unwrap();
    let sent = place(|effect| matches!(effect, Effect::Transmit { .. }));
    assert!(place(|effect| matches!(effect, Effect::SetMac { .. })) < sent, "{order:?}");
    let Effect::Transmit { frame, .. } = order[sent] else { unreachable!() };
    assert_eq!(Frame::parse(frame).unwrap().src(), OWN[1], "announced from the new address");
    assert_eq!(take_macs(&mut world), [(None, OWN[1])]);
    world.hint(id(1), false);
    world.hint(id(2), false);
    assert_eq!(take_macs(&mut world), [(None, OWN[2])], "without an active member it stays");
}

#[test]
fn the_teams_address_follows_the_active_member() {
    let mut world = with_own_macs(FailOverMac::Follow, Mode::ActiveBackup);
    assert_eq!(take_macs(&mut world), [(Some(0), MAC)]);
    world.hint(id(0), false);
    assert_eq!(take_macs(&mut world), [(Some(1), MAC), (Some(0), OWN[1])], "they swap");
    world.hint(id(0), true);
    world.hint(id(1), false);
    assert_eq!(take_macs(&mut world), [(Some(0), MAC), (Some(1), OWN[1])]);
    world.leave(id(0));
    assert_eq!(take_macs(&mut world), [(Some(2), MAC)], "nobody is left to swap with");
}

#[test]
fn addresses_stay_where_nothing_else_is_asked_for() {
    for (fail_over_mac, mode) in [(FailOverMac::None, Mode::ActiveBackup), (FailOverMac::Active, Mode::BalanceRr)] {
        let mut world = with_own_macs(fail_over_mac, mode);
        world.hint(id(0), false);
        assert_eq!(take_macs(&mut world), []);
    }
}

#[test]
fn the_highest_prio_that_is_up_carries_the_traffic() {
    let mut world = World::with_members(with_prios(&[("m1", 5), ("m2", 9)], PrimaryReselect::Always), &[true; 3]);
    assert_eq!(world.active(), Some(2));
    world.hint(id(2), false);
    assert_eq!(world.active(), Some(1));
    world.hint(id(0), false);
    world.hint(id(0), true);
    assert_eq!(world.active(), Some(1), "a lower one takes nothing over");
    world.hint(id(2), true);
    assert_eq!(world.active(), Some(2));
    world.join("m3", link(true));
    assert_eq!(world.active(), Some(2));
}

#[test]
fn prio_obeys_primary_and_reselect() {
    let patient = with_prios(&[("m1", 5)], PrimaryReselect::Failure);
    let mut world = World::with_members(patient, &[true, false]);
    world.hint(id(1), true);
    assert_eq!(world.active(), Some(0));
    let with_primary = Config { primary: Some("m0".to_owned()), ..with_prios(&[("m1", 5)], PrimaryReselect::Always) };
    let mut world = World::with_members(with_primary, &[true, true]);
    assert_eq!(world.active(), Some(0));
    world.hint(id(0), false);
    world.hint(id(0), true);
    assert_eq!(world.active(), Some(0));
}

#[test]
fn groups_are_reported_by_the_new_member_so_often() {
    for mode in [Mode::ActiveBackup, Mode::BalanceRr] {
        let mut world = World::with_members(Config { mode, resend_igmp: 2, ..Config::default() }, &[true, true]);
        let asked = |world: &World| world.log.iter().filter(|(_, effect)| *effect == Effect::ReadGroups).count();
        world.run(ms(1000));
        world.log.clear();
        world.hint(id(0), false);
        assert_eq!(asked(&world), 1, "{mode}");
        let group = |address: &str, igmp_v2| Group { address: address.parse().unwrap(), igmp_v2 };
        let groups = [group("239.1.1.1", false), group("239.1.1.2", true), group("ff05::2", false)];
        let report = |world: &mut World| {
            let now = world.now();
            world.team.handle_groups(&groups, now);
            let effects: Vec<Effect> = std::iter::from_fn(|| world.team.poll_effect()).collect();
            for effect in &effects {
                assert!(matches!(effect, Effect::Transmit { member, .. } if *member == id(1)), "{mode}: {effect:?}");
            }
            effects.len()
        };
        assert_eq!(report(&mut world), 3, "{mode}");
        world.run(ms(199));
        assert_eq!(asked(&world), 1, "{mode}");
        world.run(ms(1));
        assert_eq!(asked(&world), 2, "{mode}");
        assert_eq!((report(&mut world), report(&mut world)), (3, 0), "{mode}");
        world.run(ms(1000));
        assert_eq!(asked(&world), 2, "{mode}");
    }
}

#[test]
fn standby_members_are_heard_if_all_are_active() {
    let config = Config { mode: Mode::ActiveBackup, all_slaves_active: true, ..Config::default() };
    let world = World::with_members(config, &[true, true, false]);
    assert_eq!(world.plan.choose, Choose::One(id(0)));
    let heard: Vec<bool> = world.plan.members.iter().map(|line| line.receive == Receive::Deliver).collect();
    assert_eq!(heard, [true, true, false]);
}
