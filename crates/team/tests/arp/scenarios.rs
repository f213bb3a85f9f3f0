//! What proves that a member works, and what follows when nothing does.

use nicteam_team::{
    ArpAllTargets, ArpMonitoring, ArpValidate, Config, Event, LinkState, Listen, Mode, Subnet, Team, Time,
};
use nicteam_wire::{Mac, Vlan, ethertype, tagged};
use proptest::prelude::*;

use crate::arp::world::{INTERVAL, MAC, World, arp_reply, id, monitor};

use LinkState::{Back, Down, Up};

const TARGET: &str = "10.0.0.9";
const OTHER_TARGET: &str = "10.0.0.8";

/// A frame that is neither ARP nor neighbour discovery.
const DATA: [u8; 60] = {
    let mut frame = [0; 60];
    (frame[5], frame[12], frame[13]) = (0xaa, 0x08, 0x00);
    frame
};

fn validating(validate: ArpValidate, targets: &[&str]) -> ArpMonitoring {
    ArpMonitoring { validate, ..monitor(targets) }
}

/// Lets both members receive a frame each interval, up to this time.
fn run_with(world: &mut World, frame: &[u8], ms: u64) {
    let mut at = world.now().as_nanos() / 1_000_000;
    while at + INTERVAL <= ms {
        at += INTERVAL;
        world.run_to(at - INTERVAL / 2);
        world.receive(0, frame);
        world.receive(1, frame);
    }
    world.run_to(ms);
}

#[test]
fn what_answers_stays_up_and_is_asked_once_an_interval() {
    for validate in ArpValidate::ALL {
        for mode in Mode::ALL.into_iter().filter(|mode| mode.uses_arp()) {
            let mut world = World::new(mode, validating(validate, &[TARGET]));
            world.run_to(10_000);
            assert_eq!(world.states(), [Up, Up], "{mode} {validate}");
            assert!(world.team.carrier());
            let members = if mode == Mode::ActiveBackup { 1 } else { 2 };
            assert_eq!(world.probes().len(), 101 * members, "{mode} {validate}");
        }
    }
}

#[test]
fn a_silent_active_member_is_replaced_after_missed_max_intervals_and_a_half() {
    for (missed_max, found) in [(1, 1200), (2, 1300), (5, 1600)] {
        let arp = ArpMonitoring { missed_max, ..validating(ArpValidate::All, &[TARGET]) };
        let mut world = World::new(Mode::ActiveBackup, arp);
        world.run_to(1000);
        world.pass(0, false);
        world.run_to(found - 1);
        assert_eq!(world.active(), Some(0), "{missed_max}");
        world.run_to(found);
        assert_eq!((world.active(), world.states()), (Some(1), vec![Down, Up]), "{missed_max}");
        assert_eq!(world.team.members()[0].link_failures, 1);
        assert_eq!(world.probes().last(), Some(&(found, 1)), "the new one asks at once");
    }
}

#[test]
fn a_backup_that_hears_no_question_is_down_an_interval_later() {
    let mut world = World::new(Mode::ActiveBackup, validating(ArpValidate::Backup, &[TARGET]));
    world.run_to(1000);
    world.pass(1, false);
    world.run_to(1399);
    assert_eq!(world.states(), [Up, Up]);
    world.run_to(1400);
    assert_eq!(world.states(), [Up, Down]);
    world.pass(1, true);
    world.run_to(1600);
    assert_eq!(world.states(), [Up, Up]);
    assert_eq!(world.active(), Some(0));
}

#[test]
fn without_an_active_member_each_with_carrier_is_tried_in_turn() {
    let mut world = World::new(Mode::ActiveBackup, validating(ArpValidate::All, &[TARGET]));
    world.join("m2", true);
    world.join("m3", false);
    world.run_to(1000);
    world.switch().targets.clear();
    // One after the other becomes active, and is given up.
    world.run_to(3000);
    assert_eq!(world.active(), None);
    assert!(!world.team.carrier());
    let (probes, events) = (world.probes().len(), world.events().len());
    world.run_to(3600);
    let tried: Vec<usize> = world.probes()[probes..].iter().map(|&(_, member)| member).collect();
    assert_eq!(tried[..3], [tried[3], tried[4], tried[5]]);
    let mut round = tried[..3].to_vec();
    round.sort_unstable();
    assert_eq!(round, [0, 1, 2], "m3 has no carrier");
    assert_eq!(world.states().iter().filter(|&&state| state == Back).count(), 1);
    assert_eq!(world.events().len(), events, "{:?}", &world.events()[events..]);
    world.switch().targets = vec![TARGET.parse().unwrap()];
    world.run_to(3900);
    assert!(world.active().is_some() && world.team.carrier(), "{:?}", world.states());
    let failures: u32 = world.team.members().iter().map(|member| member.link_failures).sum();
    assert_eq!(failures, 3, "to be tried in vain is no failure");
}

