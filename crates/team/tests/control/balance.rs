//! balance-tlb and balance-alb: who sends with which address, where buckets go,
//! what clients are told.

use std::net::IpAddr;

use nicteam_team::balance::{Eligible, Number};
use nicteam_team::{Balance, Choose, Config, Effect, HashPolicy, MemberId, MemberLink, Mode, Receive};
use nicteam_wire::{Arp, Frame, Mac, Ndisc, NdiscKind, ethertype, learning_packet};

use crate::control::world::{MAC, World, id, link, member_mac, ms};

const OURS: [u8; 4] = [10, 0, 0, 1];

fn config(mode: Mode) -> Config {
    Config { mode, ..Config::default() }
}

fn world(config: Config, members: usize) -> World {
    let mut world = World::with_members(config, &vec![true; members]);
    world.team.handle_addresses(vec![(0, OURS.into())]);
    world.sent();
    world
}

fn balance(world: &World) -> &Balance {
    match &world.plan.choose {
        Choose::Balance(balance) => balance,
        other => panic!("{other:?}"),
    }
}

fn client(number: u8) -> ([u8; 4], Mac) {
    ([10, 0, 0, number], Mac([2, 0, 0, 0, 9, number]))
}

/// The stack answers a client's question.
fn reply(number: u8) -> Vec<u8> {
    let (ip, mac) = client(number);
    let arp =
        Arp { operation: Arp::REPLY, sender_mac: MAC, sender_ip: OURS.into(), target_mac: mac, target_ip: ip.into() };
    arp.frame(mac, MAC, None)
}

/// The stack asks everybody for a client.
fn request(number: u8) -> Vec<u8> {
    let target_ip = client(number).0.into();
    let (operation, target_mac) = (Arp::REQUEST, Mac::default());
    Arp { operation, sender_mac: MAC, sender_ip: OURS.into(), target_mac, target_ip }.frame(Mac::BROADCAST, MAC, None)
}

fn arp(frame: &[u8]) -> Option<Arp> {
    let frame = Frame::parse(frame).unwrap();
    (frame.ethertype() == ethertype::ARP).then(|| Arp::decode(frame.payload()).unwrap())
}

/// What clients are told now: whom, which address, by which member.
fn told(world: &mut World) -> Vec<(IpAddr, Mac, usize)> {
    let say = |(member, frame): (MemberId, Vec<u8>)| {
        arp(&frame).map(|arp| (arp.target_ip.into(), arp.sender_mac, member.index()))
    };
    world.sent().into_iter().filter_map(say).collect()
}

/// Each of the clients 2 to 5 gets its answer; the members that gave them.
fn answer_four(world: &mut World) -> Vec<usize> {
    answer(world, 2..6)
}

/// Each of these clients gets its answer; the members that gave them.
fn answer(world: &mut World, clients: std::ops::Range<u8>) -> Vec<usize> {
    let answer = |number| {
        world.punt(&reply(number));
        let sent = world.sent();
        let [(member, frame)] = &sent[..] else { panic!("{sent:?}") };
        let (said, view) = (arp(frame).unwrap(), Frame::parse(frame).unwrap());
        assert_eq!((view.dst(), view.src()), (client(number).1, said.sender_mac));
        assert_eq!(said.sender_mac, member_mac(member.index()));
        assert_eq!((said.sender_ip, said.target_ip), (OURS.into(), client(number).0.into()));
        member.index()
    };
    clients.map(answer).collect()
}

/// How many clients each of four members has.
fn counts(members: &[usize]) -> [usize; 4] {
    std::array::from_fn(|place| members.iter().filter(|&&member| member == place).count())
}

#[test]
fn tlb_sends_by_hash_with_each_members_own_address() {
    let config = Config { tlb_dynamic_lb: false, xmit_hash_policy: HashPolicy::Layer34, ..config(Mode::BalanceTlb) };
    let world = world(config, 3);
    let expected = Balance {
        eligible: Eligible::Tlb,
        number: Number::Hash(HashPolicy::Layer34),
        table: vec![id(0), id(1), id(2)],
        active: id(0),
        counted: false,
        punt: None,
    };
    assert_eq!(*balance(&world), expected);
    let lines: Vec<_> = world.plan.members.iter().map(|line| (line.receive, line.rewrite.src)).collect();
    assert_eq!(
        lines,
        [(Receive::Deliver, None), (Receive::Drop, Some(member_mac(1))), (Receive::Drop, Some(member_mac(2)))]
    );
    assert!((0..3).all(|place| world.team.device_mac(id(place)) == MAC), "the devices carry the team's address");
}

