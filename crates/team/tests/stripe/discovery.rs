//! Who finds whom, over which paths, and for how long.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::stripe::lan::Lan;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn paths(of: &[(usize, u8)]) -> BTreeSet<(usize, u8)> {
    of.iter().copied().collect()
}

/// Two hosts with four gigabit members each on one segment.
fn pair() -> (Lan, usize, usize) {
    let mut lan = Lan::new();
    let (a, b) = (lan.add(&[0; 4], &[1000; 4]), lan.add(&[0; 4], &[1000; 4]));
    (lan, a, b)
}

#[test]
fn two_teams_on_a_segment_find_each_other_and_all_their_links() {
    let (mut lan, a, b) = pair();
    lan.run(ms(100));
    let all = paths(&[(0, 0), (1, 1), (2, 2), (3, 3)]);
    assert_eq!(lan.paths_to(a, lan.host(b).mac), all);
    assert_eq!(lan.paths_to(b, lan.host(a).mac), all);
}

#[test]
fn separate_cables_are_used_crossed_as_they_are() {
    let mut lan = Lan::new();
    let (a, b) = (lan.add(&[0, 1, 2], &[1000; 3]), lan.add(&[1, 0, 2], &[1000; 3]));
    lan.run(ms(200));
    assert_eq!(lan.paths_to(a, lan.host(b).mac), paths(&[(0, 1), (1, 0), (2, 2)]));
}

#[test]
fn a_host_with_one_link_is_served_by_all() {
    let mut lan = Lan::new();
    let (a, b) = (lan.add(&[0; 4], &[1000; 4]), lan.add(&[0], &[1000]));
    lan.run(ms(200));
    assert_eq!(lan.paths_to(a, lan.host(b).mac), paths(&[(0, 0), (1, 0), (2, 0), (3, 0)]));
    assert_eq!(lan.paths_to(b, lan.host(a).mac), paths(&[(0, 0), (0, 1), (0, 2), (0, 3)]));
}

#[test]
fn a_lost_link_is_left_by_both_ends_and_used_again() {
    let (mut lan, a, b) = pair();
    lan.run(ms(500));
    lan.plug(a, 1, false);
    assert!(!lan.paths_to(a, lan.host(b).mac).contains(&(1, 1)), "its own end sees it at once");
    lan.run(ms(1));
    // The other end is told; its second member is free and looks for a way.
    assert!(lan.paths_to(b, lan.host(a).mac).iter().all(|&(_, place)| place != 1));
    lan.run(ms(100));
    assert_eq!(lan.paths_to(b, lan.host(a).mac).len(), 4, "all of its members still send");
    lan.plug(a, 1, true);
    lan.run(ms(200));
    assert_eq!(lan.paths_to(a, lan.host(b).mac), paths(&[(0, 0), (1, 1), (2, 2), (3, 3)]));
}

#[test]
fn one_that_ends_is_forgotten_and_one_that_starts_anew_is_known_at_once() {
    let (mut lan, a, b) = pair();
    lan.run(ms(500));
    (0..4).for_each(|member| lan.silence(b, member, true));
    lan.run(ms(3500));
    assert!(lan.paths_to(a, lan.host(b).mac).is_empty());
    lan.run(ms(4000));
    assert_eq!(lan.host(a).team.discovery().unwrap().neighbours().count(), 0);
    (0..4).for_each(|member| lan.silence(b, member, false));
    lan.restart(b);
    lan.run(ms(200));
    assert_eq!(lan.paths_to(a, lan.host(b).mac).len(), 4);
    lan.restart(b);
    lan.run(ms(200));
    assert_eq!(lan.host(a).team.discovery().unwrap().neighbours().count(), 1, "not two of one address");
    assert_eq!(lan.paths_to(a, lan.host(b).mac).len(), 4);
}

#[test]
fn nothing_changes_while_nothing_happens() {
    let (mut lan, ..) = pair();
    lan.run(ms(1000));
    let before = lan.hosts().map(|host| host.plan.generation).collect::<Vec<_>>();
    lan.run(Duration::from_secs(60));
    assert_eq!(lan.hosts().map(|host| host.plan.generation).collect::<Vec<_>>(), before);
}

/// Frames a second that each host sends, all the others being heard.
fn said_by_each(hosts: usize, members: usize, seconds: u64) -> (Lan, u64) {
    let mut lan = Lan::new();
    for _ in 0..hosts {
        lan.add(&vec![0; members], &vec![1000; members]);
    }
    lan.run(ms(600 * seconds));
    lan.count_anew();
    lan.run(Duration::from_secs(seconds));
    let most = lan.hosts().map(|host| host.sent.values().sum::<u64>() / seconds).max().unwrap();
    (lan, most)
}

#[test]
fn many_teams_say_little() {
    let (lan, most) = said_by_each(40, 2, 5);
    // Two announcements, and a probe of each of two paths to each of 39.
    assert!(most <= 2 + 2 * 39 + 20, "{most} hellos a second");
    assert!(lan.hosts().all(|host| host.stripe().unwrap().peers.len() == 39));
}

#[test]
fn a_hundred_teams_are_bearable() {
    let (lan, most) = said_by_each(120, 1, 1);
    for host in lan.hosts() {
        let discovery = host.team.discovery().unwrap();
        assert_eq!((discovery.neighbours().count(), discovery.overlooked()), (119, 0));
        let heard: usize = discovery.neighbours().map(|neighbour| neighbour.paths().count()).sum();
        assert!(heard <= 119, "{heard} paths of one member to as many hosts with one");
    }
    // 500 probes a second of paths of which something is to be known soon, 50 of others, twice 100 of those that failed, and few announcements.
    assert!(most <= 500 + 50 + 2 * 100 + 10, "{most} hellos a second");
}
