//! What a user changes while the team runs: one rule a test.

use nicteam_team::{
    ActiveSlave, Choose, Config, Effect, Event, HashPolicy, LinkState, MemberSet, Mode, PrimaryReselect, TeamError,
    TimerReason,
};

use crate::control::world::{World, id, link, ms};

use LinkState::{Back, Down, Fail, Up};

fn of(mode: Mode) -> Config {
    Config { mode, ..Config::default() }
}

fn with_delays() -> Config {
    Config { updelay_ms: 500, downdelay_ms: 500, ..of(Mode::BalanceRr) }
}

/// Plans applied since `from` effects.
fn plans_since(world: &World, from: usize) -> usize {
    world.log[from..].iter().filter(|(_, effect)| matches!(effect, Effect::Apply(_))).count()
}

#[test]
fn a_hash_policy_changes_by_one_plan_and_nothing_else() {
    let mut world = World::with_members(of(Mode::BalanceXor), &[true, true]);
    let (generation, from) = (world.plan.generation, world.log.len());
    world.set(Config { xmit_hash_policy: HashPolicy::Layer34, ..of(Mode::BalanceXor) }).unwrap();
    assert_eq!(world.plan.choose, Choose::Hash { policy: HashPolicy::Layer34, table: vec![id(0), id(1)] });
    assert_eq!(world.plan.generation, generation + 1);
    assert_eq!(world.log.len(), from + 1, "{:?}", &world.log[from..]);
}

#[test]
fn the_same_configuration_changes_nothing() {
    let mut world = World::with_members(of(Mode::ActiveBackup), &[true, true]);
    let from = world.log.len();
    world.set(of(Mode::ActiveBackup)).unwrap();
    assert_eq!(world.log.len(), from);
}

#[test]
fn what_contradicts_itself_is_refused_and_nothing_changes() {
    let mut world = World::with_members(of(Mode::BalanceRr), &[true]);
    let refused = world.set(Config { primary: Some("m0".to_owned()), ..of(Mode::BalanceRr) });
    assert!(matches!(refused, Err(TeamError::Config(_))));
    assert_eq!(world.team.config(), &of(Mode::BalanceRr));
}

#[test]
fn every_static_mode_follows_every_other_by_one_plan() {
    for from in Mode::ALL {
        for to in Mode::ALL.into_iter().filter(|&to| from.changes_live(to)) {
            let mut world = World::with_members(of(from), &[true, true]);
            let start = world.log.len();
            world.set(of(to)).unwrap();
            let direct = World::with_members(of(to), &[true, true]);
            assert_eq!(world.plan.choose, direct.plan.choose, "{from} to {to}");
            assert_eq!(world.plan.members, direct.plan.members, "{from} to {to}");
            assert_eq!(plans_since(&world, start), usize::from(from != to), "{from} to {to}");
            assert_eq!(world.carrier, direct.carrier);
        }
    }
}

#[test]
fn leaving_active_backup_ends_its_announcements() {
    let mut world = World::with_members(Config { num_grat_arp: 3, ..of(Mode::ActiveBackup) }, &[true, true]);
    world.team.handle_addresses(vec![(0, [10, 0, 0, 1].into())]);
    world.hint(id(0), false);
    assert_eq!(world.transmissions().len(), 1);
    world.set(of(Mode::Broadcast)).unwrap();
    world.run(ms(1000));
    assert_eq!(world.transmissions().len(), 1);
    assert_eq!(world.plan.choose, Choose::All(MemberSet::one(id(1))));
}

#[test]
fn a_primary_that_is_named_takes_over_and_announces() {
    let failure = |primary: Option<&str>| Config {
        primary: primary.map(str::to_owned),
        primary_reselect: PrimaryReselect::Failure,
        ..of(Mode::ActiveBackup)
    };
    let mut world = World::with_members(failure(None), &[true, true, false]);
    world.team.handle_addresses(vec![(0, [10, 0, 0, 1].into())]);
    world.set(failure(Some("m1"))).unwrap();
    assert_eq!(world.active(), Some(1));
    assert_eq!(world.transmissions().last().map(|(_, by, _)| *by), Some(id(1)));
    world.set(failure(None)).unwrap();
    assert_eq!(world.active(), Some(1), "nobody is preferred, so nobody changes");
    world.set(failure(Some("m2"))).unwrap();
    assert_eq!(world.active(), Some(1), "the primary is down");
    world.hint(id(2), true);
    assert_eq!(world.active(), Some(2), "it was to be forced as soon as it is up");
    world.set(failure(Some("m7"))).unwrap();
    world.join("m7", link(true));
    assert_eq!(world.active(), Some(3), "a primary may be named before it joins");
}

