//! Causes beside links and hashes: programs, buffers, shapers, two hashes one behind the other. And what changes give.

use nicteam_bundles::{Kind, Shaper};
use nicteam_explain::{Place, Side, Sure, Weight};
use nicteam_options::HashPolicy;
use nicteam_plan::hash::{hash, place};
use nicteam_wire::Frame;

use crate::common::{World, to_one_host};

/// Two links of 1 Gbit/s, each with half of the flows and so many bit/s out.
fn world(count: usize, bps: f64) -> World {
    World::aggregate(2).flows(&to_one_host(count, &[0, 1], &[0, 1])).carries(0, 5e6, bps).carries(1, 5e6, bps)
}

#[test]
fn a_send_buffer_that_is_too_small_is_named_with_the_size_that_is_enough() {
    for seed in 1..4_u32 {
        let mut world = world(4 * seed as usize, 100e6);
        for of in &mut world.connections {
            (of.sndbuf_limited_us, of.rtt_us, of.sent_bytes) = (8_000_000, 100_000 * seed, 30_000_000);
        }
        let found = world.notes("send-buffer");
        assert_eq!((found.side, found.sure), (Side::Host, Sure::Likely));
        // 1 Gbit/s for one round trip, twice.
        let enough = 2 * 125_000_000 / 10 * seed;
        assert_eq!(found.changes[0].commands, [format!("sysctl -w net.ipv4.tcp_wmem='4096 16384 {enough}'")]);
        assert!(found.gain.unwrap().contains("it sends 24 Mbit/s now"));
        // The receiver's window is another cause, and a few bytes are none.
        world.connections.iter_mut().for_each(|of| (of.rwnd_limited_us, of.sndbuf_limited_us) = (8_000_000, 0));
        assert_eq!(world.notes("slow-host").side, Side::OtherHost);
        world.connections.iter_mut().for_each(|of| (of.rwnd_limited_us, of.sndbuf_limited_us) = (0, 8_000_000));
        world.connections.iter_mut().for_each(|of| of.sent_bytes = 1000);
        world.is_good();
    }
}

#[test]
fn a_program_that_sends_little_is_told_from_a_link_that_holds_it() {
    for (busy_us, bps) in [(100_000, 20e6), (2_000_000, 100e6), (4_000_000, 400e6)] {
        let mut world = world(6, bps);
        world.connections.iter_mut().for_each(|of| (of.busy_us, of.sent_bytes) = (busy_us, 20_000_000));
        let found = world.notes("idle-sender");
        assert!(found.side == Side::Host && found.sentence.contains("6 connections"), "{}", found.sentence);
        assert!(found.evidence[0].contains(&format!("{} %", busy_us / 100_000)), "{:?}", found.evidence);
        // One that is busy beside them has most of the bytes.
        world.connections[0].busy_us = 9_000_000;
        world.connections[0].sent_bytes = 2_000_000_000;
        world.is_good();
    }
    // It hides nothing that the bundle's own program says.
    let mut world = world(6, 20e6);
    world.connections.iter_mut().for_each(|of| (of.busy_us, of.sent_bytes) = (100, 20_000_000));
    let text = "miimon is 0".to_owned();
    world.bundle.problems = vec![nicteam_bundles::Problem { text, hint: String::new() }];
    assert_eq!(world.finds("problem").sentence, "miimon is 0");
}

#[test]
fn a_shaper_is_named_where_it_stands_and_by_what_it_did() {
    let shaper = |overlimits: u64, drops: u64| Shaper { kind: "tbf".to_owned(), drops, overlimits };
    for (place, before, now, words) in [
        (Some(1), shaper(5, 0), shaper(905, 3), "lets 50 Mbit/s pass"),
        (Some(0), shaper(5, 0), shaper(5, 70), "loses frames: 70"),
        (None, shaper(0, 0), shaper(900, 0), "lets"),
    ] {
        let mut world = world(8, 50e6);
        let plant = |world: &mut World, shaper: Shaper| match place {
            Some(place) => world.bundle.members[place].shapers = vec![shaper],
            None => world.bundle.shapers = vec![shaper],
        };
        plant(&mut world, before.clone());
        world.earlier = Some(world.bundle.clone());
        // It stands there, and does nothing.
        assert_eq!(world.notes("shaper").weight, Weight::Notice);
        plant(&mut world, now);
        let found = world.finds("shaper");
        let device = place.map_or("bond0".to_owned(), |place| format!("eth{place}"));
        assert!(found.sentence.contains(words) && found.sentence.contains(&device), "{}", found.sentence);
        assert_eq!(found.member, place.map(|_| device.clone()));
        assert_eq!(found.changes[0].commands[1], format!("tc qdisc del dev {device} root"));
    }
}