#[test]
fn a_new_active_member_swaps_addresses_and_teaches_the_switch() {
    let mut world = world(config(Mode::BalanceAlb), 3);
    world.hint(id(0), false);
    assert_eq!(world.active(), Some(1));
    let macs: Vec<Mac> = (0..3).map(|place| world.team.device_mac(id(place))).collect();
    assert_eq!(macs, [member_mac(1), MAC, member_mac(2)]);
    assert_eq!((world.members[&id(0)].mac, world.members[&id(1)].mac), (Some(member_mac(1)), Some(MAC)));
    // What is still sent to the second's old address, now the first's, comes to it, too.
    let taught = [(id(1), learning_packet(MAC, None)), (id(1), learning_packet(member_mac(1), None))];
    assert_eq!(world.sent(), taught);
    let own = |place: usize| world.plan.members[place].receive;
    assert_eq!(own(2), Receive::Own { own: member_mac(2), team: MAC });
    assert_eq!((own(0), own(1)), (Receive::Drop, Receive::DeliverAnd { own: member_mac(1), team: MAC }));
}

/// Whom the devices were told to hear everything, or no more, since the last call.
fn takes_all(world: &mut World) -> Vec<(usize, bool)> {
    let taken = |(_, effect): (nicteam_team::Time, Effect)| match effect {
        Effect::TakeAll { member, on } => Some((member.index(), on)),
        _ => None,
    };
    std::mem::take(&mut world.log).into_iter().filter_map(taken).collect()
}

#[test]
fn the_active_member_hears_a_lost_ones_address_for_ten_seconds() {
    let mut world = world(config(Mode::BalanceAlb), 4);
    let heard = |world: &World| match world.plan.members[0].receive {
        Receive::DeliverAnd { own, .. } => Some(own),
        _ => None,
    };
    world.hint(id(2), false);
    assert!(world.log.iter().any(|(_, effect)| {
        *effect == Effect::Transmit { member: id(0), frame: learning_packet(member_mac(2), None) }
    }));
    assert_eq!((heard(&world), takes_all(&mut world)), (Some(member_mac(2)), vec![(0, true)]));
    world.run(ms(6_000));
    world.hint(id(3), false);
    assert_eq!((heard(&world), takes_all(&mut world)), (Some(member_mac(3)), vec![]), "of two the last");
    world.run(ms(9_999));
    assert_eq!(heard(&world), Some(member_mac(3)));
    world.run(ms(1));
    assert_eq!((heard(&world), takes_all(&mut world)), (None, vec![(0, false)]));
    world.hint(id(2), true);
    world.hint(id(2), false);
    world.sent();
    world.hint(id(2), true);
    let taught = (id(2), learning_packet(member_mac(2), None));
    assert!(world.sent().contains(&taught), "its switch hears at once that it is back");
    assert_eq!(heard(&world), None);
    world.hint(id(2), false);
    takes_all(&mut world);
    world.hint(id(0), false);
    assert_eq!(takes_all(&mut world), [(0, false), (1, true)], "the next active member hears");
    let mut tlb = World::with_members(config(Mode::BalanceTlb), &[true, true]);
    tlb.hint(id(1), false);
    assert_eq!((heard(&tlb), takes_all(&mut tlb)), (None, vec![]));
}

