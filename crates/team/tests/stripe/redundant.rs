//! Frames that go twice: which, by which paths, and that one of two is taken.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nicteam_impair::{Gemodel, Impairments, Jitter, Loss, OneWay, Probability, Reorder, Room};
use nicteam_team::stripe::redundant::{Classes, HISTORY, MAX_PORTS, RESET, Recovered, Recovery, holds};
use nicteam_team::{Action, Choose, Leg, Plan, PlanState, Stripe, Time, Verdict};
use nicteam_wire::{Frame, Mac, Rtag};
use proptest::prelude::*;

use crate::stripe::lan::{Lan, frame, id};

const SYSTEM: u64 = 7;

fn classes(text: &str) -> Classes {
    text.parse().unwrap()
}

#[test]
fn classes_are_what_was_said() {
    for text in ["off", "all", "dscp:0", "dscp:46,dscp:48,tcp:22,udp:4789"] {
        assert_eq!(classes(text).to_string(), text);
    }
    assert_eq!(classes(" udp : 4789 , dscp:46").to_string(), "dscp:46,udp:4789");
    let many: Vec<String> = (1..=MAX_PORTS + 1).map(|port| format!("tcp:{port}")).collect();
    assert_eq!(classes(&many[1..].join(",")).ports.len(), MAX_PORTS);
    for text in
        ["dscp:64", "tcp:0", "tcp:65536", "tcp", "sctp:1", "tcp:+1", "tcp:", "dscp:46,", "all,tcp:1", &many.join(",")]
    {
        assert!(text.parse::<Classes>().is_err(), "{text}");
    }
}

/// An Ethernet frame with this EtherType and payload.
fn ethernet(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &ethertype.to_be_bytes(), payload].concat()
}

/// An IPv4 packet with so many words of header, this type of service, fragment offset and protocol.
fn ipv4(words: u8, tos: u8, fragment: u16, protocol: u8, ports: [u8; 4]) -> Vec<u8> {
    let [high, low] = fragment.to_be_bytes();
    let mut packet = vec![0x40 | words, tos, 0, 0, 0, 0, high, low, 64, protocol];
    packet.resize(usize::from(words) * 4, 0);
    packet.extend_from_slice(&ports);
    packet.resize(packet.len().max(20), 0);
    ethernet(0x0800, &packet)
}

fn ipv6(class: u8, protocol: u8, ports: [u8; 4]) -> Vec<u8> {
    let mut packet = vec![0x60 | class >> 4, class << 4, 0, 0, 0, 0, protocol];
    packet.resize(40, 0);
    packet.extend_from_slice(&ports);
    ethernet(0x86dd, &packet)
}

#[test]
fn a_class_holds_what_it_names() {
    let some = classes("dscp:46,tcp:22,udp:4789");
    let (ssh, vxlan) = ([0xff, 0xff, 0, 22], [0x12, 0xb5, 1, 1]);
    for (is_in, frame) in [
        (true, ipv4(5, 0xb8, 0, 1, [0; 4])),
        (true, ipv4(5, 0xbb, 0, 1, [0; 4])),
        (false, ipv4(5, 0xb4, 0, 1, [0; 4])),
        (true, ipv4(5, 0, 0, 6, ssh)),
        (true, ipv4(15, 0, 0x2000, 6, ssh)),
        (false, ipv4(5, 0, 0x2001, 6, ssh)),
        (false, ipv4(5, 0, 0, 17, ssh)),
        (true, ipv4(5, 0, 0, 17, vxlan)),
        (false, ipv4(5, 0, 0, 6, vxlan)),
        (false, ipv4(5, 0, 0, 132, ssh)),
        (true, ipv6(0xb8, 58, [0; 4])),
        (true, ipv6(0, 17, vxlan)),
        (false, ipv6(0, 43, vxlan)),
        (false, ethernet(0x0806, &[0; 28])),
    ] {
        let parsed = Frame::parse(&frame).unwrap();
        assert_eq!(holds(&some, &parsed), is_in, "{frame:02x?}");
        assert!(holds(&classes("all"), &parsed) && !holds(&classes("off"), &parsed));
    }
    // Cut off behind the header, and too short.
    let cut = ipv4(5, 0, 0, 6, ssh);
    assert!(!holds(&some, &Frame::parse(&cut[..cut.len() - 1]).unwrap()));
    assert!(!holds(&classes("all"), &Frame::parse(&ethernet(0x0800, &[0; 19])).unwrap()));
}

