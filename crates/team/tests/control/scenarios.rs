//! One rule a test.

use std::net::IpAddr;

use nicteam_team::{
    Choose, Config, Duplex, Effect, HashPolicy, LinkState, MAX_MEMBERS, MemberLink, MemberSet, Mode, Plan, PlanMember,
    PrimaryReselect, Receive, Team, TeamError, Time, TimerReason,
};
use nicteam_wire::{Arp, Frame, Mac, Ndisc, Vlan};

use crate::control::world::{MAC, World, id, link, ms};

use LinkState::{Back, Down, Fail, Up};

fn active_backup() -> Config {
    Config { mode: Mode::ActiveBackup, ..Config::default() }
}

fn with_delays(mode: Mode) -> Config {
    Config { mode, updelay_ms: 200, downdelay_ms: 300, ..Config::default() }
}

fn with_primary(primary_reselect: PrimaryReselect) -> Config {
    Config { primary: Some("m1".to_owned()), primary_reselect, ..active_backup() }
}

#[test]
fn a_new_team_has_nothing() {
    let mut team = Team::new(Config::default(), MAC, Time::ZERO).unwrap();
    assert_eq!(team.plan(), &Plan::nobody());
    assert!(!team.carrier());
    assert_eq!(team.members(), []);
    assert_eq!((team.poll_timeout(), team.poll_effect()), (None, None));
}

#[test]
fn a_configuration_that_contradicts_itself_is_refused() {
    let config = Config { primary: Some("m0".to_owned()), ..Config::default() };
    assert!(matches!(Team::new(config, MAC, Time::ZERO), Err(TeamError::Config(_))));
}

/// The shares that Cisco documents for hashes of three bits, over the members that are up.
#[test]
fn buckets_are_assigned_to_the_members_in_turn() {
    for (members, shares) in [
        (1, &[8][..]),
        (2, &[4, 4]),
        (3, &[3, 3, 2]),
        (4, &[2, 2, 2, 2]),
        (5, &[2, 2, 2, 1, 1]),
        (6, &[2, 2, 1, 1, 1, 1]),
        (7, &[2, 1, 1, 1, 1, 1, 1]),
        (8, &[1; 8]),
    ] {
        let config = Config { mode: Mode::BalanceXor, hash_buckets: 8, ..Config::default() };
        // One more, which is down: its buckets are the others'.
        let mut up = vec![true; members];
        up.insert(1, false);
        let world = World::with_members(config, &up);
        let Choose::Hash { table, .. } = &world.team.plan().choose else { panic!("{:?}", world.team.plan()) };
        let share = |place| table.iter().filter(|member| **member == id(place)).count();
        let found: Vec<usize> = (0..=members).filter(|place| *place != 1).map(share).collect();
        assert_eq!((table.len(), found.as_slice()), (8, shares));
    }
}

#[test]
fn each_mode_has_its_plan() {
    let (first, third) = (id(0), id(2));
    let table = vec![first, third];
    let cases = [
        (Mode::ActiveBackup, Choose::One(first)),
        (Mode::BalanceXor, Choose::Hash { policy: HashPolicy::Layer34, table: table.clone() }),
        (Mode::Broadcast, Choose::All(MemberSet::from_iter(table.clone()))),
        (Mode::BalanceRr, Choose::RoundRobin { members: table, packets_per_member: 7, igmp: first }),
    ];
    for (mode, choose) in cases {
        let packets_per_slave = if mode == Mode::BalanceRr { 7 } else { 1 };
        let config = Config { mode, xmit_hash_policy: HashPolicy::Layer34, packets_per_slave, ..Config::default() };
        let world = World::with_members(config, &[true, false, true]);
        assert_eq!(world.team.plan().choose, choose);
        let deaf = |line: &PlanMember| line.receive == Receive::Drop;
        let expected = if mode == Mode::ActiveBackup { [false, true, true] } else { [false, true, false] };
        assert!(world.team.plan().members.iter().map(deaf).eq(expected), "{mode:?}");
        assert!(world.team.members().iter().map(|member| !member.active).eq(expected), "{mode:?}");
        let mut dead = World::with_members(Config { mode, ..Config::default() }, &[true]);
        dead.hint(first, false);
        assert_eq!(dead.team.plan().choose, Choose::Nobody);
    }
}