#[test]
fn min_links_shows_in_the_carrier_at_once() {
    let mut world = World::with_members(of(Mode::BalanceRr), &[true, false]);
    world.set(Config { min_links: 2, ..of(Mode::BalanceRr) }).unwrap();
    assert!(!world.carrier);
    world.set(of(Mode::BalanceRr)).unwrap();
    assert!(world.carrier);
}

#[test]
fn miimon_switched_on_reads_the_links_at_once_and_off_never_again() {
    let off = Config { miimon_ms: 0, ..of(Mode::BalanceRr) };
    let mut world = World::with_members(off.clone(), &[true, false]);
    assert_eq!((world.state(1), world.team.poll_timeout()), (Up, None));
    world.set(Config { miimon_ms: 50, ..of(Mode::BalanceRr) }).unwrap();
    assert_eq!(world.state(1), Down);
    assert_eq!(world.team.poll_timeout(), Some((world.now() + ms(50), TimerReason::MiiMon)));
    world.set(Config { miimon_ms: 20, ..of(Mode::BalanceRr) }).unwrap();
    assert_eq!(world.team.poll_timeout(), Some((world.now() + ms(20), TimerReason::MiiMon)));
    world.set(off).unwrap();
    assert_eq!(world.team.poll_timeout(), None);
    assert_eq!(world.state(1), Down, "nobody has looked since");
}

#[test]
fn a_delay_that_runs_ends_when_the_new_one_says() {
    let mut world = World::with_members(with_delays(), &[true, true, false]);
    world.run(ms(500));
    world.hint(id(1), false);
    world.hint(id(2), true);
    assert_eq!((world.state(1), world.state(2)), (Fail, Back));
    world.set(Config { updelay_ms: 200, downdelay_ms: 300, ..with_delays() }).unwrap();
    world.run(ms(199));
    assert_eq!((world.state(1), world.state(2)), (Fail, Back));
    world.run(ms(1));
    assert_eq!((world.state(1), world.state(2)), (Fail, Up));
    world.run(ms(100));
    assert_eq!(world.state(1), Down);
}

#[test]
fn without_miimon_no_delay_runs_on() {
    let mut world = World::with_members(with_delays(), &[true, true, false]);
    world.run(ms(500));
    world.hint(id(1), false);
    world.hint(id(2), true);
    world.set(Config { miimon_ms: 0, ..of(Mode::BalanceRr) }).unwrap();
    assert_eq!((world.state(1), world.state(2)), (Down, Up));
    assert_eq!(world.team.poll_timeout(), None);
}

#[test]
fn a_member_is_activated_until_the_rules_say_otherwise() {
    let mut world = World::with_members(of(Mode::ActiveBackup), &[true, true, false]);
    world.activate(id(1)).unwrap();
    assert_eq!((world.active(), &world.plan.choose), (Some(1), &Choose::One(id(1))));
    let events = world.log.len();
    world.activate(id(1)).unwrap();
    assert_eq!(world.log.len(), events, "it was active already");
    let down = world.activate(id(2)).unwrap_err();
    assert!(matches!(&down, TeamError::NotUp { name, state: Down } if name == "m2"), "{down}");
    assert!(matches!(world.activate(id(5)), Err(TeamError::NoMember(_))));
    world.hint(id(1), false);
    assert_eq!(world.active(), Some(0));
    let told = |event: &Event| world.log.iter().filter(|(_, e)| *e == Effect::Event(event.clone())).count();
    assert_eq!(told(&Event::Active { from: Some(id(0)), to: Some(id(1)) }), 1);
}

#[test]
fn other_modes_have_no_active_member() {
    let mut world = World::with_members(of(Mode::BalanceXor), &[true, true]);
    assert_eq!(world.activate(id(1)), Err(TeamError::NoActiveMember(Mode::BalanceXor)));
}

#[test]
fn a_renamed_member_stays_the_primary() {
    let config = Config { primary: Some("m1".to_owned()), ..of(Mode::ActiveBackup) };
    let mut world = World::with_members(config, &[true, true]);
    world.team.rename_member(id(1), "uplink").unwrap();
    assert_eq!(world.team.config().primary.as_deref(), Some("uplink"));
    world.hint(id(1), false);
    world.hint(id(1), true);
    assert_eq!(world.active(), Some(1));
    assert!(matches!(world.team.rename_member(id(9), "x"), Err(TeamError::NoMember(_))));
}

