//! Which path is taken for dead, when, and which is not.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::stripe::lan::Lan;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Two hosts with three gigabit members each on one segment, the first sending to the second.
fn busy() -> Lan {
    let mut lan = Lan::new();
    lan.add(&[0; 3], &[1000; 3]);
    lan.add(&[0; 3], &[1000; 3]);
    lan.run_busy((0, 1), ms(500), |_| false);
    assert_eq!(paths(&lan, 0), [(0, 0), (1, 1), (2, 2)].into());
    lan
}

/// The paths of one of the two to the other.
fn paths(lan: &Lan, of: usize) -> BTreeSet<(usize, u8)> {
    lan.paths_to(of, lan.host(1 - of).mac)
}

fn plans(lan: &Lan) -> u64 {
    lan.hosts().map(|host| host.plan.generation).sum()
}

/// What a test waits for at most, and the bound for a silent failure.
const LONG: Duration = ms(2000);
const FOUND: Duration = ms(30);

#[test]
fn a_link_that_is_up_and_passes_nothing_is_left_by_both_ends_within_30_ms() {
    // At every moment between two probes.
    for offset in 0..6 {
        let mut lan = busy();
        lan.run_busy((0, 1), ms(offset), |_| false);
        lan.silence(1, 2, true);
        let none_to = |lan: &Lan| paths(lan, 0).iter().all(|&(_, to)| to != 2);
        let none_from = |lan: &Lan| paths(lan, 1).iter().all(|&(from, _)| from != 2);
        let took = lan.run_busy((0, 1), LONG, |lan| none_to(lan) && none_from(lan));
        assert!(took <= FOUND, "{took:?}");
        lan.run_busy((0, 1), ms(100), |_| false);
        // Its counterpart goes on by another way.
        assert!(paths(&lan, 0).iter().any(|&(from, _)| from == 2), "{:?}", paths(&lan, 0));
        lan.silence(1, 2, false);
        let took = lan.run_busy((0, 1), LONG, |lan| paths(lan, 0).contains(&(2, 2)));
        assert!(took <= ms(600), "{took:?} until it is used again");
    }
}

#[test]
fn one_that_passes_nothing_one_way_is_left_by_the_end_that_sends() {
    let mut lan = busy();
    lan.mute(0, 1, true);
    // The second hears the first by no frame of member 1, the first hears the second by it as before.
    let took = lan.run_busy((1, 0), LONG, |lan| !paths(lan, 0).iter().any(|&(from, _)| from == 1));
    assert!(took <= FOUND, "{took:?}");
}

#[test]
fn of_a_peer_that_is_silent_on_all_paths_none_is_left_for_300_ms() {
    let mut lan = busy();
    let before = paths(&lan, 0);
    (0..3).for_each(|member| lan.silence(1, member, true));
    lan.run_busy((0, 1), ms(280), |_| false);
    assert_eq!(paths(&lan, 0), before, "a peer that is late");
    (0..3).for_each(|member| lan.silence(1, member, false));
    lan.run_busy((0, 1), ms(500), |_| false);
    assert_eq!(paths(&lan, 0), before);
    (0..3).for_each(|member| lan.silence(1, member, true));
    let took = lan.run_busy((0, 1), LONG, |lan| paths(lan, 0).is_empty());
    assert!((ms(280)..ms(330)).contains(&took), "{took:?}");
}

#[test]
fn a_single_path_has_300_ms_too() {
    let mut lan = Lan::new();
    lan.add(&[0], &[1000]);
    lan.add(&[0], &[1000]);
    lan.run_busy((0, 1), ms(500), |_| false);
    lan.silence(1, 0, true);
    let took = lan.run_busy((0, 1), LONG, |lan| paths(lan, 0).is_empty());
    assert!((ms(280)..ms(330)).contains(&took), "{took:?}");
}

#[test]
fn neither_a_peer_that_does_not_run_nor_a_time_in_which_we_did_not_costs_a_path() {
    for stalled in [0, 1] {
        let mut lan = busy();
        let before = plans(&lan);
        for pause in [ms(20), ms(40), ms(500), ms(3000), Duration::from_secs(20)] {
            lan.stall(stalled, true);
            lan.run_busy((0, 1), pause, |_| false);
            lan.stall(stalled, false);
            lan.run_busy((0, 1), ms(50), |_| false);
        }
        assert_eq!(plans(&lan), before, "host {stalled} stalled");
    }
}

#[test]
fn a_queue_that_grows_costs_no_path() {
    let mut lan = busy();
    let before = plans(&lan);
    // The way by member 1 becomes longer, by a millisecond each five, and then short again.
    for delay in (0..60).chain((0..60).rev()) {
        lan.delay(0, 1, ms(delay));
        lan.run_busy((0, 1), ms(5), |_| false);
    }
    assert_eq!(plans(&lan), before);
}

#[test]
fn a_link_that_comes_and_goes_is_used_less_and_less() {
    let mut lan = busy();
    let changes = |lan: &mut Lan, times: u32| {
        let before = lan.host(0).plan.generation;
        for _ in 0..times {
            lan.silence(1, 2, true);
            lan.run_busy((0, 1), ms(100), |_| false);
            lan.silence(1, 2, false);
            lan.run_busy((0, 1), ms(100), |_| false);
        }
        lan.host(0).plan.generation - before
    };
    changes(&mut lan, 40);
    let later = changes(&mut lan, 40);
    assert!(later <= 10, "{later} plans in eight seconds");
    let took = lan.run_busy((0, 1), LONG, |lan| paths(lan, 0).contains(&(2, 2)));
    assert!(took < ms(1000), "{took:?} until it is used again");
}

#[test]
fn without_traffic_probes_are_few_and_with_the_first_frame_many() {
    let mut lan = busy();
    lan.run(Duration::from_secs(5));
    lan.host_mut(0).sent.clear();
    lan.run(Duration::from_secs(10));
    let said: u64 = lan.host(0).sent.values().sum();
    assert!(said <= 3 * 10 + 3 * 20 + 10, "{said} hellos of three members in ten seconds");
    // A link that failed silently meanwhile.
    lan.silence(1, 2, true);
    let took = lan.run_busy((0, 1), LONG, |lan| paths(lan, 0).iter().all(|&(_, to)| to != 2));
    assert!(took <= ms(50) + FOUND, "{took:?}");
}

#[test]
fn a_lost_carrier_is_told_to_the_peer_at_once_however_often() {
    let mut lan = busy();
    for _ in 0..5 {
        lan.plug(1, 1, false);
        lan.run(ms(1));
        assert!(paths(&lan, 0).iter().all(|&(_, to)| to != 1), "{:?}", paths(&lan, 0));
        lan.plug(1, 1, true);
        lan.run_busy((0, 1), ms(400), |_| false);
        assert!(paths(&lan, 0).contains(&(1, 1)));
    }
}