#[test]
fn a_plan_is_applied_only_if_it_changed() {
    let mut world = World::with_members(active_backup(), &[true, true, true]);
    let (generation, effects) = (world.team.plan().generation, world.log.len());
    world.hint(id(2), false);
    world.hint(id(2), true);
    world.hint(id(2), true);
    assert_eq!(world.team.plan().generation, generation);
    assert!(!world.log[effects..].iter().any(|(_, effect)| matches!(effect, Effect::Apply(_))));
    world.hint(id(0), false);
    assert_eq!(world.team.plan().generation, generation + 1);
}

#[test]
fn carrier_is_read_every_miimon() {
    let mut world = World::with_members(Config { miimon_ms: 50, ..Config::default() }, &[true, true]);
    assert_eq!(world.team.poll_timeout(), Some((Time::from_millis(50), TimerReason::MiiMon)));
    world.run(ms(30));
    world.wire(id(0), false);
    world.run(ms(19));
    assert_eq!(world.state(0), Up, "not seen yet");
    world.run(ms(1));
    assert_eq!(world.state(0), Down);
    world.run(ms(500));
    let reads = world.log.iter().filter(|(_, effect)| *effect == Effect::ReadLinks).count();
    assert_eq!(reads, 11);
    world.leave(id(0));
    world.leave(id(1));
    assert_eq!(world.team.poll_timeout(), None, "nobody to read");
}

#[test]
fn a_hint_acts_at_once() {
    let mut world = World::with_members(active_backup(), &[true, true]);
    world.hint(id(0), false);
    assert_eq!((world.state(0), world.active(), world.now()), (Down, Some(1), Time::ZERO));
}

#[test]
fn without_miimon_every_member_is_up() {
    let config = Config { miimon_ms: 0, ..active_backup() };
    let mut world = World::with_members(config, &[false, true]);
    world.hint(id(1), false);
    assert_eq!((world.state(0), world.state(1), world.active()), (Up, Up, Some(0)));
    assert_eq!(world.team.poll_timeout(), None);
    assert!(!world.team.members()[1].link.carrier, "what was said is still shown");
}

#[test]
fn downdelay_keeps_a_failing_member_and_updelay_a_returning_one_out() {
    for mode in [Mode::ActiveBackup, Mode::BalanceXor] {
        let mut world = World::with_members(with_delays(mode), &[true]);
        world.join("m1", link(true));
        assert_eq!(world.state(1), Back, "a member joins with its updelay");
        world.run(ms(200));
        assert_eq!(world.state(1), Up);

        world.hint(id(1), false);
        assert_eq!((world.state(1), world.team.plan().choose.clone()), (Fail, world.plan.choose.clone()));
        world.run(ms(299));
        assert_eq!(world.state(1), Fail);
        assert!(world.team.poll_timeout().unwrap().0 == world.now() + ms(1));
        world.run(ms(1));
        assert_eq!(world.state(1), Down);

        world.hint(id(1), true);
        assert_eq!(world.state(1), Back);
        world.run(ms(199));
        assert_eq!(world.state(1), Back);
        world.run(ms(1));
        assert_eq!(world.state(1), Up);
        assert_eq!(world.team.members()[1].link_failures, 1);
    }
}

#[test]
fn a_delay_starts_anew() {
    let mut world = World::with_members(with_delays(Mode::BalanceXor), &[true, false]);
    world.hint(id(0), false);
    world.run(ms(250));
    world.hint(id(0), true);
    assert_eq!(world.state(0), Up, "back before downdelay: nothing happened");
    assert_eq!(world.team.members()[0].link_failures, 0);
    world.hint(id(0), false);
    world.run(ms(250));
    assert_eq!(world.state(0), Fail, "its downdelay counts from the second loss");
    world.hint(id(0), true);

    world.hint(id(1), true);
    world.run(ms(150));
    world.hint(id(1), false);
    assert_eq!((world.state(1), world.team.members()[1].link_failures), (Down, 1));
    world.hint(id(1), true);
    world.run(ms(199));
    assert_eq!(world.state(1), Back);
    world.run(ms(1));
    assert_eq!(world.state(1), Up);
}