#[test]
fn learning_packets_come_at_their_interval_by_who_lives_and_in_every_vlan() {
    let mut world = world(Config { lp_interval_s: 3, ..config(Mode::BalanceTlb) }, 3);
    world.hint(id(2), false);
    world.team.handle_addresses(vec![(7, OURS.into()), (0, OURS.into()), (7, [10, 0, 1, 1].into())]);
    world.sent();
    world.run(ms(2_999));
    assert_eq!(world.sent(), []);
    world.run(ms(1));
    let of = |place, mac| [None, nicteam_wire::Vlan::customer(7)].map(|vlan| (id(place), learning_packet(mac, vlan)));
    assert_eq!(world.sent(), [of(0, MAC), of(1, member_mac(1))].concat());
}

#[test]
fn buckets_follow_their_loads_every_ten_seconds() {
    let mut world = world(config(Mode::BalanceTlb), 4);
    let first = balance(&world).table.clone();
    assert_eq!(first.len(), 256);
    let mine: Vec<usize> = (0..256).filter(|&bucket| first[bucket] == id(0)).take(4).collect();
    for &bucket in &mine {
        world.state.loads.buckets[bucket] = 400_000_000;
    }
    world.run(ms(9_900));
    assert_eq!(balance(&world).table, first);
    world.run(ms(200));
    let mut members: Vec<usize> = mine.iter().map(|&bucket| balance(&world).table[bucket].index()).collect();
    members.sort_unstable();
    assert_eq!(members, [0, 1, 2, 3]);
    world.hint(id(3), false);
    assert!(!balance(&world).table.contains(&id(3)));
}

#[test]
fn clients_are_told_members_in_rotation() {
    let mut world = world(config(Mode::BalanceAlb), 4);
    assert!(world.plan.lease.is_some(), "what is punted must not wait for a process that died");
    let mut members = answer_four(&mut world);
    assert_eq!(answer_four(&mut world), members, "each keeps its own");
    members.sort_unstable();
    assert_eq!(members, [0, 1, 2, 3]);
}

#[test]
fn slower_members_are_told_to_nobody() {
    let mut world = world(config(Mode::BalanceAlb), 2);
    let slow = world.join("slow", nicteam_team::MemberLink { speed_mbps: Some(100), ..link(true) });
    world.sent();
    assert!(!answer_four(&mut world).contains(&slow.index()));
}

#[test]
fn clients_of_a_lost_member_are_told_at_once_and_again() {
    let mut world = world(config(Mode::BalanceAlb), 4);
    let members = answer_four(&mut world);
    let (place, lost) = members.iter().enumerate().find(|(_, member)| **member != 0).unwrap();
    world.hint(id(*lost), false);
    let client = IpAddr::from(client(place as u8 + 2).0);
    let now = told(&mut world);
    let [(first, mac, by), again] = now[..] else { panic!("{now:?}") };
    assert_eq!((first, again), (client, (first, mac, by)));
    assert!(by != *lost && mac == member_mac(by));
    // Three more rounds, two seconds apart, and no more.
    world.run(ms(30_000));
    assert_eq!(told(&mut world), [(client, mac, by); 6]);
}

#[test]
fn a_broadcast_moves_nobody_for_long() {
    let mut world = world(config(Mode::BalanceAlb), 4);
    let members = answer_four(&mut world);
    world.punt(&request(9));
    let sent = world.sent();
    assert_eq!(sent, [(id(0), request(9))], "it leaves as it is, by the active member");
    world.run(ms(1_900));
    assert_eq!(told(&mut world), []);
    world.run(ms(200));
    let expected: Vec<_> = (2..6)
        .zip(members)
        .filter(|(_, member)| *member != 0)
        .flat_map(|(number, member)| [(IpAddr::from(client(number).0), member_mac(member), member); 2])
        .collect();
    let mut told = told(&mut world);
    told.sort_unstable();
    assert_eq!(told, expected);
}

#[test]
fn a_client_that_answers_is_told_its_member() {
    let mut world = world(config(Mode::BalanceAlb), 4);
    world.punt(&request(8));
    world.sent();
    let (ip, mac) = client(8);
    let answer =
        Arp { operation: Arp::REPLY, sender_mac: mac, sender_ip: ip.into(), target_mac: MAC, target_ip: OURS.into() };
    world.hear(id(0), &answer.frame(MAC, mac, None));
    world.run(ms(2_100));
    let told = told(&mut world);
    let [(whom, said, by), _] = told[..] else { panic!("{told:?}") };
    assert_eq!((whom, said), (IpAddr::from(ip), member_mac(by)));
}

