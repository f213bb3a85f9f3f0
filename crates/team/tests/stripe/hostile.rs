//! What somebody on the segment who has no key can do, and what he cannot: docs/hello.md, "What an attacker can do",
//! says it item by item and names these tests.

use std::time::Duration;

use nicteam_team::{PlanState, Time, Verdict};
use nicteam_wire::{Frame, Hello, HelloKind, HelloMember, Mac};
use proptest::prelude::*;

use crate::stripe::lan::{Lan, id};

const KEY: &str = "0123456789abcdef";

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Two hosts whose members lie on these segments, both with this key or none, and what they said so far.
fn pair(segments: &[usize], key: &str) -> Lan {
    let mut lan = Lan::new();
    lan.record();
    for _ in 0..2 {
        lan.add_with_key(segments, &vec![1000; segments.len()], key);
    }
    lan.run(ms(1000));
    lan
}

fn paths(lan: &Lan, from: usize) -> usize {
    lan.paths_to(from, lan.host(1 - from).mac).len()
}

fn neighbours(lan: &Lan, host: usize) -> usize {
    lan.host(host).team.discovery().unwrap().neighbours().count()
}

/// All hellos of a kind that a host sent so far, in order, with the frames that they came in.
fn said_by(lan: &Lan, host: usize, kind: HelloKind) -> Vec<(Hello, Vec<u8>)> {
    let frames = lan.tape().map(|(_, frame)| frame);
    let of_host = frames.filter(|frame| frame[6..10] == lan.host(host).mac.0[..4]);
    let hellos = of_host.filter_map(|frame| {
        let hello = Hello::of_frame(&Frame::parse(frame).unwrap())?;
        Some((hello.unwrap(), frame.to_vec()))
    });
    hellos.filter(|(hello, _)| hello.kind == kind).collect()
}

fn last_announcement(lan: &Lan, host: usize) -> (Hello, Mac) {
    let (hello, frame) = said_by(lan, host, HelloKind::Announce).pop().unwrap();
    (hello, Mac(frame[6..12].try_into().unwrap()))
}

fn segments_of(lan: &Lan, host: usize) -> usize {
    lan.stripe(host).group.iter().count()
}

#[test]
fn data_from_a_peers_address_on_another_switch_merges_no_segments() {
    for key in ["", KEY] {
        let mut lan = pair(&[0, 1], key);
        assert_eq!(segments_of(&lan, 0), 2);
        let forged = last_announcement(&lan, 1).0.members[0].mac;
        for _ in 0..120 {
            lan.note_data(0, 1, forged);
            lan.run(ms(100));
            assert_eq!(segments_of(&lan, 0), 2, "key `{key}`");
        }
        assert_eq!(lan.broadcast(0).1.len(), 2, "both segments get what the team broadcasts");
    }
}

#[test]
fn data_keeps_what_an_announcement_began_and_no_longer() {
    let mut lan = pair(&[0, 0], KEY);
    let src = last_announcement(&lan, 1).0.members[0].mac;
    lan.stall(1, true);
    for _ in 0..100 {
        lan.note_data(0, 0, src);
        lan.run(ms(100));
        assert_eq!(neighbours(&lan, 0), 1, "who sends data is there");
    }
    lan.silence(1, 0, true);
    lan.silence(1, 1, true);
    for _ in 0..100 {
        lan.note_data(0, 0, src);
        lan.run(ms(100));
    }
    assert_eq!((neighbours(&lan, 0), paths(&lan, 0)), (1, 0), "data proves no path");
    lan.run(ms(8000));
    assert_eq!(neighbours(&lan, 0), 0);
    lan.note_data(0, 0, src);
    lan.run(ms(100));
    assert_eq!(neighbours(&lan, 0), 0, "and who is gone comes back by a hello alone");
}

/// A stranger with a leg on both switches is a cable between them.
#[test]
fn an_announcement_carried_over_in_time_merges_segments_for_as_long_as_it_counts() {
    for key in ["", KEY] {
        let mut lan = pair(&[0, 1], key);
        lan.run(ms(1100));
        let (_, carried) =
            said_by(&lan, 1, HelloKind::Announce).into_iter().rfind(|(hello, _)| hello.place == 0).unwrap();
        lan.inject(1, &carried);
        lan.run(ms(1));
        assert_eq!(segments_of(&lan, 0), 1, "key `{key}`");
        lan.run(ms(5000));
        assert_eq!(segments_of(&lan, 0), 2, "key `{key}`");
    }
}