/// Two hosts of these members on one segment, that know each other.
fn pair(rates_a: &[u32], rates_b: &[u32]) -> (Lan, Plan, Mac, Mac) {
    let mut lan = Lan::new();
    let (a, b) = (lan.add(&vec![0; rates_a.len()], rates_a), lan.add(&vec![0; rates_b.len()], rates_b));
    lan.run(Duration::from_millis(300));
    let mut plan = lan.host(a).plan.clone();
    let Choose::Stripe(stripe) = &mut plan.choose else { panic!() };
    *stripe = Stripe { redundant: classes("all"), ..stripe.clone() };
    let (a, b) = (lan.host(a).mac, lan.host(b).mac);
    (lan, plan, a, b)
}

#[test]
fn both_copies_go_by_paths_that_share_nothing_where_there_are_such() {
    for (rates_a, rates_b, shared) in [
        (&[1000; 4][..], &[1000; 4][..], 0),
        (&[1000, 10], &[1000, 10], 0),
        (&[1000; 4], &[1000], 1),
        (&[1000], &[1000; 3], 1),
    ] {
        let (_, plan, from, to) = pair(rates_a, rates_b);
        let mut state = PlanState::new(0);
        let bytes = frame(to, from, 200);
        for number in 0..100 {
            state.now = Time::from_millis(number);
            let action = plan.choose(&Frame::parse(&bytes).unwrap(), &mut state);
            let Action::Redundant { sequence, first, second: Some(second) } = action else { panic!("{action:?}") };
            assert_eq!(u64::from(sequence), number);
            let ends = |a: Leg, b: Leg| usize::from(a.member == b.member) + usize::from(a.dst == b.dst);
            assert_eq!(ends(first, second), shared, "{first:?} {second:?}");
        }
    }
}

#[test]
fn one_path_takes_one_copy_and_who_does_not_take_tags_gets_none() {
    let (_, mut plan, from, to) = pair(&[1000], &[1000]);
    let mut state = PlanState::new(0);
    let bytes = frame(to, from, 200);
    let action = plan.choose(&Frame::parse(&bytes).unwrap(), &mut state);
    assert!(matches!(action, Action::Redundant { sequence: 0, second: None, .. }), "{action:?}");
    let Choose::Stripe(stripe) = &mut plan.choose else { panic!() };
    stripe.peers[0].takes_rtags = false;
    let action = plan.choose(&Frame::parse(&bytes).unwrap(), &mut state);
    assert!(matches!(action, Action::Stripe { .. }), "{action:?}");
    let broadcast = frame(Mac::BROADCAST, from, 200);
    assert!(matches!(plan.choose(&Frame::parse(&broadcast).unwrap(), &mut state), Action::Send(_)));
}

#[test]
fn of_two_the_first_is_taken_and_strangers_are_not_judged() {
    let (_, plan, own, peer) = pair(&[1000; 2], &[1000; 2]);
    let mut state = PlanState::new(0);
    let Choose::Stripe(stripe) = &plan.choose else { panic!() };
    let theirs: Vec<Mac> = stripe.peers[0].receivers.iter().map(|receiver| receiver.mac).collect();
    let ours: Vec<Mac> = stripe.senders.iter().map(|sender| sender.mac).collect();
    let mut receive = |place: usize, dst: Mac, src: Mac, sequence: u16| {
        let bytes = Rtag { sequence }.put(&frame(dst, src, 100));
        plan.receive_once(id(place), &Frame::parse(&bytes).unwrap(), &mut state)
    };
    let first = Verdict::Untagged { src: peer, dst: own };
    assert_eq!(receive(0, ours[0], theirs[0], 5), first);
    assert_eq!(receive(1, ours[1], theirs[1], 5), Verdict::Duplicate);
    assert_eq!(receive(1, ours[1], theirs[1], 6), first);
    // Flooded to a member that it is not for: no copy of ours was here.
    assert_eq!(receive(1, Mac([2, 9, 9, 9, 9, 9]), theirs[0], 7), Verdict::Drop);
    assert_eq!(receive(0, ours[0], theirs[0], 7), first);
    let stranger = Mac([2, 7, 7, 7, 7, 7]);
    assert_eq!(receive(0, ours[0], stranger, 7), Verdict::Untagged { src: stranger, dst: own });
    assert_eq!(receive(1, ours[1], stranger, 7), Verdict::Untagged { src: stranger, dst: own });
}