#[test]
fn an_address_that_another_host_has_is_no_longer_said() {
    let mut world = world(config(Mode::BalanceAlb), 4);
    answer_four(&mut world);
    let other = Arp::gratuitous(Mac([2, 0, 0, 0, 5, 5]), OURS.into());
    world.hear(id(0), &other.frame(Mac::BROADCAST, other.sender_mac, None));
    world.hint(id(1), false);
    world.run(ms(10_000));
    assert_eq!(told(&mut world), []);
}

#[test]
fn a_member_that_comes_gets_its_clients() {
    let mut world = world(config(Mode::BalanceAlb), 2);
    answer_four(&mut world);
    world.join("m2", link(true));
    world.join("m3", link(true));
    world.run(ms(3_000));
    let told = told(&mut world);
    for place in [2, 3] {
        assert!(told.iter().any(|(_, mac, by)| (*mac, *by) == (member_mac(place), place)), "{told:?}");
    }
    let mut members = answer_four(&mut world);
    members.sort_unstable();
    assert_eq!(members, [0, 1, 2, 3]);
}

#[test]
fn who_comes_back_gets_its_part_and_the_other_clients_stay() {
    let mut world = world(config(Mode::BalanceAlb), 4);
    let clients = || 2..18;
    let before = answer(&mut world, clients());
    world.hint(id(2), false);
    world.run(ms(10_000));
    world.sent();
    let without: Vec<usize> = answer(&mut world, clients());
    let stay = |a: &[usize], b: &[usize]| a.iter().zip(b).filter(|(a, b)| a == b).count();
    assert_eq!(stay(&before, &without), 12, "the clients of the others stay");
    assert_eq!(counts(&without), [6, 5, 0, 5]);
    world.hint(id(2), true);
    world.run(ms(3_000));
    let mut whom: Vec<IpAddr> = told(&mut world).into_iter().map(|(whom, ..)| whom).collect();
    whom.dedup();
    assert_eq!(whom.len(), 4, "{whom:?}");
    let after = answer(&mut world, clients());
    assert_eq!((stay(&without, &after), counts(&after)), (12, [4; 4]));
}

#[test]
fn members_get_clients_by_their_speeds() {
    let mut world = World::new(config(Mode::BalanceAlb));
    for (place, speed_mbps) in [4000, 2000, 1000, 1000].into_iter().enumerate() {
        world.join(&format!("m{place}"), MemberLink { speed_mbps: Some(speed_mbps), ..link(true) });
    }
    world.team.handle_addresses(vec![(0, OURS.into())]);
    world.sent();
    assert_eq!(counts(&answer(&mut world, 2..18)), [8, 4, 2, 2]);
    // The first is as slow as the last now.
    let slower = MemberLink { speed_mbps: Some(1000), ..link(true) };
    world.link(id(0), slower);
    world.run(ms(3_000));
    world.sent();
    let mut members = counts(&answer(&mut world, 2..18));
    members.sort_unstable();
    assert_eq!(members, [3, 3, 3, 7]);
}

#[test]
fn neighbour_discovery_says_the_member_too() {
    let mut world = world(config(Mode::BalanceAlb), 3);
    let (ours, theirs) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
    let mac = client(2).1;
    let solicitation = Ndisc {
        src: ours,
        dst: "ff02::1:ff00:2".parse().unwrap(),
        target: theirs,
        link_layer: Some(MAC),
        kind: NdiscKind::Solicitation,
    };
    let group = Ndisc::multicast_mac(solicitation.dst);
    world.punt(&solicitation.frame(group, MAC, None));
    let kind = NdiscKind::Advertisement { router: false, solicited: true, overrides: true };
    let advertisement = Ndisc { src: ours, dst: theirs, target: ours, link_layer: Some(MAC), kind };
    world.punt(&advertisement.frame(mac, MAC, None));
    let sent = world.sent();
    let member = sent[0].0;
    let own = member_mac(member.index());
    assert_eq!(sent[0].1, Ndisc { link_layer: Some(own), ..solicitation }.frame(group, own, None));
    assert_eq!(sent[1], (member, Ndisc { link_layer: Some(own), ..advertisement }.frame(mac, own, None)));
    // The member is lost: the client hears of the new one.
    world.hint(member, false);
    let updates = world.sent();
    let update = updates.iter().find_map(|(by, frame)| {
        Ndisc::decode(Frame::parse(frame).unwrap().payload()).ok().map(|said| (by.index(), said))
    });
    let (by, said) = update.unwrap();
    assert!(by != member.index());
    assert_eq!((said.target, said.dst, said.link_layer), (ours, theirs, Some(world.team.device_mac(id(by)))));
}