#[test]
fn a_delay_ends_with_a_reading() {
    let mut world = World::with_members(Config { miimon_ms: 10_000, ..with_delays(Mode::BalanceXor) }, &[true]);
    world.hint(id(0), false);
    world.wire(id(0), true);
    world.run(ms(300));
    assert_eq!(world.state(0), Up, "the cable was back when downdelay ended");
    world.join("m1", link(true));
    world.wire(id(1), false);
    world.run(ms(200));
    assert_eq!(world.state(1), Down, "the cable was gone when updelay ended");
}

#[test]
fn updelay_does_not_count_while_nobody_is_usable() {
    for mode in [Mode::ActiveBackup, Mode::BalanceRr] {
        let config = Config { downdelay_ms: 0, ..with_delays(mode) };
        let mut world = World::with_members(config, &[true, false]);
        assert_eq!(world.state(0), Up, "the first to join");
        world.hint(id(0), false);
        world.hint(id(1), true);
        assert_eq!(world.state(1), Up);
        world.hint(id(0), true);
        assert_eq!(world.state(0), Back, "now somebody is");
    }
}

#[test]
fn a_returning_member_is_taken_early() {
    for (mode, states) in [
        // The nearest, where one is the active one; else the first.
        (Mode::ActiveBackup, [Down, Back, Up]),
        (Mode::BalanceTlb, [Down, Back, Up]),
        (Mode::BalanceXor, [Down, Up, Back]),
    ] {
        let config = Config { downdelay_ms: 0, ..with_delays(mode) };
        let mut world = World::with_members(config, &[true, false, false]);
        world.hint(id(2), true);
        world.run(ms(10));
        world.hint(id(1), true);
        world.run(ms(10));
        world.hint(id(0), false);
        assert_eq!([0, 1, 2].map(|place| world.state(place)), states, "{mode:?}");
        let up = states.iter().position(|state| *state == Up).unwrap();
        world.leave(id(up));
        assert_eq!(world.state(3 - up), Up, "{mode:?}: also when the last one left");
    }
}

#[test]
fn one_that_fails_is_not_usable_but_may_still_be_the_active_one() {
    for (mode, state) in [(Mode::ActiveBackup, Back), (Mode::BalanceTlb, Up), (Mode::BalanceXor, Up)] {
        let mut world = World::with_members(with_delays(mode), &[true, false]);
        world.hint(id(0), false);
        world.hint(id(1), true);
        assert_eq!((world.state(0), world.state(1)), (Fail, state), "{mode:?}");
    }
}

#[test]
fn of_several_that_return_together_one_is_taken_early() {
    for mode in [Mode::ActiveBackup, Mode::BalanceTlb, Mode::BalanceXor] {
        let mut world = World::with_members(with_delays(mode), &[false, false]);
        world.wire(id(0), true);
        world.wire(id(1), true);
        world.run(ms(100));
        assert_eq!((world.state(0), world.state(1)), (Up, Back), "{mode:?}");
    }
}

#[test]
fn what_links_say_that_are_read_together_counts_together() {
    let config = Config { updelay_ms: 0, downdelay_ms: 0, ..with_delays(Mode::ActiveBackup) };
    let mut world = World::with_members(config, &[true, false, true]);
    world.wire(id(0), false);
    world.wire(id(1), true);
    world.log.clear();
    world.run(ms(100));
    assert_eq!(world.active(), Some(1), "the first that is up");
    let plans = world.log.iter().filter(|(_, effect)| matches!(effect, Effect::Apply(_)));
    assert_eq!(plans.count(), 1, "and nobody before it");
}

