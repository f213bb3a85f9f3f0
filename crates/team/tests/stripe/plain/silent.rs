//! Members by which no answer comes back.

use nicteam_simnet::Host;
use nicteam_team::{PlainEvent, PlainState};
use nicteam_wire::{Arp, Frame, Mac, Vlan};

use super::bench::{Bench, TEAM, id, ms, own, plain_ip, plain_mac, striped};

/// The frames vanish on the way there, on the way back, or on both.
const WAYS: [[bool; 2]; 3] = [[true, false], [false, true], [true, true]];
const OPEN: [bool; 2] = [false; 2];

/// Four members and a host that all of them send to.
fn busy() -> Bench {
    let mut bench = Bench::new(4, 1);
    bench.use_hosts(&[striped(0)]);
    bench.run(ms(2500));
    assert_eq!((bench.used(), bench.balanced()), (vec![0, 1, 2, 3], vec![0, 1, 2, 3]));
    assert_eq!(bench.events(), []);
    bench
}

#[test]
fn a_silent_member_is_left_within_a_second_and_comes_back() {
    for (place, way) in (0..4).flat_map(|place| WAYS.map(|way| (place, way))) {
        // At every phase of a round.
        for phase in [0, 35, 70] {
            let mut bench = busy();
            bench.run(ms(phase));
            bench.block(place, way);
            let others: Vec<usize> = (0..4).filter(|other| *other != place).collect();
            let took = bench.until(|bench| bench.used() == others);
            assert!((ms(200)..=ms(450)).contains(&took), "member {place}, {way:?}: {took:?}");
            assert_eq!(bench.balanced(), others);
            assert!(bench.host().team.active() != Some(id(place)), "the active one is another");
            let events = bench.events();
            let [PlainEvent::Silent { member, host, ip, missed: 3, answered: 3 }] = events[..] else {
                panic!("{events:?}")
            };
            assert_eq!((member, host, ip), (id(place), plain_mac(0), plain_ip(0)));
            assert_eq!(bench.left(), [place]);
            bench.run(ms(3000));
            assert_eq!((bench.used(), bench.events()), (others, vec![]), "it stays so");
            bench.block(place, OPEN);
            let took = bench.until(|bench| bench.used().len() == 4);
            assert!((ms(200)..=ms(450)).contains(&took), "member {place}, {way:?}: {took:?} until it is used again");
            assert_eq!(bench.balanced(), [0, 1, 2, 3]);
            assert!(matches!(bench.events()[..], [PlainEvent::Heard { answered: 3, .. }]));
        }
    }
}

#[test]
fn who_is_told_of_a_silent_member_is_told_of_another() {
    let mut bench = Bench::new(4, 8);
    let before: Vec<usize> = (0..8).map(|number| bench.told(number)).collect();
    assert!(before.contains(&2), "{before:?}");
    bench.use_hosts(&[striped(0)]);
    bench.run(ms(2500));
    let same: Vec<usize> = (0..8).map(|number| bench.told(number)).collect();
    assert_eq!(same, before, "answers to probes change nothing of that");
    bench.block(2, [true; 2]);
    bench.until(|bench| bench.used() == [0, 1, 3]);
    let after: Vec<usize> = (0..8).map(|number| bench.told(number)).collect();
    for (before, after) in before.iter().zip(&after) {
        assert!(*after != 2 && (before == after || *before == 2), "{before} {after}");
    }
    bench.block(2, OPEN);
    bench.until(|bench| bench.used().len() == 4);
    assert!((0..8).any(|number| bench.told(number) == 2), "it has its part again");
}

#[test]
fn a_silent_active_member_gives_the_teams_address_to_another() {
    let mut bench = busy();
    assert_eq!(bench.host().team.active(), Some(id(0)));
    bench.block(0, [false, true]);
    bench.until(|bench| bench.used() == [1, 2, 3]);
    let active = bench.host().team.active().unwrap();
    assert_eq!(bench.host().members[&active].mac, Some(TEAM));
    bench.run(ms(100));
    bench.block(0, OPEN);
    bench.until(|bench| bench.used().len() == 4);
    assert_eq!(bench.host().team.active(), Some(active), "it stays");
}

#[test]
fn somebody_is_always_left() {
    let mut bench = busy();
    (0..4).for_each(|place| bench.block(place, [true; 2]));
    bench.run(ms(5000));
    assert_eq!((bench.used(), bench.events()), (vec![0, 1, 2, 3], vec![]), "all alike says nothing of one");
    bench.block(1, OPEN);
    bench.until(|bench| bench.used() == [1]);
    assert_eq!(bench.balanced(), [1]);
    bench.block(1, [true; 2]);
    bench.run(ms(5000));
    assert_eq!(bench.used(), [1]);
    (0..4).for_each(|place| bench.block(place, OPEN));
    bench.run(ms(5000));
    assert_eq!(bench.used(), [0, 1, 2, 3]);
    // Those by which others were judged go themselves.
    bench.block(2, [true; 2]);
    bench.block(3, [true; 2]);
    bench.until(|bench| bench.used() == [0, 1]);
    bench.events();
    bench.set_carrier(0, false);
    bench.set_carrier(1, false);
    assert_eq!((bench.used(), bench.balanced()), (vec![2, 3], vec![2, 3]));
    assert_eq!(bench.events().len(), 2, "both are used again");
}