#[test]
fn a_filter_of_another_program_is_told() {
    let mut world = world(8, 50e6);
    world.member(1).filters = vec!["u32".to_owned()];
    let found = world.notes("filter");
    assert_eq!((found.member.as_deref(), found.sure), (Some("eth1"), Sure::Possible));
    assert!(found.evidence.is_empty());
    let silent = world.carries(1, 0.0, 50e6);
    assert!(silent.notes("filter").evidence[0].contains("received nothing"));
}

#[test]
fn a_duplex_mismatch_is_told_from_half_duplex_at_both_ends() {
    for place in 0..2 {
        let mut world = world(8, 5e6);
        let member = world.member(place);
        (member.full_duplex, member.speed_mbps) = (Some(false), Some(1000));
        assert_eq!(world.finds("half-duplex").member, Some(format!("eth{place}")));
        let counted = &mut world.rates.devices.get_mut(&format!("eth{place}")).unwrap().counted;
        counted.late_collisions = 40;
        let found = world.finds("duplex-mismatch");
        assert!(found.side == Side::Link && found.evidence[0].starts_with("40 late collisions"), "{found:#?}");
    }
    // Seen from the end at full duplex: damaged frames, at a speed that knows half duplex.
    let mut world = world(8, 5e6);
    (0..2).for_each(|place| world.member(place).speed_mbps = Some(100));
    world.rates.devices.get_mut("eth1").unwrap().counted.rx_errors = 50;
    let found = world.finds("lossy");
    assert!(found.changes[0].text.contains("a port at half duplex at the other end"), "{found:#?}");
}

/// Flows that this host's hash by ports puts on these places of four links, each sent by its place and received by `received`.
fn chosen(count: usize, is_chosen: fn(usize) -> bool, received: &[usize]) -> World {
    let all = World::aggregate(4).flows(&to_one_host(8 * count, &[0], &[0]));
    let headers = all.headers.clone().unwrap();
    let mut world = World::aggregate(4);
    for (key, seen) in headers.flows {
        let frame = Frame::parse(&seen.head).unwrap();
        let at = place(hash(HashPolicy::Layer34, &frame), 0, 4).unwrap();
        let flows = &mut world.headers.as_mut().unwrap().flows;
        if is_chosen(at) && flows.len() < count {
            let mut seen = seen.clone();
            seen.sent = [(format!("eth{at}"), 30)].into();
            seen.received = [(format!("eth{}", received[flows.len() % received.len()]), 30)].into();
            flows.insert(key, seen);
        }
    }
    world
}

#[test]
fn two_hashes_alike_one_behind_the_other_use_a_part_of_the_links() {
    let is_even: fn(usize) -> bool = |place| place % 2 == 0;
    for count in [16, 24, 48] {
        // What comes: by two of four links, and not by address.
        let mut world = chosen(count, |_| true, &[1, 2]);
        for (link, rx) in [(0, 0.0), (1, 200e6), (2, 200e6), (3, 0.0)] {
            world = world.carries(link, rx, 50e6);
        }
        let found = world.finds("polarised");
        assert_eq!((found.side, found.sure), (Side::Switch, Sure::Likely), "{found:#?}");
        assert!(found.sentence.contains("eth1 and eth2 alone, 2 of 4 links"), "{}", found.sentence);
        assert_eq!(found.changes[0].place, Place::Switch);
        assert!(found.gain.unwrap().contains("of 4 links"));

        // What this host sends: its own hash, computed.
        let mut world = chosen(count, is_even, &[0, 1, 2, 3]);
        for link in 0..4 {
            world = world.carries(link, 50e6, if link % 2 == 0 { 200e6 } else { 0.0 });
        }
        // Of hosts behind it, to several others: another policy tells them apart.
        let found = world.explained().findings;
        assert!(found.iter().all(|of| of.cause != "polarised"), "no policy does better: {found:#?}");
        spread_hosts(&mut world);
        let found = world.finds("polarised");
        assert_eq!((found.side, found.sure), (Side::Host, Sure::Certain), "{found:#?}");
        assert!(found.sentence.contains("by 2 of 4 links: a hash like this host's"), "{}", found.sentence);
        assert!(found.changes[0].commands[0].contains("xmit_hash_policy layer2"), "{found:#?}");
        let gain = found.gain.unwrap();
        assert!(gain.starts_with(&format!("by prediction {count} flows would use ")), "{gain}");
    }
    // Few flows say nothing.
    let mut world = chosen(4, |_| true, &[1, 2]);
    for link in 0..4 {
        world = world.carries(link, 50e6, 50e6);
    }
    assert!(world.explained().findings.iter().all(|of| of.cause != "polarised"));
}

