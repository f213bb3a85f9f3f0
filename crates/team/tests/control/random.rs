//! Long random schedules over all modes and options.
//!
//! A failure prints its shortest schedule and writes the seed to
//! `random.regressions` beside this file; `cargo test -p nicteam-team --test
//! control random` then runs it first, until the file is deleted.

use nicteam_team::{
    BondOptions, Config, Duplex, HashPolicy, LinkState, MemberId, MemberLink, Mode, PrimaryReselect, Time,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use crate::control::checks::ADDRESSES;
use crate::control::world::{World, id, ms};

/// What can happen next; places without a member are left alone.
#[derive(Clone, Debug)]
enum Step {
    Join(usize, MemberLink),
    Leave(usize),
    Wire(usize, bool),
    Hint(usize, bool),
    Run(u64),
    Stall(u64),
}

/// Members a team has at most here.
const PLACES: usize = 5;

fn any_link() -> impl Strategy<Value = MemberLink> {
    let speed_mbps = proptest::option::weighted(0.8, prop_oneof![Just(100_u32), Just(1000)]);
    let duplex = proptest::option::weighted(0.8, prop_oneof![Just(Duplex::Half), Just(Duplex::Full)]);
    (any::<bool>(), speed_mbps, duplex).prop_map(|(carrier, speed_mbps, duplex)| MemberLink {
        carrier,
        speed_mbps,
        duplex,
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..PLACES, any_link()).prop_map(|(place, link)| Step::Join(place, link)),
        1 => (0..PLACES).prop_map(Step::Leave),
        3 => (0..PLACES, any::<bool>()).prop_map(|(place, carrier)| Step::Wire(place, carrier)),
        3 => (0..PLACES, any::<bool>()).prop_map(|(place, carrier)| Step::Hint(place, carrier)),
        4 => (0..400_u64).prop_map(Step::Run),
        1 => (0..1000_u64).prop_map(Step::Stall),
    ]
}

fn any_config() -> impl Strategy<Value = Config> {
    let mode = prop_oneof![
        3 => Just(Mode::ActiveBackup),
        1 => Just(Mode::BalanceRr),
        1 => Just(Mode::BalanceXor),
        1 => Just(Mode::Broadcast),
        1 => Just(Mode::BalanceTlb),
        2 => Just(Mode::BalanceAlb),
        2 => Just(Mode::OvsActiveBackup),
        2 => Just(Mode::OvsBalanceSlb),
        1 => Just(Mode::OvsBalanceTcp),
    ];
    let primary = proptest::option::of((0..PLACES).prop_map(|place| format!("m{place}")));
    let reselect =
        prop_oneof![Just(PrimaryReselect::Always), Just(PrimaryReselect::Better), Just(PrimaryReselect::Failure)];
    let prio = proptest::option::of((0..PLACES, -2..3_i32).prop_map(|(place, prio)| (format!("m{place}"), prio)));
    let delay_ms = || prop_oneof![Just(0_u32), (1..6_u32).prop_map(|n| n * 50)];
    let intervals = (prop_oneof![1 => Just(0_u32), 6 => Just(50)], prop_oneof![Just(0), 1..20_000_u32]);
    (mode, primary, reselect, intervals, delay_ms(), delay_ms(), 0..4_u32, (0..4_u32, prio), delay_ms()).prop_map(
        |(mode, primary, primary_reselect, intervals, up, down, min_links, (num_grat_arp, prio), notif)| {
            let miimon_ms = if mode.traits().needs_miimon { 50 } else { intervals.0 };
            let rebalance_interval_ms = if mode.traits().openvswitch { intervals.1 } else { 10_000 };
            Config {
                bond: BondOptions { rebalance_interval_ms, ..BondOptions::default() },
                mode,
                xmit_hash_policy: HashPolicy::Layer34,
                primary: primary.filter(|_| mode.uses_primary()),
                primary_reselect,
                miimon_ms,
                updelay_ms: if miimon_ms > 0 { up } else { 0 },
                downdelay_ms: if miimon_ms > 0 { down } else { 0 },
                peer_notif_delay_ms: if miimon_ms > 0 { notif } else { 0 },
                min_links,
                num_grat_arp,
                all_slaves_active: num_grat_arp == 2,
                prio: prio.filter(|_| mode == Mode::ActiveBackup).into_iter().collect(),
                ..Config::default()
            }
        },
    )
}

fn take(world: &mut World, step: &Step) {
    let is_member = |place: usize| world.members.contains_key(&id(place));
    match *step {
        Step::Join(place, link) => {
            let name = format!("m{place}");
            if world.team.members().iter().all(|member| member.name != name) {
                world.join(&name, link);
            }
        }
        Step::Leave(place) if is_member(place) => world.leave(id(place)),
        Step::Wire(place, carrier) if is_member(place) => world.wire(id(place), carrier),
        Step::Hint(place, carrier) if is_member(place) => world.hint(id(place), carrier),
        Step::Leave(_) | Step::Wire(..) | Step::Hint(..) => {}
        Step::Run(wait_ms) => world.run(ms(wait_ms)),
        Step::Stall(wait_ms) => world.stall(ms(wait_ms)),
    }
}

fn settings() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(settings())]

    /// The checks of `checks` hold after every step.
    #[test]
    fn every_check_holds(config in any_config(), steps in proptest::collection::vec(any_step(), 0..60)) {
        let mut world = World::new(config);
        let address = |place: usize| (place as u16, [10, 0, 0, place as u8].into());
        world.team.handle_addresses((0..ADDRESSES).map(address).collect());
        steps.iter().for_each(|step| take(&mut world, step));
    }

    /// Once the wires rest, all delays pass and every member is what its wire is.
    #[test]
    fn rest_brings_truth(config in any_config(), steps in proptest::collection::vec(any_step(), 0..40)) {
        let mut world = World::new(config);
        steps.iter().for_each(|step| take(&mut world, step));
        world.run(ms(1000));
        for member in world.team.members() {
            let up = world.members[&member.id].link.carrier || world.team.config().miimon_ms == 0;
            prop_assert_eq!(member.state, if up { LinkState::Up } else { LinkState::Down });
        }
        let generation = world.team.plan().generation;
        world.run(ms(1000));
        prop_assert_eq!(world.team.plan().generation, generation, "a team at rest makes no plans");
    }

    /// The states agree with a model that knows no states: what was last told,
    /// since when, and which of up and down was reached last.
    #[test]
    fn delays_are_as_the_model_says(
        (updelay_ms, downdelay_ms) in (0..300_u32, 0..300_u32),
        steps in proptest::collection::vec(any_step(), 0..60),
    ) {
        let config = Config { mode: Mode::BalanceXor, miimon_ms: 70, updelay_ms, downdelay_ms, ..Config::default() };
        let mut world = World::new(config);
        // With a member that never fails updelay always counts.
        let anchor = world.join("anchor", crate::control::world::link(true));
        for step in &steps {
            let spares_the_anchor = !matches!(*step, Step::Leave(0) | Step::Wire(0, _) | Step::Hint(0, _));
            if spares_the_anchor {
                take(&mut world, step);
            }
            for member in world.team.members().iter().filter(|member| member.id != anchor) {
                prop_assert_eq!(member.state, model(&world, member.id), "{:?}", world.told(member.id));
            }
        }
    }
}

/// The state of a member by all it was told.
fn model(world: &World, member: MemberId) -> LinkState {
    let config = world.team.config();
    let told = world.told(member);
    let (mut since, mut carrier): (Time, bool) = told[0];
    let mut up = carrier && config.updelay_ms == 0;
    for &(now, is) in told {
        if is != carrier {
            (since, carrier) = (now, is);
        }
        let rest_ms = if carrier { config.updelay_ms } else { config.downdelay_ms };
        if now.since(since) >= ms(rest_ms.into()) {
            up = carrier;
        }
    }
    match (up, carrier) {
        (true, true) => LinkState::Up,
        (true, false) => LinkState::Fail,
        (false, false) => LinkState::Down,
        (false, true) => LinkState::Back,
    }
}