#[test]
fn a_host_that_answers_nobody_blames_nobody_and_gives_way_to_another() {
    let mut bench = Bench::new(4, 3);
    [0, 1].into_iter().for_each(|number| bench.plain_mut(number).answers = 0);
    bench.use_hosts(&[0, 1, 2].map(striped));
    bench.run(ms(4500));
    assert_eq!((bench.used(), bench.events()), (vec![0, 1, 2, 3], vec![]));
    let asked: Vec<bool> = bench.status().hosts.iter().map(|of| of.asked).collect();
    assert_eq!(asked.iter().filter(|asked| **asked).count(), 2, "{asked:?}");
    assert!(asked[2], "the one that answers is asked");
    bench.block(3, [true; 2]);
    let took = bench.until(|bench| bench.used() == [0, 1, 2]);
    assert!(took < ms(1000), "{took:?}");
    // A host that is alone and answers nobody is asked seldom.
    let mut bench = Bench::new(4, 1);
    bench.plain_mut(0).answers = 0;
    bench.use_hosts(&[striped(0)]);
    bench.run(ms(5000));
    bench.probes();
    bench.run(ms(10_000));
    assert!((16..=24).contains(&bench.probes().len()), "four members each two seconds");
}

#[test]
fn a_host_that_answers_a_few_at_a_time_blames_nobody() {
    for answers in 1..4 {
        let mut bench = busy();
        bench.plain_mut(0).answers = answers;
        bench.run(ms(20_000));
        assert_eq!((bench.used(), bench.events()), (vec![0, 1, 2, 3], vec![]), "{answers} at a time");
    }
}

#[test]
fn one_that_another_host_hears_is_not_silent() {
    let mut bench = Bench::new(2, 2);
    bench.use_hosts(&[0, 1].map(striped));
    bench.run(ms(2500));
    bench.plain_mut(1).answers = 1;
    bench.run(ms(10_000));
    assert_eq!((bench.used(), bench.events()), (vec![0, 1], vec![]));
}

#[test]
fn who_falls_silent_again_soon_has_to_answer_twice_as_often() {
    let mut bench = busy();
    let mut waited = Vec::new();
    for _ in 0..3 {
        bench.block(1, [true; 2]);
        bench.until(|bench| bench.used().len() == 3);
        bench.block(1, OPEN);
        waited.push(bench.until(|bench| bench.used().len() == 4).as_millis() / 100);
    }
    assert!(waited[0] <= 4 && (5..=7).contains(&waited[1]) && (11..=13).contains(&waited[2]), "{waited:?}");
    bench.run(ms(61_000));
    bench.block(1, [true; 2]);
    bench.until(|bench| bench.used().len() == 3);
    bench.block(1, OPEN);
    assert!(bench.until(|bench| bench.used().len() == 4) <= ms(450), "a minute later it begins anew");
}

#[test]
fn a_new_process_finds_the_silent_one_itself() {
    let mut bench = busy();
    bench.block(2, [true; 2]);
    bench.until(|bench| bench.used() == [0, 1, 3]);
    bench.restart();
    bench.run(ms(100));
    assert_eq!(bench.used(), [0, 1, 2, 3], "it knows nothing yet");
    bench.speak(0, None);
    bench.use_hosts(&[striped(0)]);
    let took = bench.until(|bench| bench.used() == [0, 1, 3]);
    assert!(took <= ms(1500), "a second until it asks the dataplane, and three rounds: {took:?}");
}

#[test]
fn probes_change_no_cache_and_go_to_the_host_alone() {
    let mut bench = Bench::new(4, 2);
    let tag = Vlan::customer(7);
    bench.speak(1, tag);
    bench.use_hosts(&[0, 1].map(striped));
    bench.run(ms(1500));
    bench.probes();
    bench.run(ms(2000));
    let probes = bench.probes();
    let rounds = probes.chunks(8);
    assert!((19..=21).contains(&rounds.len()), "{} probes", probes.len());
    for round in rounds {
        assert!(round.iter().all(|(at, ..)| *at == round[0].0), "at the same moment");
        let mut seen = Vec::new();
        for (_, member, frame) in round {
            let frame = Frame::parse_untagged(frame).unwrap();
            let arp = Arp::decode(frame.payload()).unwrap();
            assert_eq!((frame.src(), arp.sender_mac), (own(*member), own(*member)));
            assert_eq!((arp.operation, arp.target_mac), (Arp::REQUEST, Mac::default()));
            let number = usize::from(frame.dst() == plain_mac(1));
            assert_eq!((frame.dst(), arp.target_ip), (plain_mac(number), plain_ip(number)));
            assert_eq!(frame.vlan(), tag.filter(|_| number == 1));
            seen.push((number, *member));
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..2).flat_map(|number| (0..4).map(move |member| (number, member))).collect::<Vec<_>>());
    }
}

