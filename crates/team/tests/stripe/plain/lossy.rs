//! Members whose segments are lost.

use nicteam_team::{PlainEvent, PlainState};

use super::bench::{Bench, id, ms, striped};

/// What four members send in a quarter of a second, and one of 80 or of 330 lost by some.
const GOOD: (u64, u64) = (20_000, 0);
const BAD: (u64, u64) = (20_000, 250);
const POOR: (u64, u64) = (20_000, 60);

fn busy() -> Bench {
    let mut bench = Bench::new(4, 1);
    run(&mut bench, [GOOD; 4], 12);
    assert_eq!((bench.used(), bench.events()), (vec![0, 1, 2, 3], vec![]));
    bench
}

/// Sends so for so many quarters of a second; who is left sends nothing.
fn run(bench: &mut Bench, counts: [(u64, u64); 4], quarters: usize) {
    for _ in 0..quarters {
        let used = bench.used();
        let counts: Vec<(u64, u64)> =
            counts.iter().enumerate().map(|(place, of)| if used.contains(&place) { *of } else { (0, 0) }).collect();
        bench.use_hosts(&[striped(0)]);
        bench.count(&counts);
        bench.run(ms(250));
    }
}

#[test]
fn a_lossy_member_is_left_and_tried_later_and_later() {
    let mut bench = busy();
    for seconds in [10, 20, 40, 80, 160, 160] {
        run(&mut bench, [GOOD, GOOD, BAD, GOOD], 9);
        assert_eq!(bench.used(), [0, 1, 3]);
        assert_eq!(bench.balanced(), [0, 1, 2, 3], "what one flow of UDP loses there is the link's");
        let events = bench.events();
        let [PlainEvent::Lossy { member, sent, resent, others_resent: 0, left_for, .. }] = events[..] else {
            panic!("{events:?}")
        };
        assert_eq!((member, left_for), (id(2), ms(1000 * seconds)));
        // Some of the second may have been good.
        assert!((1000 * resent) >= 10 * sent && 1000 * resent <= 13 * sent, "{resent} of {sent}");
        let PlainState::Lossy { rest, .. } = bench.status().members[2].state else { panic!("{:?}", bench.status()) };
        assert!(rest <= left_for && rest + ms(2500) > left_for, "{rest:?}");
        run(&mut bench, [GOOD; 4], 4 * seconds as usize - 9);
        assert_eq!(bench.used(), [0, 1, 3]);
        run(&mut bench, [GOOD; 4], 9);
        assert_eq!((bench.used(), bench.events()), (vec![0, 1, 2, 3], vec![PlainEvent::Tried { member: id(2) }]));
    }
    // Good for as long as it was left, it begins anew.
    run(&mut bench, [GOOD; 4], 4 * 161);
    run(&mut bench, [GOOD, GOOD, BAD, GOOD], 9);
    let events = bench.events();
    assert!(matches!(events[..], [PlainEvent::Lossy { left_for, .. }] if left_for == ms(10_000)), "{events:?}");
}

#[test]
fn a_member_that_loses_little_is_left_when_it_has_lost_for_three_seconds() {
    let mut bench = busy();
    run(&mut bench, [GOOD, GOOD, POOR, GOOD], 9);
    assert_eq!((bench.used(), bench.events()), (vec![0, 1, 2, 3], vec![]));
    run(&mut bench, [GOOD, GOOD, POOR, GOOD], 9);
    assert_eq!(bench.used(), [0, 1, 3]);
}

#[test]
fn what_all_lose_alike_blames_nobody() {
    let mut bench = busy();
    run(&mut bench, [BAD; 4], 40);
    run(&mut bench, [(20_000, 60), (20_000, 30), (20_000, 90), (20_000, 50)], 40);
    assert_eq!((bench.used(), bench.events()), (vec![0, 1, 2, 3], vec![]));
}

#[test]
fn what_a_silent_member_lost_is_not_held_against_it() {
    let mut bench = busy();
    bench.block(2, [true; 2]);
    bench.until(|bench| bench.used() == [0, 1, 3]);
    bench.block(2, [false; 2]);
    bench.until(|bench| bench.used().len() == 4);
    bench.events();
    run(&mut bench, [GOOD, GOOD, (10_000, 5000), GOOD], 12);
    assert_eq!((bench.used(), bench.events()), (vec![0, 1, 2, 3], vec![]));
    run(&mut bench, [GOOD, GOOD, (10_000, 5000), GOOD], 14);
    assert_eq!(bench.used(), [0, 1, 3], "but what it goes on to lose is");
}

#[test]
fn of_two_that_are_lossy_the_worse_goes_first_and_one_is_always_left() {
    let mut bench = busy();
    run(&mut bench, [(20_000, 900), GOOD, BAD, GOOD], 12);
    let left: Vec<usize> = bench.events().iter().map(|event| event.member().index()).collect();
    assert_eq!((left, bench.used()), (vec![0, 2], vec![1, 3]));
    let mut bench = busy();
    (1..4).for_each(|place| bench.block(place, [true; 2]));
    bench.until(|bench| bench.used() == [0]);
    bench.events();
    run(&mut bench, [BAD, GOOD, GOOD, GOOD], 40);
    assert_eq!((bench.used(), bench.events()), (vec![0], vec![]));
}

#[test]
fn a_dataplane_that_counts_anew_blames_nobody() {
    let mut bench = busy();
    for _ in 0..5 {
        bench.count_anew();
        run(&mut bench, [GOOD, GOOD, GOOD, GOOD], 2);
        bench.count_anew();
        bench.count(&[(0, 0), (0, 9000)]);
        run(&mut bench, [GOOD; 4], 1);
    }
    // The first report of a new process is the base.
    bench.restart();
    run(&mut bench, [GOOD; 4], 12);
    assert_eq!(bench.used(), [0, 1, 2, 3]);
    let report = bench.report();
    assert!(report.members.iter().any(|of| of.resent > 0), "{report:?}");
}
