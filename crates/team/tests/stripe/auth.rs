//! Teams with keys: who believes whom, and what forged, old and foreign hellos do.

use std::time::Duration;

use nicteam_team::stripe::Refused;
use nicteam_wire::{Hello, Mac};
use proptest::prelude::*;

use crate::stripe::lan::Lan;

const KEY: &str = "0123456789abcdef";
const OTHER: &str = "0123456789abcdeF";

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Two hosts with two members each on one segment, with these keys, and what they said so far.
fn pair(keys: [&str; 2]) -> Lan {
    let mut lan = Lan::new();
    lan.record();
    for key in keys {
        lan.add_with_key(&[0; 2], &[1000; 2], key);
    }
    lan
}

fn paths(lan: &Lan, from: usize) -> usize {
    lan.paths_to(from, lan.host(1 - from).mac).len()
}

fn neighbours(lan: &Lan, host: usize) -> usize {
    lan.host(host).team.discovery().unwrap().neighbours().count()
}

fn refused(lan: &Lan, host: usize) -> Refused {
    lan.host(host).team.discovery().unwrap().refused()
}

fn set_key(lan: &mut Lan, host: usize, key: &str) {
    let mut config = lan.host(host).team.config().clone();
    config.set("stripe_key", key).unwrap();
    let now = lan.now();
    lan.change(host, |team| team.set_config(config, now).unwrap());
}

/// What of the tape a host said.
fn said_by(lan: &Lan, host: usize) -> Vec<Vec<u8>> {
    let of = |frame: &&[u8]| frame[6..10] == lan.host(host).mac.0[..4];
    lan.tape().map(|(_, frame)| frame).filter(of).map(<[u8]>::to_vec).collect()
}

#[test]
fn who_has_the_key_is_believed_and_soon() {
    let mut lan = pair([KEY, KEY]);
    lan.run(ms(100));
    assert_eq!((paths(&lan, 0), paths(&lan, 1)), (2, 2));
    lan.run(Duration::from_secs(60));
    let nothing = Refused::default();
    assert_eq!((refused(&lan, 0), refused(&lan, 1)), (nothing, nothing));
    assert_eq!((paths(&lan, 0), paths(&lan, 1)), (2, 2));
}

#[test]
fn who_has_another_key_or_none_is_not() {
    for (keys, first, second) in [([KEY, OTHER], "wrong", "wrong"), ([KEY, ""], "untagged", "keyed")] {
        let mut lan = pair(keys);
        lan.run(Duration::from_secs(5));
        for (host, which) in [(0, first), (1, second)] {
            assert_eq!((paths(&lan, host), neighbours(&lan, host)), (0, 0), "{keys:?}");
            let Refused { untagged, wrong, replayed, keyed, last, .. } = refused(&lan, host);
            let counted = [("untagged", untagged), ("wrong", wrong), ("replayed", replayed), ("keyed", keyed)];
            assert!(counted.iter().all(|(name, count)| (*count > 8) == (*name == which)), "{keys:?}: {counted:?}");
            assert_eq!(last.unwrap().from.0[..4], lan.host(1 - host).mac.0[..4]);
        }
    }
}

#[test]
fn another_key_parts_teams_and_the_same_brings_them_together() {
    let mut lan = pair(["", ""]);
    lan.run(ms(200));
    for (host, key, together) in [(0, KEY, false), (1, KEY, true), (1, OTHER, false), (0, OTHER, true), (0, "", false)]
    {
        set_key(&mut lan, host, key);
        assert_eq!(paths(&lan, host), 0, "nobody is known by another key");
        lan.run(Duration::from_secs(5));
        let expected = if together { 2 } else { 0 };
        assert_eq!((paths(&lan, 0), paths(&lan, 1)), (expected, expected), "{host} has `{key}`");
    }
}

/// Three teams on a segment, and each pair of them.
fn three() -> (Lan, [(usize, usize); 6]) {
    let mut lan = Lan::new();
    for _ in 0..3 {
        lan.add_with_key(&[0; 2], &[1000; 2], KEY);
    }
    lan.run(ms(500));
    (lan, [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)])
}