#[test]
fn a_failing_active_member_stays_until_it_is_down() {
    let mut world = World::with_members(Config { updelay_ms: 0, ..with_delays(Mode::ActiveBackup) }, &[true, true]);
    world.hint(id(0), false);
    assert_eq!((world.state(0), world.active()), (Fail, Some(0)));
    assert_eq!(world.plan.members[0].receive, Receive::Deliver);
    world.run(ms(300));
    assert_eq!((world.state(0), world.active()), (Down, Some(1)));
}

#[test]
fn a_failing_member_is_not_newly_chosen() {
    let mut world = World::with_members(Config { updelay_ms: 0, ..with_delays(Mode::ActiveBackup) }, &[true, true]);
    world.hint(id(0), false);
    world.run(ms(100));
    world.hint(id(1), false);
    world.run(ms(200));
    assert_eq!((world.state(1), world.active()), (Fail, None));
    world.hint(id(1), true);
    assert_eq!(world.active(), Some(1));
}

#[test]
fn the_active_member_stays_when_another_comes_back() {
    let mut world = World::with_members(active_backup(), &[true, true, true]);
    world.hint(id(0), false);
    world.hint(id(0), true);
    assert_eq!(world.active(), Some(1));
    world.join("m3", link(true));
    assert_eq!(world.active(), Some(1));
    world.leave(id(1));
    assert_eq!(world.active(), Some(0));
}

#[test]
fn primary_reselect_decides_about_a_primary_that_comes_back() {
    let slow = MemberLink { carrier: true, speed_mbps: Some(100), duplex: Some(Duplex::Full) };
    let half = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Half) };
    let fast = MemberLink { carrier: true, speed_mbps: Some(2500), duplex: Some(Duplex::Half) };
    let unknown = MemberLink { carrier: true, speed_mbps: None, duplex: None };
    let zero = MemberLink { carrier: true, speed_mbps: Some(0), duplex: Some(Duplex::Full) };
    // The member that took over meanwhile, the primary, the policy, who is active then.
    let cases = [
        (link(true), link(true), PrimaryReselect::Always, 1),
        (link(true), slow, PrimaryReselect::Always, 1),
        (link(true), link(true), PrimaryReselect::Better, 0),
        (slow, link(true), PrimaryReselect::Better, 1),
        (link(true), slow, PrimaryReselect::Better, 0),
        (half, link(true), PrimaryReselect::Better, 1),
        (link(true), half, PrimaryReselect::Better, 0),
        (link(true), fast, PrimaryReselect::Better, 1),
        (link(true), unknown, PrimaryReselect::Better, 1),
        (link(true), zero, PrimaryReselect::Better, 1),
        (unknown, link(true), PrimaryReselect::Better, 0),
        (unknown, unknown, PrimaryReselect::Better, 0),
        (slow, link(true), PrimaryReselect::Failure, 0),
    ];
    for (other, primary, reselect, expected) in cases {
        let mut world = World::new(with_primary(reselect));
        world.join("m0", other);
        world.join("m1", primary);
        world.hint(id(1), false);
        assert_eq!(world.active(), Some(0));
        world.hint(id(1), true);
        assert_eq!(world.active(), Some(expected), "{other:?} {primary:?} {reselect:?}");
        world.hint(id(0), false);
        assert_eq!(world.active(), Some(1), "a failure lets it in under every policy");
    }
}

#[test]
fn a_primary_that_joins_takes_over_whatever_the_policy() {
    for reselect in [PrimaryReselect::Always, PrimaryReselect::Better, PrimaryReselect::Failure] {
        let mut world = World::with_members(with_primary(reselect), &[true]);
        assert_eq!(world.active(), Some(0));
        world.join("m1", link(true));
        assert_eq!(world.active(), Some(1), "{reselect:?}");

        let mut world = World::with_members(Config { updelay_ms: 200, ..with_primary(reselect) }, &[true, true]);
        assert_eq!((world.state(1), world.active()), (Back, Some(0)));
        world.run(ms(200));
        assert_eq!(world.active(), Some(1), "{reselect:?}: once its updelay has passed");
    }
}

