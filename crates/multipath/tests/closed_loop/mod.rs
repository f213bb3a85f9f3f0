//! What the policies make of equal and unequal paths.

mod world;

use std::time::Duration;

use nicteam_multipath::Policy;

use self::world::{GIGABIT, Link, Load, Loop, READ_32K};

const WARM_UP: Duration = Duration::from_millis(500);

/// The share of the sum after a warm-up.
fn share(policy: Policy, links: &[Link], load: Load) -> f64 {
    let mut world = Loop::new(policy, links, load);
    world.run(WARM_UP);
    world.share()
}

fn round_robin(ios: u32) -> Policy {
    Policy::RoundRobin { ios: Some(ios) }
}

/// So many gigabit links, the last one replaced.
fn but_one(count: usize, other: Link) -> Vec<Link> {
    let mut links = vec![Link::gigabit(); count];
    links[count - 1] = other;
    links
}

/// What has to be outstanding in a direction for all links to be full: rate times latency, and two commands of each.
fn fills(links: &[Link], load: Load) -> bool {
    let needs = |link: &Link| link.rate * 2.0 * link.latency.as_secs_f64() + 2.0 * f64::from(load.bytes);
    let directions = if load.reads == 50 { 2.0 } else { 1.0 };
    links.iter().map(needs).sum::<f64>() <= load.outstanding as f64 * f64::from(load.bytes) / directions
}

#[test]
fn best_uses_the_sum_of_the_links_equal_or_not() {
    let (mut full, mut short) = (0, 0);
    for count in [2, 4, 8] {
        for other in [Link::gigabit(), Link::slow(), Link::long()] {
            for (bytes, reads) in [8 << 10, 32 << 10].into_iter().flat_map(|b| [100, 0, 50].map(|reads| (b, reads))) {
                let (links, load) = (but_one(count, other), Load { bytes, reads, outstanding: 64 });
                let share = share(Policy::Best, &links, load);
                // With less outstanding than that no policy can fill all links.
                let least = if fills(&links, load) { 0.97 } else { 0.84 };
                assert!(share >= least, "{share:.3} of {count} links, the last {other:?}, at {load:?}");
                *(if least > 0.9 { &mut full } else { &mut short }) += 1;
            }
        }
    }
    assert!(full >= 40 && short >= 4, "{full} cases where all links can be full, {short} where not");
}

#[test]
fn round_robin_every_io_suits_equal_links_and_collapses_on_unequal_ones() {
    for count in [2, 4, 8] {
        assert!(share(round_robin(1), &vec![Link::gigabit(); count], READ_32K) >= 0.97);
        // Every request ends up in the slow link's queue: the others carry as much as it does.
        let collapsed = share(round_robin(1), &but_one(count, Link::slow()), READ_32K);
        let expected = 0.1 * count as f64 / (count as f64 - 0.9);
        assert!((collapsed - expected).abs() < 0.02, "{collapsed:.3}, expected {expected:.3}");
    }
}

#[test]
fn round_robin_by_default_uses_one_link_of_four() {
    let share = share(Policy::RoundRobin { ios: None }, &[Link::gigabit(); 4], READ_32K);
    assert!((0.24..=0.30).contains(&share), "{share:.3}");
}

#[test]
fn fixed_uses_the_first_link() {
    let share = share(Policy::Fixed, &[Link::gigabit(); 4], READ_32K);
    assert!((share - 0.25).abs() < 0.005, "{share:.3}");
}

#[test]
fn queue_length_and_service_time_use_all_links_at_unequal_latencies() {
    for links in [vec![Link::gigabit(); 4], but_one(4, Link::slow())] {
        let p99 = [Policy::QueueLength, Policy::ServiceTime, Policy::Best].map(|policy| {
            let mut world = Loop::new(policy, &links, READ_32K);
            world.run(WARM_UP);
            let share = world.share();
            assert!(share >= 0.97, "{policy}: {share:.3}");
            world.p99()
        });
        if links[3].rate < GIGABIT {
            // Who counts commands alone has a quarter of them behind a tenth of the rate.
            assert!(p99[0] > p99[1] * 4 && p99[0] > p99[2] * 4, "{p99:?}");
        }
    }
}