/// Numbers as they were sent, not wrapped; the plainest way to tell what they are.
#[derive(Default)]
struct Model {
    seen: BTreeSet<u64>,
}

impl Model {
    fn recover(&mut self, number: u64) -> Recovered {
        if self.seen.insert(number) { Recovered::First } else { Recovered::Duplicate }
    }
}

proptest! {
    #[test]
    fn numbers_are_what_the_model_says(
        start in 0..200_000_u64,
        steps in prop::collection::vec(
            prop_oneof![4 => -3..4_i64, 1 => -4100..4100_i64, 1 => -40_000..30_000_i64],
            1..400,
        ),
    ) {
        let (mut recovery, mut model) = (Recovery::default(), Model::default());
        let mut at = (start + (1 << 20)) as i64;
        let mut newest = at;
        for step in steps {
            // Whatever the history reaches.
            at = (at + step).max(newest - HISTORY as i64);
            newest = newest.max(at);
            let found = recovery.recover(SYSTEM, at as u16, Time::from_millis(5));
            prop_assert_eq!(found, model.recover(at as u64), "{} of {}", at, newest);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Frames that go twice by two ways, one longer by some frames, and forged ones anywhere between them.
    #[test]
    fn a_forged_frame_costs_the_one_frame_of_its_number_at_most(
        start in 0..65_536_u64,
        skew in 0..3000_usize,
        forged in prop::collection::btree_map(0..80_000_usize, prop_oneof![
            3 => prop::collection::vec(any::<u16>(), 1..6),
            // Just ahead of the peer's own, or as far as can be.
            2 => (0..6000_u16, 1..6_usize).prop_map(|(ahead, count)| vec![ahead; count]),
            2 => (1..6_usize).prop_map(|count| (1..=count as u16).map(|step| step.wrapping_mul(32_700)).collect()),
        ], 0..60),
    ) {
        const FRAMES: usize = 80_000;
        let mut recovery = Recovery::default();
        let now = Time::from_millis(5);
        let (mut passed, mut twice) = (vec![0_u32; FRAMES], 0);
        let mut forgeries = BTreeMap::<u16, u32>::new();
        for at in 0..FRAMES + skew {
            for frame in [Some(at), at.checked_sub(skew)].into_iter().flatten().filter(|frame| *frame < FRAMES) {
                if recovery.recover(SYSTEM, (start + frame as u64) as u16, now) == Recovered::First {
                    twice += u32::from(passed[frame] > 0);
                    passed[frame] += 1;
                }
            }
            for ahead in forged.get(&at).into_iter().flatten() {
                let number = (start + at as u64) as u16;
                recovery.recover(SYSTEM, number.wrapping_add(*ahead), now);
                *forgeries.entry(number.wrapping_add(*ahead)).or_default() += 1;
            }
        }
        for (frame, _) in passed.iter().enumerate().filter(|(_, passed)| **passed == 0) {
            let left = forgeries.get_mut(&((start + frame as u64) as u16)).filter(|left| **left > 0);
            prop_assert!(left.is_some(), "frame {} was lost, and nobody forged its number", frame);
            *left.unwrap() -= 1;
        }
        let count: usize = forged.values().map(Vec::len).sum();
        prop_assert!(twice as usize <= count * (skew + 64), "{} came twice for {} forged ones", twice, count);
    }
}

#[test]
fn numbers_that_count_up_ahead_of_a_peers_own_cost_one_frame_each() {
    // One forged frame a second, as many times the numbers a history once had ahead: that cost all frames.
    let mut recovery = Recovery::default();
    let (mut forged, mut lost) = (4000_u16, 0);
    for number in 0..100_000_u64 {
        let now = Time::from_millis(5 + number);
        if number.is_multiple_of(1000) {
            recovery.recover(SYSTEM, forged, now);
            forged = forged.wrapping_add(4000);
        }
        let copies = [0, 1].map(|_| recovery.recover(SYSTEM, number as u16, now));
        lost += u32::from(copies == [Recovered::Duplicate; 2]);
    }
    assert!(lost <= 100, "{lost} frames for 100 forged ones");
}

#[test]
fn all_short_orders_are_what_the_model_says() {
    const ALPHABET: [u64; 7] = [0, 1, 2, 63, 64, 65, HISTORY - 1];
    for start in [65_536 * 3, 65_536 * 3 - 64, 65_536 * 3 - 1] {
        for order in 0..ALPHABET.len().pow(5) {
            let (mut recovery, mut model) = (Recovery::default(), Model::default());
            let mut rest = order;
            for _ in 0..5 {
                let number = start + ALPHABET[rest % ALPHABET.len()];
                rest /= ALPHABET.len();
                let found = recovery.recover(SYSTEM, number as u16, Time::from_millis(1));
                assert_eq!(found, model.recover(number), "order {order} from {start}");
            }
        }
    }
}

#[test]
fn silence_and_a_new_run_begin_anew() {
    let mut recovery = Recovery::default();
    let at = Time::from_millis;
    for (now, system, number, expected) in [
        (1, 1, 100, Recovered::First),
        (1, 1, 100, Recovered::Duplicate),
        (2, 1, 100 + HISTORY as u16, Recovered::First),
        // Behind by the whole history.
        (2, 1, 100, Recovered::Duplicate),
        (2, 1, 101, Recovered::First),
        (3, 2, 100, Recovered::First),
        (3, 2, 100, Recovered::Duplicate),
        (3, 2, 99, Recovered::First),
        (2002, 2, 100, Recovered::Duplicate),
        // Two seconds after the last that was handed on.
        (2003, 2, 100, Recovered::First),
        (2004, 2, 65_535, Recovered::First),
        (2004, 2, 65_535, Recovered::Duplicate),
    ] {
        assert_eq!(recovery.recover(system, number, at(now)), expected, "{number} at {now} ms");
    }
    assert_eq!(RESET, Duration::from_secs(2));
}

/// One of the two ways, with loss, jitter that reorders, duplicates and its own delay.
fn way(seed: u64, delay_us: u64, loss: Loss) -> OneWay<u64> {
    let jitter = Jitter { amount: Duration::from_micros(delay_us / 2), may_reorder: true, ..Jitter::default() };
    let reorder = Some(Reorder { probability: Probability::percent(5).unwrap(), gap: 3 });
    let impairments = Impairments {
        delay: Duration::from_micros(delay_us),
        jitter,
        loss,
        duplicate: Probability::percent(3).unwrap(),
        reorder,
        ..Impairments::default()
    };
    OneWay::new(impairments, seed, Room::default()).unwrap()
}

#[test]
fn whatever_one_way_does_each_frame_arrives_once() {
    const FRAMES: u64 = 100_000;
    const GAP: Duration = Duration::from_micros(50);
    for seed in 0..2 {
        let burst = Gemodel {
            to_bad: Probability::percent(1).unwrap(),
            to_good: Probability::percent(10).unwrap(),
            loss_in_bad: Probability::percent(90).unwrap(),
            loss_in_good: Probability::NEVER,
        };
        let mut ways =
            [way(seed, 200, Loss::Gemodel(burst)), way(seed + 100, 20_000, Loss::Independent(Probability::NEVER))];
        let (mut recovery, mut arrived) = (Recovery::default(), BTreeMap::<u64, u32>::new());
        let mut deliver = |number: u64, now: Duration| {
            if recovery.recover(SYSTEM, number as u16, Time::ZERO + now) == Recovered::First {
                *arrived.entry(number).or_default() += 1;
            }
        };
        let mut now = Duration::from_secs(1);
        for number in 0..FRAMES {
            // The fast way is cut for a second in the middle, and nobody knows.
            let is_cut = (FRAMES / 2..FRAMES / 2 + 20_000).contains(&number);
            ways.iter_mut().enumerate().filter(|(place, _)| *place > 0 || !is_cut).for_each(|(_, way)| {
                way.handle_frame(now, number, 1000);
            });
            now += GAP;
            for way in &mut ways {
                while let Some(output) = way.poll_output(now) {
                    deliver(output.frame, output.due);
                }
            }
        }
        for way in &mut ways {
            while let Some(output) = way.poll_output(now + Duration::from_secs(1)) {
                deliver(output.frame, output.due);
            }
        }
        assert_eq!(arrived.len() as u64, FRAMES, "seed {seed}: frames were lost");
        assert!(arrived.values().all(|times| *times == 1), "seed {seed}: frames came twice");
    }
}
