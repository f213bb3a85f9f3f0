//! What LACP changes.

use nicteam_team::buckets::BUCKETS;
use nicteam_team::openvswitch::Negotiation;
use nicteam_team::{Choose, Effect, Identity, LinkState, MemberId, Receive, Time};
use nicteam_wire::{Frame, ethertype};
use proptest::prelude::*;

use super::{Pair, alone, bond, buckets, config, frame, guest, id, member, ms, pair, shares};

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
        let identity = Identity { number: seed.into(), secret: [1; 32] };
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
