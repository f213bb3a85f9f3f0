//! Rates, burst lengths and distributions, within bounds that a right
//! implementation misses once in a million seeds. `NICTEAM_SEED` takes another
//! seed; a failure names the one it had.

use std::time::Duration;

use nicteam_impair::{Distribution, Gemodel, Impairments, Jitter, Loss, OneWay, Probability, Reorder, Room};

const FRAMES: usize = 200_000;
/// Standard deviations of a normal distribution that hold all but one case in a million.
const BOUND: f64 = 4.9;

#[allow(clippy::disallowed_methods, reason = "a seed is repeated by the environment")]
fn seed() -> u64 {
    std::env::var("NICTEAM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

fn percent(percent: u32) -> Probability {
    Probability::percent(percent).unwrap()
}

/// How often each of so many frames, a microsecond apart, came, in the order in which they came.
fn carry(impairments: Impairments) -> Vec<(usize, Duration)> {
    let mut way = OneWay::new(impairments, seed(), Room { frames: FRAMES * 2, bytes: usize::MAX }).unwrap();
    for number in 0..FRAMES {
        way.handle_frame(Duration::from_micros(number as u64), number, 60);
    }
    let all = std::iter::from_fn(|| way.poll_output(Duration::MAX));
    all.map(|output| (output.frame, output.due - Duration::from_micros(output.frame as u64))).collect()
}

/// Lengths of the runs of frames that did not come.
fn bursts(came: &[(usize, Duration)]) -> Vec<usize> {
    came.windows(2).map(|pair| pair[1].0 - pair[0].0 - 1).filter(|length| *length > 0).collect()
}

#[track_caller]
fn assert_share(what: &str, count: usize, of: usize, probability: f64) {
    let (n, expected) = (of as f64, of as f64 * probability);
    let bound = BOUND * (n * probability * (1.0 - probability)).sqrt();
    let off = (count as f64 - expected).abs();
    assert!(off <= bound, "{what}: {count} of {of}, not {expected:.0} +- {bound:.0}; NICTEAM_SEED={}", seed());
}

#[test]
fn independent_losses_are_as_many_as_declared_and_come_as_they_fall() {
    for loss in [1, 10, 50] {
        let came = carry(Impairments { loss: Loss::Independent(percent(loss)), ..Impairments::default() });
        let p = f64::from(loss) / 100.0;
        assert_share("lost", FRAMES - came.len(), FRAMES, p);
        // Independent: behind a lost frame another is lost as often as anywhere.
        let bursts = bursts(&came);
        assert_share("bursts of two or more", bursts.iter().filter(|l| **l > 1).count(), bursts.len(), p);
    }
}

#[test]
fn bursts_are_geometric_with_the_declared_mean() {
    let model = Gemodel {
        to_bad: percent(1),
        to_good: percent(25),
        loss_in_bad: Probability::ALWAYS,
        loss_in_good: Probability::NEVER,
    };
    let came = carry(Impairments { loss: Loss::Gemodel(model), ..Impairments::default() });
    let bursts = bursts(&came);
    // A visit to the good state lasts 100 frames on average, one to the bad state 4.
    let visits = FRAMES as f64 / 104.0;
    assert!((bursts.len() as f64 - visits).abs() < BOUND * visits.sqrt(), "{} bursts", bursts.len());
    // Every burst that has lasted so long goes on with probability 1 - r.
    for length in 1..=8 {
        let reached = bursts.iter().filter(|burst| **burst >= length).count();
        let longer = bursts.iter().filter(|burst| **burst > length).count();
        assert_share("bursts that go on", longer, reached, 0.75);
    }
    // The mean, whose deviation is that of a geometric distribution: sqrt(1 - r) / r.
    let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
    let deviation = 0.75_f64.sqrt() / 0.25 / (bursts.len() as f64).sqrt();
    assert!((mean - 4.0).abs() < BOUND * deviation, "mean {mean}; NICTEAM_SEED={}", seed());
    assert!((model.mean() - 1.0 / 26.0).abs() < 1e-12);
}

#[test]
fn both_states_lose_at_their_own_rate() {
    // Half of the time in each state, which changes at random: then losses are independent.
    let (to_bad, to_good) = (percent(50), percent(50));
    let model = Gemodel { to_bad, to_good, loss_in_bad: percent(30), loss_in_good: percent(10) };
    assert!((model.mean() - 0.2).abs() < 1e-12);
    let came = carry(Impairments { loss: Loss::Gemodel(model), ..Impairments::default() });
    assert_share("lost", FRAMES - came.len(), FRAMES, 0.2);
}

#[test]
fn duplicates_are_as_many_as_declared_and_right_behind() {
    let came = carry(Impairments { duplicate: percent(5), ..Impairments::default() });
    assert_share("doubled", came.len() - FRAMES, FRAMES, 0.05);
    assert_eq!(came.windows(2).filter(|pair| pair[0] == pair[1]).count(), came.len() - FRAMES);
}

#[test]
fn as_many_overtake_as_declared_and_never_more_often_than_the_gap() {
    let delay = Duration::from_millis(1);
    for (gap, share) in [(1, 0.25), (5, 1.0 / 8.0)] {
        // With a gap of 5, four are delayed and then each overtakes with 1/4: one of 4 + 4.
        let reorder = Some(Reorder { probability: percent(25), gap });
        let came = carry(Impairments { delay, reorder, ..Impairments::default() });
        let mut early: Vec<usize> =
            came.iter().filter(|(_, delay)| delay.is_zero()).map(|(number, _)| *number).collect();
        early.sort_unstable();
        assert!(early.windows(2).all(|pair| pair[1] - pair[0] >= gap as usize));
        // With a gap frames in between are no coin tosses; they vary less.
        assert_share("overtook", early.len(), FRAMES, share);
    }
}

#[test]
fn jitter_is_distributed_as_declared() {
    let (delay, amount) = (Duration::from_millis(100), Duration::from_millis(10));
    for distribution in [Distribution::Uniform, Distribution::Normal] {
        let jitter = Jitter { amount, distribution, may_reorder: true };
        let came = carry(Impairments { delay, jitter, ..Impairments::default() });
        let off: Vec<f64> = came.iter().map(|(_, d)| (d.as_secs_f64() - 0.1) / 0.01).collect();
        let n = off.len() as f64;
        let mean = off.iter().sum::<f64>() / n;
        let variance = off.iter().map(|x| x * x).sum::<f64>() / n;
        let (expected, within_half) = match distribution {
            Distribution::Uniform => (1.0 / 3.0, 0.5),
            // Of a true normal distribution 0.3829; of the sum of twelve even numbers 0.3802.
            Distribution::Normal => (1.0, 0.3802),
        };
        assert!(mean.abs() < BOUND * (expected / n).sqrt(), "{distribution:?}: mean {mean}");
        assert!((variance / expected - 1.0).abs() < 0.02, "{distribution:?}: variance {variance}");
        let half = off.iter().filter(|x| x.abs() <= 0.5).count();
        let share = half as f64 / n;
        assert!((share - within_half).abs() < 0.01, "{distribution:?}: {share} within half; NICTEAM_SEED={}", seed());
        let is_ordered = came.windows(2).all(|pair| pair[0].0 < pair[1].0);
        assert!(!is_ordered, "{distribution:?} may reorder, and did not");
    }
}

#[test]
fn seeds_give_losses_of_their_own() {
    let lossy = Impairments { loss: Loss::Independent(percent(50)), ..Impairments::default() };
    let lost = |seed| {
        let mut way = OneWay::new(lossy, seed, Room::default()).unwrap();
        (0..64_u64).for_each(|number| way.handle_frame(Duration::ZERO, number, 60));
        std::iter::from_fn(|| way.poll_output(Duration::ZERO)).fold(0_u64, |set, output| set | 1 << output.frame)
    };
    let mut sets: Vec<u64> = (seed()..seed() + 50).map(lost).collect();
    sets.sort_unstable();
    sets.dedup();
    assert_eq!(sets.len(), 50);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let second = Duration::from_secs(1);
    let endless = Gemodel {
        to_bad: percent(1),
        to_good: Probability::NEVER,
        loss_in_bad: Probability::ALWAYS,
        loss_in_good: Probability::NEVER,
    };
    let cases = [
        (Impairments { delay: 11 * second, ..Impairments::default() }, "more than 10s"),
        (
            Impairments { jitter: Jitter { amount: second, ..Jitter::default() }, ..Impairments::default() },
            "greater than the delay",
        ),
        (
            Impairments { reorder: Some(Reorder { probability: percent(1), gap: 1 }), ..Impairments::default() },
            "without a delay",
        ),
        (
            Impairments {
                delay: second,
                reorder: Some(Reorder { probability: percent(1), gap: 0 }),
                ..Impairments::default()
            },
            "gap of 0",
        ),
        (Impairments { loss: Loss::Gemodel(endless), ..Impairments::default() }, "no end"),
    ];
    for (impairments, words) in cases {
        let error = OneWay::<()>::new(impairments, 1, Room::default()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn one_bit_of_the_declared_part_of_frames_changes_and_nothing_else_does() {
    let whole = Impairments { loss: Loss::Independent(percent(10)), duplicate: percent(5), ..Impairments::default() };
    let frames = 20_000_u64;
    let run = |impairments| {
        let mut way = OneWay::new(impairments, 5, Room { frames: 1 << 20, bytes: 1 << 30 }).unwrap();
        (0..frames).for_each(|number| way.handle_frame(Duration::from_micros(number), number, 100));
        let came: Vec<_> = std::iter::from_fn(|| way.poll_output(Duration::MAX)).collect();
        (came, way.counts())
    };
    let ((clean, _), (corrupted, counts)) = (run(whole), run(Impairments { corrupt: percent(20), ..whole }));
    let order = |came: &[nicteam_impair::Output<u64>]| came.iter().map(|it| (it.frame, it.due)).collect::<Vec<_>>();
    assert_eq!(order(&clean), order(&corrupted), "what is lost and doubled is drawn on its own");
    assert!(clean.iter().all(|it| it.flip.is_none()));
    let delivered = counts.frames - counts.lost;
    assert!((0.18..0.22).contains(&(counts.corrupted as f64 / delivered as f64)), "{counts:?}");
    let flips: Vec<u64> = corrupted.iter().filter_map(|it| it.flip).map(|flip| flip % 8).collect();
    assert!((0..8).all(|bit| flips.iter().filter(|flip| **flip == bit).count() > flips.len() / 16), "{}", flips.len());
}