#[test]
fn a_forged_jump_of_the_sequence_is_left_alone() {
    let mut lan = pair(&[0, 0], "");
    for jump in [1 << 17, 1 << 24, (1 << 31) - 1] {
        let (hello, src) = last_announcement(&lan, 1);
        let forged = Hello { sequence: hello.sequence.wrapping_add(jump), members: Vec::new(), ..hello };
        lan.inject(0, &forged.frame(Hello::GROUP, src));
        for _ in 0..100 {
            lan.run(ms(100));
            assert_eq!(paths(&lan, 0), 2, "a jump of {jump}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever was announced without a key in a peer's name, or in another with the peer's addresses: five seconds
    /// later the peer is what it was.
    #[test]
    fn a_peer_recovers_from_whatever_was_forged(
        forged in prop::collection::vec(
            (prop_oneof![Just(1_u32), 0..0x1_8000_u32, any::<u32>()], any::<u8>(), 0..6_u8, 0..4_u64, 0..20_u64), 1..12,
        ),
    ) {
        let mut lan = pair(&[0, 0], "");
        for (jump, next, what, other, wait) in forged {
            let (hello, src) = last_announcement(&lan, 1);
            let mut forged = Hello {
                sequence: hello.sequence.wrapping_add(jump),
                next_ms: u32::from(next) * 100,
                ..hello
            };
            match what {
                0 => forged.members.clear(),
                1 => forged.members.iter_mut().for_each(|member| member.usable = false),
                2 => forged.members.iter_mut().for_each(|member| member.mac.0[4] ^= 0x10),
                3 => forged.members.reverse(),
                4 => forged.team.0[1] ^= 0x40,
                _ => forged.members.iter_mut().for_each(|member| member.rate_mbps = 1),
            }
            // As the peer, as one with its team's address, and as teams beside it with its members'.
            if other > 0 {
                forged.system = other;
            }
            if other > 1 {
                forged.team = Mac([2, 0, other as u8, 0, 0, 0]);
            }
            lan.inject(0, &forged.frame(Hello::GROUP, src));
            lan.run(ms(wait * 25));
        }
        lan.run(ms(5000));
        prop_assert_eq!((paths(&lan, 0), paths(&lan, 1)), (2, 2));
        let rates = lan.stripe(0).peer(lan.host(1).mac).unwrap().receivers.iter().map(|of| of.rate_mbps);
        prop_assert_eq!(rates.collect::<Vec<_>>(), [1000; 2]);
    }
}

#[test]
fn an_address_that_can_be_no_peers_makes_no_peer() {
    let mut lan = pair(&[0, 0], "");
    let (hello, _) = last_announcement(&lan, 1);
    let own = last_announcement(&lan, 0).0;
    let stranger = Mac([2, 7, 7, 7, 7, 7]);
    let team = Mac([2, 7, 7, 7, 7, 0]);
    let sane = Hello {
        system: 77,
        team,
        place: 0,
        members: vec![HelloMember { place: 0, usable: true, rate_mbps: 1000, mac: stranger }],
        ..hello.clone()
    };
    let names = |mac: Mac| {
        let mut members = sane.members.clone();
        members.push(HelloMember { place: 1, mac, ..members[0] });
        Hello { members, ..sane.clone() }
    };
    let mut refused = vec![
        (names(Mac::BROADCAST), "broadcast as a member"),
        (names(Hello::GROUP), "a group as a member"),
        (names(Mac::default()), "zero as a member"),
        (Hello { team: Hello::GROUP, ..sane.clone() }, "a group as the team"),
        (Hello { team: Mac::default(), ..sane.clone() }, "zero as the team"),
        (Hello { team: own.team, ..sane.clone() }, "our team as the team"),
        (Hello { team: own.members[1].mac, ..sane.clone() }, "our member as the team"),
        (names(hello.members[1].mac), "a member of a peer that answers"),
    ];
    refused.extend(own.members.iter().map(|member| (names(member.mac), "a member of ours")));
    let before = lan.host(0).plan.generation;
    for (forged, what) in refused {
        lan.inject(0, &forged.frame(Hello::GROUP, stranger));
        lan.run(ms(10));
        assert_eq!((neighbours(&lan, 0), lan.host(0).plan.generation), (1, before), "{what}");
    }
    lan.inject(0, &sane.frame(Hello::GROUP, Mac([2, 7, 7, 7, 7, 8])));
    lan.run(ms(10));
    assert_eq!(neighbours(&lan, 0), 1, "from another address than it gives for its member");
    lan.inject(0, &sane.frame(Hello::GROUP, stranger));
    lan.run(ms(10));
    assert_eq!(neighbours(&lan, 0), 2, "without a key it takes no more than this to be known");
}

/// A fifth of 100,000 frames a second, on two links.
#[test]
fn no_path_is_lost_to_ten_thousand_forged_probes_a_second() {
    let lan = pair(&[0, 0], "key-of-both-of-them");
    let (plan, hello) = (&lan.host(0).plan, last_announcement(&lan, 1).0);
    let (dst, src) = (last_announcement(&lan, 0).0.members[0].mac, hello.members[0].mac);
    let probe = Hello { kind: HelloKind::Probe, members: Vec::new(), next_ms: 0, rivals: 0, ..hello };
    let bytes = probe.frame(dst, src);
    let mut state = PlanState::new(0);
    let mut echoes = |ms: u64, count: usize| {
        state.now = Time::from_millis(10_000 + ms);
        let verdict = |_| plan.receive_once(id(0), &Frame::parse(&bytes).unwrap(), &mut state);
        (0..count).map(verdict).filter(|verdict| *verdict == Verdict::Echo).count()
    };
    // Ten forged ones each millisecond, and the peer's own each fifth.
    let missing: usize = (0..60_000)
        .map(|ms| {
            echoes(ms, 10);
            if ms % 5 == 0 { 1 - echoes(ms, 1) } else { 0 }
        })
        .sum();
    assert_eq!(missing, 0);
}

/// Without a key, and with one: the addresses of a frame are not authenticated.
#[test]
fn probes_go_back_at_a_bounded_rate_and_of_one_length() {
    let lan = pair(&[0, 0], "");
    let (hello, src) = last_announcement(&lan, 1);
    let (plan, dst) = (&lan.host(0).plan, last_announcement(&lan, 0).0.members[0].mac);
    let probe = Hello { kind: HelloKind::Probe, members: Vec::new(), next_ms: 0, rivals: 0, ..hello.clone() };
    let others = hello.members.iter().map(|member| member.mac).find(|mac| *mac != src).unwrap();
    let mut state = PlanState::new(0);
    let mut echoes = |now: Time, src: Mac, count: usize| {
        let bytes = probe.frame(dst, src);
        state.now = now;
        let verdicts = (0..count).map(|_| plan.receive_once(id(0), &Frame::parse(&bytes).unwrap(), &mut state));
        verdicts.filter(|verdict| *verdict == Verdict::Echo).count()
    };
    let second = |seconds: u64| Time::from_millis(1000 * seconds);
    assert_eq!(echoes(second(10), src, 100_000), 20_000, "what goes back in a second, at once");
    assert_eq!(echoes(second(10), others, 100), 100, "another member of the same peer is answered");
    assert_eq!(echoes(second(11), src, 100_000), 20_000, "and as many a second");
    let each_ms: usize = (0..10_000).map(|ms| echoes(Time::from_millis(20_000 + ms), src, 100)).sum();
    assert!((200_000..=220_000).contains(&each_ms), "{each_ms} in ten seconds");
    // The most that a team sends, for as long as it likes.
    let usual: usize = (0..60_000).map(|ms| echoes(Time::from_millis(60_000 + ms), others, 2)).sum();
    assert_eq!(usual, 120_000);

    let whole = probe.frame(dst, src);
    for len in [60, 77, 79, 142, 1514] {
        let mut other = whole.clone();
        other.resize(len, 0);
        let verdict = plan.receive_once(id(0), &Frame::parse(&other).unwrap(), &mut PlanState::new(0));
        assert_eq!(verdict, Verdict::ToMember, "{len} bytes");
    }
}

#[test]
fn stamps_do_not_follow_from_what_is_on_the_wire() {
    for key in ["", KEY] {
        let mut lan = pair(&[0, 0], key);
        lan.run(ms(10_000));
        let probes = said_by(&lan, 0, HelloKind::Probe);
        let stamps: Vec<u64> = probes.iter().map(|(probe, _)| probe.stamp).collect();
        assert!(stamps.len() > 10);
        for (seed, name) in [(probes[0].0.system, "the system"), (stamps[0], "a stamp that was seen")] {
            // SplitMix64 (Steele, Lea, Flood 2014), which they once came from; its output gives its state away.
            for begin in [seed, unmixed(seed)] {
                let mut state = begin;
                let next = (0..1000).map(|_| {
                    state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                    mixed(state)
                });
                let found = next.filter(|stamp| stamps.contains(stamp)).count();
                assert_eq!(found, 0, "stamps that follow from {name}, key `{key}`");
            }
        }
    }
}

fn mixed(state: u64) -> u64 {
    let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// What [`mixed`] was made of.
fn unmixed(z: u64) -> u64 {
    let z = (z ^ z >> 31 ^ z >> 62).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let z = (z ^ z >> 27 ^ z >> 54).wrapping_mul(0x96de_1b17_3f11_9089);
    z ^ z >> 30 ^ z >> 60
}

#[test]
fn a_guessed_echo_proves_no_path() {
    let mut lan = pair(&[0, 0], "");
    // Nothing comes back any more, but somebody says that it does.
    let probe = said_by(&lan, 0, HelloKind::Probe).pop().unwrap().0;
    let members: Vec<Mac> = last_announcement(&lan, 1).0.members.iter().map(|member| member.mac).collect();
    (0..2).for_each(|member| lan.silence(1, member, true));
    for turn in 0..3000_u64 {
        for (place, src) in members.iter().enumerate() {
            let dst = last_announcement(&lan, 0).0.members[place].mac;
            let echo = Hello { kind: HelloKind::Echo, stamp: probe.stamp.wrapping_add(turn), ..probe.clone() };
            lan.inject(0, &echo.frame(dst, *src));
        }
        lan.run(ms(1));
    }
    assert_eq!(paths(&lan, 0), 0);
}

/// With a key, too: a dataplane that sends a probe back has no key.
#[test]
fn who_sees_a_probe_can_answer_it() {
    for key in ["", KEY] {
        let mut lan = pair(&[0, 0], key);
        let host = lan.host(0).mac;
        (0..2).for_each(|member| lan.silence(1, member, true));
        lan.record();
        for _ in 0..3000 {
            let mut new: Vec<Vec<u8>> = lan.take_tape().into_iter().map(|(_, frame)| frame).collect();
            lan.record();
            new.retain(|frame| frame[6..10] == host.0[..4]);
            for mut frame in new {
                if Hello::reflect(&mut frame) {
                    lan.inject(0, &frame);
                }
            }
            lan.run(ms(1));
        }
        assert_eq!(paths(&lan, 0), 2, "key `{key}`");
    }
}

#[test]
fn what_was_said_without_a_key_counts_no_more_while_its_team_speaks() {
    let mut lan = pair(&[0, 0], "");
    let old = said_by(&lan, 1, HelloKind::Announce);
    lan.plug(1, 1, false);
    lan.run(ms(1000));
    let before = lan.host(0).plan.generation;
    for _ in 0..10 {
        for (_, frame) in &old {
            lan.inject(0, frame);
            lan.run(ms(10));
        }
        lan.run(ms(500));
        assert_eq!(lan.host(0).plan.generation, before);
    }
}

#[test]
fn an_announcement_sent_on_from_another_address_is_worth_nothing_and_takes_nothing() {
    let mut lan = pair(&[0, 0], KEY);
    // The first team hears nothing while the second one begins anew.
    (0..2).for_each(|member| lan.silence(0, member, true));
    lan.run(ms(6000));
    assert_eq!(neighbours(&lan, 0), 0);
    let old = said_by(&lan, 1, HelloKind::Announce).len();
    lan.restart(1);
    lan.run(ms(100));
    (0..2).for_each(|member| lan.silence(0, member, false));
    let (said, challenges) = (said_by(&lan, 1, HelloKind::Announce), said_by(&lan, 0, HelloKind::Challenge).len());
    assert!(said.len() > old);
    for (_, mut frame) in said.into_iter().skip(old) {
        frame[6..12].copy_from_slice(&[2, 7, 7, 7, 7, 7]);
        lan.inject(0, &frame);
        lan.run(ms(20));
    }
    assert_eq!(said_by(&lan, 0, HelloKind::Challenge).len(), challenges, "nobody is challenged at the stranger's");
    lan.run(ms(1500));
    assert_eq!((paths(&lan, 0), paths(&lan, 1)), (2, 2));
}

#[test]
fn replayed_challenges_keep_nobody_from_proving_himself() {
    let mut lan = pair(&[0, 0], KEY);
    // Challenges of several runs of the second team.
    for _ in 0..4 {
        lan.restart(1);
        lan.run(ms(300));
    }
    let old: Vec<Vec<u8>> = said_by(&lan, 1, HelloKind::Challenge).into_iter().map(|(_, frame)| frame).collect();
    assert!(old.len() >= 4);
    let answers = |lan: &Lan| said_by(lan, 0, HelloKind::Answer).len();
    let replay = |lan: &mut Lan, most: u64| {
        for _ in 0..most {
            for frame in &old {
                lan.inject(0, frame);
            }
            lan.run(ms(1));
        }
    };
    let before = answers(&lan);
    replay(&mut lan, 1000);
    assert!(answers(&lan) - before <= old.len(), "{} answers to {} challenges", answers(&lan) - before, old.len());
    lan.restart(1);
    replay(&mut lan, 500);
    assert_eq!((paths(&lan, 0), paths(&lan, 1)), (2, 2));
}