#[test]
fn min_links_holds_carrier_back() {
    for (mode, min_links, needed) in
        [(Mode::BalanceXor, 0, 1), (Mode::BalanceXor, 2, 2), (Mode::ActiveBackup, 3, 3), (Mode::Broadcast, 1, 1)]
    {
        let config = Config { min_links, downdelay_ms: 100, ..Config { mode, ..Config::default() } };
        let mut world = World::with_members(config, &[false, false, false]);
        assert!(!world.team.carrier());
        for place in 0..3 {
            world.hint(id(place), true);
            assert_eq!(world.team.carrier(), place + 1 >= needed, "{mode:?} {min_links}");
        }
        world.hint(id(0), false);
        assert!(world.team.carrier(), "a failing member counts");
        world.run(ms(100));
        assert_eq!(world.team.carrier(), needed <= 2);
        world.leave(id(1));
        assert_eq!(world.team.carrier(), needed <= 1);
    }
}

fn addresses() -> Vec<(u16, IpAddr)> {
    vec![(0, "10.0.0.1".parse().unwrap()), (5, "10.5.0.1".parse().unwrap()), (7, "2001:db8::1".parse().unwrap())]
}

/// A team of two with addresses, the first member's announcements over.
fn announcing(config: Config) -> World {
    let mut world = World::new(config);
    world.team.handle_addresses(addresses());
    world.join("m0", link(true));
    world.join("m1", link(true));
    world.run(ms(10_000));
    world.log.clear();
    world
}

#[test]
fn a_failover_is_announced_as_often_as_asked() {
    // num_grat_arp, peer_notif_delay, miimon, and when the rounds are sent, milliseconds after.
    let cases: [(u32, u32, u32, &[u64]); 5] = [
        (1, 0, 100, &[0]),
        (3, 0, 100, &[0, 100, 200]),
        (3, 250, 100, &[0, 250, 500]),
        (0, 0, 100, &[]),
        (3, 0, 0, &[0]),
    ];
    for (num_grat_arp, peer_notif_delay_ms, miimon_ms, rounds) in cases {
        let mut world = announcing(Config { num_grat_arp, peer_notif_delay_ms, miimon_ms, ..active_backup() });
        let failover = world.now();
        world.leave(id(0));
        world.run(ms(2000));
        let expected: Vec<_> = rounds.iter().map(|&after| (failover + ms(after), id(1), 3)).collect();
        assert_eq!(world.transmissions(), expected);
    }
}

#[test]
fn the_new_active_member_announces_and_the_old_one_stops() {
    let mut world = announcing(Config { num_grat_arp: 5, ..active_backup() });
    let start = world.now();
    world.hint(id(0), false);
    world.run(ms(150));
    world.hint(id(0), true);
    world.hint(id(1), false);
    world.run(ms(50));
    world.hint(id(0), false);
    world.run(ms(1000));
    let expected = [(start, id(1), 3), (start + ms(100), id(1), 3), (start + ms(150), id(0), 3)];
    assert_eq!(world.transmissions(), expected);
}

#[test]
fn a_plan_is_applied_before_it_is_announced() {
    let mut world = announcing(active_backup());
    world.hint(id(0), false);
    let place = |wanted: fn(&Effect) -> bool| world.log.iter().position(|(_, effect)| wanted(effect)).unwrap();
    assert!(place(|e| matches!(e, Effect::Apply(_))) < place(|e| matches!(e, Effect::Transmit { .. })));
}

#[test]
fn announcements_wait_for_carrier() {
    let mut world = World::new(Config { min_links: 2, num_grat_arp: 2, ..active_backup() });
    world.team.handle_addresses(addresses());
    world.join("m0", link(true));
    world.run(ms(950));
    assert_eq!(world.transmissions(), []);
    world.join("m1", link(true));
    world.run(ms(1000));
    let rounds = [(Time::from_millis(950), id(0), 3), (Time::from_millis(1050), id(0), 3)];
    assert_eq!(world.transmissions(), rounds);
}