fn set_keys(lan: &mut Lan, host: usize, key: &str, old: &str) {
    let mut config = lan.host(host).team.config().clone();
    config.set("stripe_key", key).unwrap();
    config.set("stripe_key_old", old).unwrap();
    let now = lan.now();
    lan.change(host, |team| team.set_config(config, now).unwrap());
}

/// Lets time pass, in which no pair loses a path.
fn hold_together(lan: &mut Lan, pairs: &[(usize, usize)], turns: u32, what: &str) {
    for _ in 0..turns {
        for &(from, to) in pairs {
            assert_eq!(lan.paths_to(from, lan.host(to).mac).len(), 2, "{from} to {to}, {what}");
        }
        lan.run(ms(5));
    }
}

#[test]
fn a_key_is_changed_without_losing_a_path() {
    // In the second step some are quick and some slow; in the third round the old key is a third one.
    for (first, second) in [([0, 1, 2], [0, 1, 2]), ([2, 0, 1], [1, 2, 0]), ([1, 2, 0], [2, 1, 0])] {
        let (mut lan, pairs) = three();
        for (key, old) in [(OTHER, KEY), ("another-key-again", OTHER)] {
            for (host, new) in first.into_iter().zip(1..) {
                set_keys(&mut lan, host, key, old);
                hold_together(&mut lan, &pairs, 2, &format!("{host} has both"));
                // Each second at the latest everybody has said which key he has.
                hold_together(&mut lan, &pairs, 400, &format!("{host} has had both for long"));
                assert_eq!(lan.host(host).team.discovery().unwrap().have_new_key(), Some(new - 1));
            }
            for host in second {
                set_keys(&mut lan, host, key, "");
                hold_together(&mut lan, &pairs, 400, &format!("{host} has the new one alone"));
                assert_eq!(lan.host(host).team.discovery().unwrap().have_new_key(), None);
            }
            hold_together(&mut lan, &pairs, 2000, "nobody has the old one");
        }
        for host in 0..3 {
            assert_eq!(refused(&lan, host), Refused::default());
        }
    }
}

#[test]
fn who_starts_while_keys_are_changed_is_known_by_either() {
    // By which keys the third team begins anew, and whom it then knows of the first two.
    for (keys, known) in [([KEY, ""], [true, false]), ([OTHER, KEY], [true, true]), ([OTHER, ""], [true, true])] {
        let (mut lan, _) = three();
        set_keys(&mut lan, 0, OTHER, KEY);
        set_keys(&mut lan, 1, OTHER, KEY);
        lan.run(ms(100));
        set_keys(&mut lan, 1, OTHER, "");
        lan.run(ms(100));
        set_keys(&mut lan, 2, keys[0], keys[1]);
        lan.restart(2);
        lan.run(ms(300));
        for (host, knows) in [0, 1].into_iter().zip(known) {
            let expected = if knows { 2 } else { 0 };
            let of = |from: usize, to: usize| lan.paths_to(from, lan.host(to).mac).len();
            assert_eq!((of(2, host), of(host, 2)), (expected, expected), "{keys:?}, {host}");
            assert_eq!((of(0, 1), of(1, 0)), (2, 2));
        }
    }
}

#[test]
fn the_old_key_is_worth_nothing_once_it_is_gone() {
    let (mut lan, _) = three();
    for host in 0..2 {
        set_keys(&mut lan, host, OTHER, KEY);
        lan.run(ms(500));
    }
    let peers = |lan: &Lan, host: usize| lan.host(host).team.discovery().unwrap().neighbours().count();
    assert_eq!((peers(&lan, 0), peers(&lan, 2)), (2, 2));
    assert_eq!(lan.host(0).team.discovery().unwrap().have_new_key(), Some(1), "the third does not have it");
    set_keys(&mut lan, 0, OTHER, "");
    assert_eq!(peers(&lan, 0), 1, "the third is left at once");
    lan.run(Duration::from_secs(5));
    assert_eq!((peers(&lan, 0), peers(&lan, 1)), (1, 2));
    assert_eq!(lan.paths_to(0, lan.host(1).mac).len(), 2);
    assert!(refused(&lan, 0).wrong > 3);
}