#[test]
fn who_is_not_known_by_ipv4_is_not_asked() {
    let mut bench = Bench::new(4, 0);
    let stranger = nicteam_team::stripe::PlainHost { mac: Mac([2, 0, 0, 9, 9, 9]), ..striped(0) };
    bench.use_hosts(&[stranger]);
    bench.host_mut().log.clear();
    bench.block(1, [true; 2]);
    bench.run(ms(5000));
    assert_eq!((bench.probes(), bench.used()), (vec![], vec![0, 1, 2, 3]));
    assert!(bench.status().hosts.iter().all(|of| !of.asked && of.addresses.is_empty()));
}

#[test]
fn nobody_is_asked_where_nothing_is_to_be_found_out() {
    for (kind, members) in [("off", 4), ("tcp", 1)] {
        let mut bench = Bench::with(kind, members, 1);
        bench.use_hosts(&[striped(0)]);
        bench.host_mut().log.clear();
        bench.run(ms(5000));
        assert!(bench.host().log.iter().all(|(_, effect)| *effect != nicteam_team::Effect::ReadPlain));
        assert_eq!(bench.probes(), [], "{kind} {members}");
        assert!(bench.host().team.plain_status(bench.world.now()).is_none());
    }
    let mut bench = Bench::with("all", 4, 1);
    bench.use_hosts(&[striped(0)]);
    bench.run(ms(3000));
    assert!(!bench.probes().is_empty());
    bench.use_hosts(&[]);
    bench.run(ms(312_000));
    bench.probes();
    bench.run(ms(5000));
    assert_eq!(bench.probes(), [], "five minutes after the stack spoke to it");
}

#[test]
fn a_host_with_little_traffic_is_asked_half_as_often() {
    let mut bench = Bench::new(2, 1);
    bench.use_hosts(&[nicteam_team::stripe::PlainHost { delivered_mbps: 0, striped: false, width: 1, ..striped(0) }]);
    bench.run(ms(6000));
    bench.probes();
    bench.run(ms(20_000));
    assert!((198..=202).contains(&bench.probes().len()));
    bench.block(1, [true; 2]);
    let took = bench.until(|bench| bench.used() == [0]);
    assert!(took <= ms(850), "{took:?}");
}

#[test]
fn hosts_that_are_not_reported_are_asked_as_long_as_there_is_room() {
    // Datagrams are no reason for a report.
    let mut bench = Bench::new(4, 3);
    bench.run(ms(2000));
    bench.block(3, [true; 2]);
    let took = bench.until(|bench| bench.used() == [0, 1, 2]);
    assert!(took <= ms(850), "{took:?}");
    assert_eq!(bench.balanced(), [0, 1, 2]);
    bench.run(ms(2000));
    for number in 0..3 {
        bench.use_hosts(&[striped(number)]);
        bench.run(ms(1500));
        let status = bench.status();
        assert!(status.hosts.iter().all(|of| of.asked), "who has traffic goes first: {status:?}");
        bench.run(ms(3000));
    }
}

#[test]
fn one_that_is_silent_is_asked_on_for_a_minute_and_then_tried() {
    let mut bench = busy();
    bench.block(1, [true; 2]);
    bench.until(|bench| bench.used().len() == 3);
    bench.use_hosts(&[]);
    bench.run(ms(30_000));
    assert_eq!(bench.used(), [0, 2, 3]);
    bench.plain_mut(0).answers = 0;
    bench.events();
    bench.run(ms(62_000));
    assert_eq!(bench.used(), [0, 1, 2, 3]);
    let events = bench.events();
    assert!(matches!(events[..], [PlainEvent::Heard { answered: 0, .. }]), "{events:?}");
    assert!(events[0].words().ends_with("no answer is left to check it with"), "{}", events[0].words());
}

#[test]
fn the_dataplane_is_asked_often_while_hosts_are_striped_to() {
    let mut bench = Bench::new(2, 1);
    bench.asked();
    bench.run(ms(10_000));
    assert!((9..=11).contains(&bench.asked().len()));
    for _ in 0..40 {
        bench.use_hosts(&[striped(0)]);
        bench.run(ms(250));
    }
    assert!((36..=41).contains(&bench.asked().len()));
    bench.run(ms(10_000));
    assert!((12..=16).contains(&bench.asked().len()), "and a second longer");
}

#[test]
fn the_status_says_what_is_known() {
    let mut bench = busy();
    bench.block(2, [true; 2]);
    bench.until(|bench| bench.left() == [2]);
    bench.run(ms(1000));
    let status = bench.status();
    let [host] = &status.hosts[..] else { panic!("{status:?}") };
    assert_eq!((host.host.mac, &host.addresses[..], host.asked), (plain_mac(0), &[plain_ip(0).into()][..], true));
    let PlainState::Silent { lasts, host, ip } = status.members[2].state else { panic!("{status:?}") };
    assert!((ms(900)..=ms(1100)).contains(&lasts) && (host, ip) == (plain_mac(0), plain_ip(0)), "{status:?}");
    let of: &Host = bench.host();
    assert!(of.team.members().iter().all(|member| member.active), "towards peers it is used");
}