/// Gives each flow another host at each end, so that its hash by ports stays in its half: addresses change by multiples of 8.
fn spread_hosts(world: &mut World) {
    let flows = std::mem::take(&mut world.headers.as_mut().unwrap().flows);
    for (at, (mut key, mut seen)) in flows.into_iter().enumerate() {
        let mac = nicteam_wire::Mac([2, 0, 0, 0, 0, 10 + at as u8]);
        key.local.set_ip("10.0.0.129".parse().unwrap());
        seen.remote_mac = Some(mac);
        seen.head[..6].copy_from_slice(&mac.0);
        // The source address of IPv4: in the hash by ports a bit that this host's modulus does not see.
        seen.head[14 + 15] = 129;
        world.headers.as_mut().unwrap().flows.insert(key, seen);
    }
}

#[test]
fn changes_say_what_they_would_give_by_prediction() {
    // All flows by one full link; each could have more.
    let flows: Vec<_> = (0..12).map(|at| (20 + 2 * at as u8, 9, at % 2, 0)).collect();
    let mut world = World::aggregate(2).policy("layer2").flows(&flows);
    world = world.carries(0, 50e6, 960e6).carries(1, 50e6, 0.0);
    let gain = world.finds("hash").gain.unwrap();
    assert!(gain.starts_with("by prediction 12 flows would use 2 of 2 links"), "{gain}");
    assert!(gain.contains("would send 1.") && gain.ends_with("where it is 960 Mbit/s now"), "{gain}");
    // No link is full: nothing more comes, and the fullest link carries less.
    let idle = world.clone().carries(0, 50e6, 400e6).finds("hash").gain.unwrap();
    assert!(idle.contains("the fullest of them to") && idle.ends_with("where it is 40 % now"), "{idle}");

    // One connection has all links of two teams that stripe.
    let mut world = World::aggregate(2).flows(&to_one_host(1, &[1], &[0])).carries(0, 5e6, 950e6).carries(1, 5e6, 0.0);
    world.connections[0].sent_bytes = 1_100_000_000;
    assert_eq!(world.finds("one-flow").gain, None);
    world.bundle.kind = Kind::Nicteam;
    let gain = world.finds("one-flow").gain.unwrap();
    assert!(gain.contains("2 of 2 links") && gain.contains("would send 1.97 Gbit/s"), "{gain}");

    // A link of another speed.
    let mut world = World::of("balance-xor", 2).flows(&to_one_host(16, &[0, 1], &[0, 1]));
    world = world.carries(0, 5e6, 50e6).carries(1, 5e6, 98e6);
    world.member(1).speed_mbps = Some(100);
    let gain = world.finds("speed").gain.unwrap();
    assert!(gain.contains("would use 2 of 2 links"), "{gain}");
}

#[test]
fn a_team_of_teamd_is_explained_from_what_teamdctl_says() {
    let text = include_str!("../../bundles/tests/data/teamd.json");
    let mut world = World::aggregate(2);
    world.bundle = nicteam_bundles::read::teamdctl("bond0", text).unwrap();
    assert_eq!((world.bundle.kind, world.bundle.mode.as_str()), (Kind::Teamd, "lacp"));
    // Its second port is in another aggregator.
    let found = world.explained().findings;
    let left_out = found.iter().find(|of| of.cause == "not-aggregating").unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(left_out.member.as_deref(), Some("eth1"), "{left_out:#?}");
    // A runner that sends by one port.
    world.bundle.mode = "activebackup".to_owned();
    world.bundle.lacp = None;
    world.bundle.active = Some("eth0".to_owned());
    for member in &mut world.bundle.members {
        (member.lacp, member.up, member.carrier) = (None, true, true);
    }
    world = world.carries(0, 10e6, 980e6).carries(1, 0.0, 0.0);
    let found = world.explained().findings;
    assert!(found.iter().any(|of| of.cause == "active-backup" && of.weight == Weight::Limit), "{found:#?}");
}