#[test]
fn what_was_said_changes_nothing_when_it_is_said_again() {
    let mut lan = pair([KEY, KEY]);
    lan.run(Duration::from_secs(3));
    let plans = |lan: &Lan| lan.hosts().map(|host| host.plan.generation).collect::<Vec<_>>();
    let before = plans(&lan);
    for (segment, frame) in lan.take_tape() {
        lan.inject(segment, &frame);
        lan.run(ms(1));
    }
    lan.run(Duration::from_secs(3));
    assert_eq!(plans(&lan), before);
    assert!(refused(&lan, 0).replayed > 10 && refused(&lan, 1).replayed > 10);
}

#[test]
fn a_whole_old_session_makes_no_peer() {
    let mut lan = pair([KEY, KEY]);
    lan.run(Duration::from_secs(3));
    let old = said_by(&lan, 1);
    (0..2).for_each(|member| lan.silence(1, member, true));
    lan.run(Duration::from_secs(5));
    assert_eq!(neighbours(&lan, 0), 0, "it is gone");
    // To the team that knew it, and to one that never did.
    for restart in [false, true] {
        if restart {
            lan.restart(0);
            lan.run(ms(100));
        }
        let before = lan.host(0).plan.generation;
        for frame in &old {
            lan.inject(0, frame);
            lan.run(ms(2));
            assert_eq!(neighbours(&lan, 0), 0);
        }
        assert_eq!(lan.host(0).plan.generation, before);
    }
}

#[test]
fn an_old_session_does_not_displace_the_new_one() {
    let mut lan = pair([KEY, KEY]);
    lan.run(Duration::from_secs(3));
    let old = said_by(&lan, 1);
    lan.restart(1);
    lan.run(ms(500));
    assert_eq!((paths(&lan, 0), neighbours(&lan, 0)), (2, 1), "the new one took the place of the old one");
    let before = lan.host(0).plan.generation;
    for frame in &old {
        lan.inject(0, frame);
        lan.run(ms(2));
    }
    assert_eq!((paths(&lan, 0), neighbours(&lan, 0)), (2, 1));
    assert_eq!(lan.host(0).plan.generation, before);
}

#[test]
fn old_echoes_keep_no_dead_path_alive() {
    let mut lan = pair([KEY, KEY]);
    lan.run(Duration::from_secs(3));
    let old = said_by(&lan, 1);
    (0..2).for_each(|member| lan.silence(1, member, true));
    for frame in &old {
        lan.inject(0, frame);
        lan.run(ms(3500) / old.len() as u32);
    }
    assert_eq!(paths(&lan, 0), 0);
}

#[test]
fn one_changed_bit_is_enough_to_be_refused() {
    let mut lan = pair([KEY, KEY]);
    lan.run(ms(500));
    let announced = |frame: &Vec<u8>| frame[..6] == Hello::GROUP.0;
    let frame = said_by(&lan, 1).into_iter().rfind(announced).unwrap();
    let counted = |lan: &Lan| refused(lan, 0).wrong + refused(lan, 0).untagged;
    for bit in 14 * 8..frame.len() * 8 {
        let mut forged = frame.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let (before, plan) = (counted(&lan), lan.host(0).plan.generation);
        lan.inject(0, &forged);
        lan.run(ms(1));
        // Of another version, of an unknown kind, or longer than it is: no hello at all.
        let is_none = Hello::decode(&forged[14..]).is_err();
        assert_eq!(counted(&lan) - before, if is_none { 0 } else { 2 }, "bit {bit}, on two members");
        assert_eq!(lan.host(0).plan.generation, plan);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Frames that an attacker without the key mixes from what he heard, by the
    /// thousand, do nothing but be counted.
    #[test]
    fn nothing_that_is_patched_together_is_believed(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..200),
    ) {
        let mut lan = pair([KEY, KEY]);
        lan.run(ms(300));
        let said = said_by(&lan, 1);
        let before = lan.host(0).plan.generation;
        for (which, place, value) in changes {
            let mut frame = which.get(&said).clone();
            let place = place.index(frame.len());
            frame[place] = value;
            if Mac(frame[..6].try_into().unwrap()) != Hello::GROUP {
                frame[..6].copy_from_slice(&lan.host(0).mac.0);
            }
            lan.inject(0, &frame);
        }
        lan.run(ms(700));
        prop_assert_eq!(lan.host(0).plan.generation, before);
        prop_assert_eq!((paths(&lan, 0), neighbours(&lan, 0)), (2, 1));
    }
}