#[test]
fn other_modes_announce_nothing() {
    for mode in [Mode::BalanceRr, Mode::BalanceXor, Mode::Broadcast] {
        let mut world = announcing(Config { mode, num_grat_arp: 5, ..Config::default() });
        world.hint(id(0), false);
        world.run(ms(1000));
        assert_eq!(world.transmissions(), []);
    }
}

#[test]
fn announcements_carry_address_mac_and_vlan() {
    let mut world = announcing(active_backup());
    let mac = Mac([2, 0, 0, 0, 0, 0xbb]);
    world.team.handle_mac(mac);
    world.hint(id(0), false);
    let frames: Vec<&[u8]> = world.log.iter().filter_map(|(_, effect)| frame_of(effect)).collect();
    let [untagged, tagged, six] = frames[..] else { panic!("{frames:?}") };
    for (bytes, vlan, ip) in [(untagged, None, [10, 0, 0, 1]), (tagged, Vlan::customer(5), [10, 5, 0, 1])] {
        let frame = Frame::parse_untagged(bytes).unwrap();
        assert_eq!((frame.dst(), frame.src(), frame.vlan()), (Mac::BROADCAST, mac, vlan));
        assert_eq!(Arp::decode(frame.payload()), Ok(Arp::gratuitous(mac, ip.into())));
    }
    let frame = Frame::parse_untagged(six).unwrap();
    assert_eq!((frame.dst(), frame.src()), (Mac([0x33, 0x33, 0, 0, 0, 1]), mac));
    assert_eq!(frame.vlan(), Vlan::customer(7));
    assert_eq!(Ndisc::decode(frame.payload()), Ok(Ndisc::unsolicited(mac, "2001:db8::1".parse().unwrap())));
}

fn frame_of(effect: &Effect) -> Option<&[u8]> {
    match effect {
        Effect::Transmit { frame, .. } => Some(frame),
        _ => None,
    }
}

#[test]
fn a_free_place_is_given_again() {
    let mut world = World::with_members(Config::default(), &[true, true, true]);
    world.leave(id(1));
    assert_eq!(world.join("other", link(true)), id(1));
    assert_eq!(world.join("last", link(true)), id(3));
}

#[test]
fn a_member_that_left_leaves_no_timer() {
    let mut world = World::with_members(with_delays(Mode::BalanceXor), &[true, true]);
    world.hint(id(0), false);
    world.leave(id(0));
    world.join("new", link(false));
    assert_eq!(world.state(0), Down);
    world.leave(id(0));
    world.leave(id(1));
    assert_eq!(world.team.poll_timeout(), None);
}

#[test]
fn refused_changes_change_nothing() {
    let mut world = World::with_members(active_backup(), &[true; MAX_MEMBERS]);
    let before = format!("{:?}", world.team);
    let now = Time::from_millis(77);
    assert_eq!(world.team.add_member("m3", link(true), now), Err(TeamError::Duplicate("m3".to_owned())));
    assert_eq!(world.team.add_member("m99", link(true), now), Err(TeamError::Full));
    assert_eq!(format!("{:?}", world.team), before);
    world.leave(id(5));
    let before = format!("{:?}", world.team);
    assert_eq!(world.team.remove_member(id(5), now), Err(TeamError::NoMember(id(5))));
    assert_eq!(world.team.handle_link(id(5), link(false), now), Err(TeamError::NoMember(id(5))));
    assert_eq!(format!("{:?}", world.team), before);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "before the effects of the last one were polled")]
fn a_change_before_the_drain_is_a_panic() {
    let mut team = Team::new(Config::default(), MAC, Time::ZERO).unwrap();
    team.add_member("m0", link(true), Time::ZERO).unwrap();
    team.handle_timeout(Time::ZERO);
}

#[test]
fn the_end_of_time_is_no_trap() {
    let mut world = World::with_members(with_delays(Mode::ActiveBackup), &[true, true]);
    world.team.handle_timeout(Time::from_nanos(u64::MAX));
    assert_eq!(world.team.poll_effect(), Some(Effect::ReadLinks));
    assert_eq!(world.team.poll_effect(), None);
}