#[test]
fn best_leaves_a_link_that_becomes_slow_and_finds_it_when_it_is_fast_again() {
    for outstanding in [8, 64] {
        let mut world = Loop::new(Policy::Best, &[Link::gigabit(); 4], Load { outstanding, ..READ_32K });
        world.run(WARM_UP);
        assert!(world.share() >= 0.97);
        world.set_link(2, Link { rate: GIGABIT / 1000.0, ..Link::gigabit() });
        // What is in its queue takes its time.
        world.run(Duration::from_millis(200));
        assert!(world.share() >= 0.9, "{outstanding}: while one link is slow");
        // Four requests of 32 KB take it a second.
        world.run(Duration::from_secs(5));
        assert!(world.share() >= 0.9, "{outstanding}: while one link is slow for long");
        world.set_link(2, Link::gigabit());
        world.run(Duration::from_secs(10));
        let share = world.share();
        assert!(share >= 0.97, "{outstanding}: {share:.3} when it is fast again");
    }
}

#[test]
fn best_does_not_take_its_own_queue_for_latency() {
    // After a minute of load no answer was quick for long.
    let mut world = Loop::new(Policy::Best, &but_one(4, Link::slow()), READ_32K);
    world.run(Duration::from_secs(60));
    let share = world.share();
    assert!(share >= 0.97, "{share:.3}");
}

#[test]
fn best_keeps_disks_busy_behind_the_target() {
    // 32 disks of 5 ms: 6400 I/Os a second, a quarter of what the links carry.
    let load = Load { bytes: 8 << 10, reads: 70, outstanding: 64 };
    let mut world = Loop::new(Policy::Best, &[Link::gigabit(); 4], load).with_disks(32, Duration::from_millis(5));
    world.run(WARM_UP);
    let rate = world.rate() / f64::from(8 << 10);
    assert!(rate >= 0.97 * 6400.0, "{rate:.0} I/Os a second");
}

#[test]
fn best_does_not_mind_that_answers_are_read_in_batches() {
    for other in [Link::gigabit(), Link::slow(), Link::long()] {
        let mut world = Loop::new(Policy::Best, &but_one(4, other), READ_32K);
        world.reads_every = Duration::from_micros(500);
        world.run(WARM_UP);
        let share = world.share();
        assert!(share >= 0.97, "{share:.3} with {other:?}");
    }
}

#[test]
fn best_serves_a_single_request_by_the_quickest_path() {
    let mut world = Loop::new(Policy::Best, &but_one(2, Link::long()), Load { outstanding: 1, ..READ_32K });
    world.run(WARM_UP);
    world.rate();
    let paths = world.multipath.status().paths;
    // The other one is tried now and then.
    assert!(paths[1].ios >= 5 && paths[1].ios * 50 < paths[0].ios, "{paths:?}");
}

/// Shares and the latency that 99 of 100 requests do not exceed, as docs/multipath.md has them.
#[test]
fn the_table_of_the_documentation_is_right() {
    let cases = [(32, Link::gigabit()), (32, Link::slow()), (32, Link::long()), (8, Link::long())];
    let documented = include_str!("../../../../docs/multipath.md");
    let mut missing = String::new();
    for (name, policy) in [
        ("`round-robin`, 1000", Policy::RoundRobin { ios: None }),
        ("`round-robin`, every I/O", round_robin(1)),
        ("`queue-length`", Policy::QueueLength),
        ("`service-time`", Policy::ServiceTime),
        ("`best`", Policy::Best),
    ] {
        let cell = |(kib, other): (u32, Link)| {
            let mut world = Loop::new(policy, &but_one(4, other), Load { bytes: kib << 10, ..READ_32K });
            world.run(WARM_UP);
            // A thousand I/Os take the slow link three seconds.
            let share = world.share_over(Duration::from_secs(if matches!(policy, Policy::RoundRobin { ios: None }) {
                15
            } else {
                1
            }));
            format!(" {share:.2}, {:.1} ms |", world.p99().as_secs_f64() * 1e3)
        };
        let row = format!("| {name} |{}", cases.map(cell).concat());
        if !documented.contains(&row) {
            missing += &format!("{row}\n");
        }
    }
    assert!(missing.is_empty(), "docs/multipath.md has not:\n{missing}");
}