#[test]
fn the_primary_takes_over_when_it_is_heard_of() {
    let arp = validating(ArpValidate::All, &[TARGET]);
    let mut world = World::new(Mode::ActiveBackup, arp.clone());
    let primary = Some("m0".to_owned());
    let config = Config { mode: Mode::ActiveBackup, miimon_ms: 0, primary, arp, ..Config::default() };
    world.replace(Team::new(config, MAC, Time::ZERO).unwrap());
    let subnet = Subnet { tags: Vec::new(), address: "10.0.0.1".parse().unwrap(), prefix_len: 24 };
    world.team.handle_subnets(vec![subnet]);
    world.join("m0", true);
    world.join("m1", true);
    world.run_to(1000);
    world.pass(0, false);
    world.run_to(1500);
    assert_eq!(world.active(), Some(1));
    world.pass(0, true);
    world.run_to(1700);
    assert_eq!(world.active(), Some(0));
}

#[test]
fn any_frame_counts_unless_it_is_filtered_or_validated() {
    let target_ip = TARGET.parse().unwrap();
    let stranger = arp_reply("10.0.0.77".parse().unwrap(), "10.0.0.1".parse().unwrap());
    let from_target = arp_reply(target_ip, "10.0.0.1".parse().unwrap());
    let for_another = arp_reply(target_ip, "10.0.0.2".parse().unwrap());
    for (validate, frame, counts) in [
        (ArpValidate::None, &DATA[..], true),
        (ArpValidate::Filter, &DATA, false),
        (ArpValidate::Filter, &stranger, true),
        (ArpValidate::FilterActive, &stranger, false),
        (ArpValidate::Active, &DATA, false),
        (ArpValidate::Backup, &DATA, true),
        (ArpValidate::All, &stranger, false),
        (ArpValidate::All, &for_another, false),
        (ArpValidate::All, &from_target, true),
    ] {
        let mut world = World::new(Mode::ActiveBackup, validating(validate, &[TARGET]));
        world.switch().targets.clear();
        // Or each would hear the questions of the other.
        world.switch().floods = false;
        run_with(&mut world, frame, 3000);
        assert_eq!(world.team.members()[0].link_failures == 0, counts, "{validate}: {:?}", world.states());
    }
}

#[test]
fn a_member_that_is_no_backup_anywhere_is_validated_as_an_active_one() {
    for (validate, survives) in [(ArpValidate::Backup, true), (ArpValidate::Active, false), (ArpValidate::All, false)] {
        let mut world = World::new(Mode::BalanceRr, validating(validate, &[TARGET]));
        world.switch().targets.clear();
        run_with(&mut world, &DATA, 1000);
        assert_eq!(world.states(), if survives { [Up, Up] } else { [Down, Down] }, "{validate}");
        world.switch().targets.push(TARGET.parse().unwrap());
        world.run_to(1200);
        assert_eq!(world.states(), [Up, Up], "{validate}");
    }
}

#[test]
fn a_silent_member_of_a_spreading_team_is_left_out_until_it_is_heard_of() {
    let mut world = World::new(Mode::BalanceRr, validating(ArpValidate::All, &[TARGET]));
    world.run_to(1000);
    world.pass(1, false);
    world.run_to(1299);
    assert_eq!(world.states(), [Up, Up]);
    world.run_to(1300);
    assert_eq!(world.states(), [Up, Down]);
    world.pass(1, true);
    world.run_to(1499);
    assert_eq!(world.states(), [Up, Down]);
    world.run_to(1500);
    assert_eq!(world.states(), [Up, Up]);
    let told = |event: &&Event| matches!(event, Event::Member { id: member, .. } if *member == id(1));
    assert_eq!(world.events().into_iter().filter(told).count(), 2);
}

#[test]
fn one_answer_of_several_targets_is_enough_unless_all_are_asked_for() {
    for (all_targets, survives) in [(ArpAllTargets::Any, true), (ArpAllTargets::All, false)] {
        let arp = ArpMonitoring { all_targets, ..validating(ArpValidate::All, &[TARGET, OTHER_TARGET]) };
        let mut world = World::new(Mode::ActiveBackup, arp);
        world.run_to(1000);
        assert_eq!(world.states(), [Up, Up]);
        world.switch().targets.pop();
        world.run_to(3000);
        assert_eq!(world.team.carrier(), survives, "{all_targets}");
    }
}

