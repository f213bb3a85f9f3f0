//! Hosts where nothing is wrong.

use nicteam_explain::Weight;

use crate::common::{World, to_one_host};

#[test]
fn flows_on_all_links_are_as_they_should_be() {
    for links in 2..=4 {
        let all: Vec<usize> = (0..links).collect();
        let mut world = World::aggregate(links).flows(&to_one_host(16, &all, &all));
        for link in all {
            world = world.carries(link, 300e6, 300e6);
        }
        world.is_good();
        assert_eq!(world.explained().verdict, "nothing is wrong");
    }
}

#[test]
fn few_flows_on_one_link_are_chance() {
    let flows = [(9, 9, 0, 1), (9, 9, 0, 1)];
    World::aggregate(2).flows(&flows).carries(0, 100e6, 0.0).carries(1, 0.0, 100e6).is_good();
}

#[test]
fn hosts_of_one_network_each_on_their_link_are_no_fault() {
    // The switch hashes by MAC, and the hosts' addresses spread.
    let flows: Vec<_> = (0..16).map(|at| (10 + at as u8 / 4, 10 + at as u8 / 4, at / 4 % 2, at % 2)).collect();
    World::aggregate(2).flows(&flows).carries(0, 200e6, 100e6).carries(1, 200e6, 100e6).is_good();
}

#[test]
fn an_idle_host_says_what_is_not_known() {
    for world in [World::aggregate(2), World::of("balance-xor", 2), World::of("balance-rr", 3)] {
        world.is_good();
        let explanation = world.explained();
        assert!(explanation.verdict.contains("without traffic"), "{}", explanation.verdict);
        assert!(
            explanation.unknown.iter().any(|line| line.contains("nothing was received")),
            "{:?}",
            explanation.unknown
        );
    }
}

#[test]
fn a_reader_without_rights_is_told_what_is_not_seen() {
    let mut world = World::aggregate(2).flows(&to_one_host(16, &[0, 1], &[0, 1]));
    world.headers = None;
    world = world.carries(0, 100e6, 100e6).carries(1, 100e6, 100e6);
    world.is_good();
    assert!(world.explained().unknown.iter().any(|line| line.contains("CAP_NET_RAW")));
}

#[test]
fn full_links_are_no_fault() {
    let flows = to_one_host(16, &[0, 1], &[0, 1]);
    let world = World::aggregate(2).flows(&flows).carries(0, 10e6, 950e6).carries(1, 10e6, 950e6);
    assert!(world.notes("full").sentence.contains("1.9 Gbit/s"));
}

#[test]
fn a_mode_that_uses_one_member_does_so_by_design() {
    let mut world = World::of("active-backup", 2).flows(&to_one_host(8, &[0], &[0])).carries(0, 100e6, 100e6);
    world.bundle.active = Some("eth0".to_owned());
    world.member(1).active = false;
    assert!(world.notes("active-backup").sentence.contains("eth0"));
    // But it limits once that member is full.
    let full = world.carries(0, 10e6, 960e6);
    assert_eq!(full.finds("active-backup").weight, Weight::Limit);
}

#[test]
fn failures_of_the_past_are_told_and_are_no_fault() {
    let mut world = World::aggregate(2);
    world.member(1).link_failures = Some(3);
    assert!(world.notes("flapping").sentence.contains("3 times"));
}

#[test]
fn drops_that_are_few_are_frames_that_nobody_wants() {
    let mut world = World::aggregate(2).flows(&to_one_host(16, &[0, 1], &[0, 1]));
    world = world.carries(0, 100e6, 100e6).carries(1, 100e6, 100e6);
    world.rates.devices.get_mut("eth0").unwrap().counted.rx_drops = 90;
    world.is_good();
}