fn wish(member: Option<&str>, config: Config) -> Config {
    let wish = member.map_or(ActiveSlave::Best, |member| ActiveSlave::Member(member.to_owned()));
    Config { active_slave: Some(wish), ..config }
}

#[test]
fn an_active_slave_that_is_set_becomes_active_once() {
    for mode in [Mode::ActiveBackup, Mode::BalanceTlb, Mode::BalanceAlb] {
        let mut world = World::with_members(of(mode), &[true, true, true]);
        let start = world.log.len();
        world.set(wish(Some("m2"), of(mode))).unwrap();
        assert_eq!((world.active(), plans_since(&world, start)), (Some(2), 1), "{mode}");
        assert_eq!(world.team.config(), &of(mode), "the wish is granted and forgotten");
        let start = world.log.len();
        world.set(wish(Some("m2"), of(mode))).unwrap();
        assert_eq!(world.log.len(), start, "{mode}: it is active already");
        world.set(wish(None, of(mode))).unwrap();
        assert_eq!(world.active(), Some(0), "{mode}: the first of equals is the best");
        world.hint(id(0), false);
        world.hint(id(0), true);
        assert_eq!(world.active(), Some(1), "{mode}: nobody remembers");
    }
}

#[test]
fn an_empty_active_slave_lets_the_primary_in_whatever_primary_reselect_says() {
    let config =
        Config { primary: Some("m1".to_owned()), primary_reselect: PrimaryReselect::Failure, ..of(Mode::ActiveBackup) };
    let mut world = World::with_members(config.clone(), &[true, true]);
    world.set(wish(Some("m0"), config.clone())).unwrap();
    assert_eq!(world.active(), Some(0));
    world.set(wish(None, config)).unwrap();
    assert_eq!(world.active(), Some(1));
}

#[test]
fn an_active_slave_that_cannot_be_is_refused_with_all_that_came_along() {
    let mut world = World::with_members(of(Mode::ActiveBackup), &[true, false]);
    let with = |member: &str| wish(Some(member), Config { min_links: 2, ..of(Mode::ActiveBackup) });
    assert_eq!(world.set(with("m1")), Err(TeamError::NotUp { name: "m1".to_owned(), state: Down }));
    assert_eq!(world.set(with("m7")), Err(TeamError::NotAMember("m7".to_owned())));
    assert_eq!((world.active(), world.team.config()), (Some(0), &of(Mode::ActiveBackup)));
    let mut world = World::with_members(of(Mode::BalanceRr), &[true, true]);
    assert!(matches!(world.set(wish(Some("m1"), of(Mode::BalanceRr))), Err(TeamError::Config(_))));
    world.set(wish(Some("m1"), of(Mode::ActiveBackup))).unwrap();
    assert_eq!(world.active(), Some(1), "with the mode that makes it possible");
}

#[test]
fn a_queue_leaves_by_its_member_while_that_is_up() {
    let queues = |world: &World| world.plan.members.iter().map(|line| line.queue_id).collect::<Vec<_>>();
    // (An aggregate would need a partner; stripe has a world of its own.)
    for mode in Mode::ALL.into_iter().filter(|mode| !matches!(mode, Mode::Ad | Mode::Stripe)) {
        let queue_id = [("m1".to_owned(), 3), ("m2".to_owned(), 1), ("m9".to_owned(), 2)].into();
        let mut world = World::with_members(of(mode), &[true, true, true]);
        let start = world.log.len();
        world.set(Config { queue_id, ..of(mode) }).unwrap();
        if !matches!(mode, Mode::ActiveBackup | Mode::BalanceRr) {
            assert_eq!((queues(&world), plans_since(&world, start)), (vec![0; 3], 0), "{mode}");
            continue;
        }
        assert_eq!((queues(&world), plans_since(&world, start)), (vec![0, 3, 1], 1), "{mode}");
        world.hint(id(1), false);
        assert_eq!(queues(&world), [0, 0, 1], "{mode}");
        world.hint(id(1), true);
        assert_eq!(queues(&world), [0, 3, 1], "{mode}");
        world.team.rename_member(id(2), "uplink").unwrap();
        assert_eq!(world.team.config().queue_id_of("uplink"), 1);
    }
}