#[test]
fn without_an_address_answers_prove_nothing_where_they_are_validated() {
    for (validate, survives) in [(ArpValidate::None, true), (ArpValidate::All, false)] {
        let mut world = World::new(Mode::ActiveBackup, validating(validate, &[TARGET]));
        world.team.handle_subnets(Vec::new());
        world.run_to(3000);
        assert_eq!(world.team.carrier(), survives, "{validate}");
    }
}

#[test]
fn a_target_is_asked_by_neighbour_solicitation() {
    let mut world = World::new(Mode::ActiveBackup, validating(ArpValidate::All, &["fe80::9"]));
    assert!(world.team.listens().neighbours && !world.team.listens().arp);
    world.run_to(2000);
    assert_eq!(world.states(), [Up, Up], "the standby hears the questions");
    world.pass(0, false);
    world.run_to(2300);
    assert_eq!(world.active(), Some(1));
    world.switch().targets.clear();
    world.run_to(3500);
    assert!(!world.team.carrier());
}

#[test]
fn the_monitors_take_turns_while_the_team_runs() {
    let by_arp = validating(ArpValidate::All, &[TARGET]);
    let mut world = World::new(Mode::ActiveBackup, by_arp.clone());
    world.run_to(1000);
    world.switch().targets.clear();
    world.run_to(3000);
    assert!(world.states().contains(&Back) && !world.team.carrier());
    let by_carrier = Config { mode: Mode::ActiveBackup, ..Config::default() };
    world.set(by_carrier.clone());
    assert_eq!(world.team.listens(), Listen { pagp: true, ..Listen::default() });
    assert_eq!((world.states(), world.active()), (vec![Up, Up], Some(0)));
    let probes = world.probes().len();
    world.run_to(5000);
    assert_eq!(world.probes().len(), probes);
    world.set(Config { miimon_ms: 0, arp: by_arp, ..by_carrier });
    world.run_to(5200);
    assert_eq!(world.probes().len(), probes + 3, "at once, and then every interval");
    assert_eq!(world.states(), [Up, Up], "each has time to be heard of");
    world.run_to(6000);
    assert_eq!(world.active(), None);
}

#[test]
fn a_team_that_is_not_monitored_by_arp_listens_to_nothing() {
    let mut team = Team::new(Config::default(), Mac::default(), Time::ZERO).unwrap();
    assert_eq!(team.listens(), Listen { pagp: true, ..Listen::default() });
    team.handle_frame(id(0), &DATA, Time::ZERO);
    team.handle_traffic(&[], Time::ZERO);
    assert_eq!(team.poll_effect(), None);
}

proptest! {
    #[test]
    fn no_frame_panics(ends in prop::collection::vec(any::<u8>(), 0..80), kind in 0..3_usize, place in 0..4_usize) {
        let mut world = World::new(Mode::ActiveBackup, validating(ArpValidate::All, &[TARGET, "fe80::9"]));
        let mut frame = vec![0; 12];
        frame.extend([[0x08, 0x06], [0x86, 0xdd], [0x81, 0x00]][kind]);
        frame.extend(ends);
        let now = world.now();
        world.team.handle_frame(id(place), &frame, now);
        prop_assert!(world.team.poll_effect().is_none());
    }
}

#[test]
fn a_target_in_a_vlan_answers_there_and_nowhere_else() {
    let tag = |protocol, tci| Vlan { protocol, tci };
    let (outer, inner) = (tag(ethertype::QINQ, 100), tag(ethertype::VLAN, 5));
    for tags in [vec![], vec![inner], vec![outer, inner]] {
        let mut world = World::new(Mode::ActiveBackup, validating(ArpValidate::All, &[TARGET]));
        let address = "10.0.0.1".parse().unwrap();
        world.team.handle_subnets(vec![Subnet { tags: tags.clone(), address, prefix_len: 24 }]);
        world.run_to(5_000);
        assert_eq!(world.states(), [Up, Up], "{tags:?}");
        // From now on it answers in another VLAN, with a priority in the tag or without.
        world.switch().targets.clear();
        let reply = arp_reply(TARGET.parse().unwrap(), address);
        for wrong in [vec![inner, inner], vec![tag(ethertype::VLAN, 6)], vec![outer]] {
            let frame = tagged(reply.clone(), &wrong);
            let until = world.now().as_nanos() / 1_000_000 + 3_000;
            run_with(&mut world, &frame, until);
            assert_eq!(world.states().iter().filter(|state| **state == Up).count(), 0, "{tags:?} {wrong:?}");
        }
        let mut right = tagged(reply, &tags);
        if !tags.is_empty() {
            right[14] |= 0xe0;
        }
        let until = world.now().as_nanos() / 1_000_000 + 3_000;
        run_with(&mut world, &right, until);
        assert!(world.states().contains(&Up), "{tags:?}");
    }
}
