//! Which members may send, and which one is the active one.

use nicteam_team::{Choose, Effect, LinkState, MemberId, Team, TeamError, Time};

use super::{Alone, alone, config, guest, id, link, member, ms};

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
fn no_groups_are_reported() {
    let mut world = alone("ovs-active-backup", &[("resend_igmp", "2")], &[true, true]);
    world.hint(id(0), false);
    world.run(ms(1000));
    assert_eq!(world.team.active(), Some(id(1)));
    assert!(world.log.iter().all(|(_, effect)| *effect != Effect::ReadGroups), "{:?}", world.log);
}