#[test]
fn without_rlb_ipv6_clients_go_back_to_the_active_member_and_stay() {
    let mut world = world(config(Mode::BalanceAlb), 3);
    let (ours, theirs) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
    let mac = client(2).1;
    let kind = NdiscKind::Advertisement { router: false, solicited: true, overrides: true };
    let advertisement = Ndisc { src: ours, dst: theirs, target: ours, link_layer: Some(MAC), kind };
    let said = advertisement.frame(mac, MAC, None);
    // The first is the active one.
    world.punt(&reply(7));
    world.punt(&said);
    assert_eq!(world.sent().last().map(|(by, _)| *by), Some(id(1)));
    assert!(world.team.listens().neighbours);
    let off = Config { rlb_ipv6: false, ..config(Mode::BalanceAlb) };
    world.set(off).unwrap();
    let punt = balance(&world).punt.unwrap();
    assert_eq!((punt.from, punt.neighbours, world.team.listens().neighbours), (MAC, false, false));
    let told = world.sent();
    assert_eq!(told.len(), 2, "once, twice over: {told:?}");
    let update = Ndisc::decode(Frame::parse(&told[0].1).unwrap().payload()).unwrap();
    assert_eq!((told[0].0, update.dst, update.link_layer), (id(0), theirs, Some(MAC)));
    world.punt(&said);
    assert_eq!(world.sent(), [(id(0), said)], "one that was on its way leaves as it is");
    world.run(ms(5_000));
    let said: Vec<_> = world.sent().into_iter().filter(|(_, frame)| frame[12..14] == [0x86, 0xdd]).collect();
    assert_eq!(said, [], "nobody speaks of IPv6");
}

#[test]
fn what_says_nothing_of_the_team_leaves_as_it_is() {
    let mut world = world(config(Mode::BalanceAlb), 3);
    let kind = NdiscKind::Solicitation;
    let probe = Ndisc {
        src: std::net::Ipv6Addr::UNSPECIFIED,
        dst: "ff02::1:ff00:1".parse().unwrap(),
        target: "fd00::1".parse().unwrap(),
        link_layer: None,
        kind,
    };
    let frames = [
        Arp::gratuitous(MAC, OURS.into()).frame(Mac::BROADCAST, MAC, None),
        probe.frame(Ndisc::multicast_mac(probe.dst), MAC, None),
        [&MAC.0[..], &MAC.0, &[8, 6, 0, 1, 8]].concat(),
    ];
    for frame in frames {
        world.punt(&frame);
        assert_eq!(world.sent(), [(id(0), frame)]);
    }
}

#[test]
fn another_address_of_the_team_is_taken_and_told() {
    let mut world = world(config(Mode::BalanceAlb), 3);
    answer_four(&mut world);
    let new = Mac([2, 0, 0, 0, 7, 7]);
    world.team.handle_mac(new);
    let mut effects = Vec::new();
    while let Some(effect) = world.team.poll_effect() {
        effects.push(effect);
    }
    assert!(effects.contains(&Effect::SetMac { member: Some(id(0)), mac: new }));
    assert!(effects.contains(&Effect::Transmit { member: id(0), frame: learning_packet(new, None) }));
    let Some(Effect::Apply(plan)) = effects.iter().find(|effect| matches!(effect, Effect::Apply(_))) else {
        panic!("{effects:?}")
    };
    assert_eq!(plan.members[1].receive, Receive::Own { own: member_mac(1), team: new });
}
