//! What holds for all impairments, frames and moments.

use std::ops::Range;
use std::time::Duration;

use nicteam_impair::{Counts, Distribution, Gemodel, Impairments, Jitter, Loss, OneWay, Probability, Reorder, Room};
use proptest::prelude::*;

/// When a frame is sent after the one before, and its bytes.
type Sent = (u32, usize);

fn probability() -> impl Strategy<Value = Probability> {
    prop_oneof![0..=20_000_000_u32, 0..=1_000_000_000_u32].prop_map(|parts| Probability::from_parts(parts).unwrap())
}

fn loss() -> impl Strategy<Value = Loss> {
    let gemodel = (probability(), 1..=1_000_000_000_u32, probability(), probability()).prop_map(|(p, r, h, k)| {
        let to_good = Probability::from_parts(r).unwrap();
        Loss::Gemodel(Gemodel { to_bad: p, to_good, loss_in_bad: h, loss_in_good: k })
    });
    prop_oneof![probability().prop_map(Loss::Independent), gemodel]
}

fn impairments() -> impl Strategy<Value = Impairments> {
    let jitter = (0..=1_000_u64, any::<bool>(), any::<bool>());
    let reorder = proptest::option::of((probability(), 1..10_u32));
    (1..=5_000_u64, jitter, loss(), probability(), reorder).prop_map(|(delay_us, jitter, loss, duplicate, reorder)| {
        let (permille, is_normal, may_reorder) = jitter;
        Impairments {
            delay: Duration::from_micros(delay_us),
            jitter: Jitter {
                amount: Duration::from_nanos(delay_us * permille),
                distribution: if is_normal { Distribution::Normal } else { Distribution::Uniform },
                may_reorder,
            },
            loss,
            duplicate,
            reorder: reorder.map(|(probability, gap)| Reorder { probability, gap }),
            corrupt: Probability::NEVER,
        }
    })
}

fn frames() -> impl Strategy<Value = Vec<Sent>> {
    proptest::collection::vec((0..2_000_000_u32, 60..1515_usize), 1..300)
}

/// A frame that came out: its number, when it was sent, when it was due.
type Came = (usize, Duration, Duration);

/// Sends the frames, taking out what is due whenever it is.
fn carry(way: &mut OneWay<(usize, Duration)>, frames: &[Sent]) -> Vec<Came> {
    let (mut now, mut came) = (Duration::ZERO, Vec::new());
    for (number, (gap_ns, bytes)) in frames.iter().enumerate() {
        let before = now;
        now += Duration::from_nanos(u64::from(*gap_ns));
        drain(way, before..now, &mut came);
        way.handle_frame(now, (number, now), *bytes);
    }
    drain(way, now..Duration::MAX, &mut came);
    came
}

/// Takes out what is due in this time, each frame at its moment.
fn drain(way: &mut OneWay<(usize, Duration)>, time: Range<Duration>, came: &mut Vec<Came>) {
    let mut now = time.start;
    while let Some(due) = way.poll_timeout().filter(|due| *due <= time.end) {
        if due > now {
            assert_eq!(way.poll_output(due - Duration::from_nanos(1)), None, "a frame before it is due");
            now = due;
        }
        let output = way.poll_output(due).expect("the timeout is the next frame's");
        assert_eq!(output.due, due);
        came.push((output.frame.0, output.frame.1, due));
    }
}

fn is_account_balanced(counts: Counts) -> bool {
    counts.frames + counts.duplicated == counts.lost + counts.crowded_out + counts.cleared + counts.delivered
}

proptest! {
    #[test]
    fn frames_come_within_the_declared_delay_and_are_all_accounted_for(
        impairments in impairments(), seed: u64, frames in frames(),
    ) {
        let mut way = OneWay::new(impairments, seed, Room::default()).unwrap();
        let came = carry(&mut way, &frames);
        let counts = way.counts();
        prop_assert!(is_account_balanced(counts), "{counts:?}");
        prop_assert_eq!(counts.delivered as usize, came.len());
        prop_assert_eq!(way.on_the_way(), Room { frames: 0, bytes: 0 });
        let mut undelayed = 0;
        for (_, sent, due) in &came {
            prop_assert!(*due >= *sent);
            undelayed += u64::from(due == sent);
            // Behind a frame with a longer delay another may wait as long.
            prop_assert!(*due - *sent <= impairments.longest_delay());
        }
        prop_assert!(undelayed >= counts.reordered.saturating_sub(counts.duplicated));
        let mut numbers: Vec<usize> = came.iter().map(|frame| frame.0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        prop_assert_eq!(numbers.len() as u64, counts.frames - counts.lost);
    }

    #[test]
    fn order_is_kept_where_nothing_may_overtake(impairments in impairments(), seed: u64, frames in frames()) {
        let jitter = Jitter { may_reorder: false, ..impairments.jitter };
        let ordered = Impairments { jitter, reorder: None, ..impairments };
        let came = carry(&mut OneWay::new(ordered, seed, Room::default()).unwrap(), &frames);
        prop_assert!(came.is_sorted_by_key(|(number, _, due)| (*due, *number)));
    }

    #[test]
    fn without_jitter_every_frame_takes_the_delay_to_the_nanosecond_or_none(
        impairments in impairments(), seed: u64, frames in frames(),
    ) {
        let impairments = Impairments { jitter: Jitter::default(), ..impairments };
        let mut way = OneWay::new(impairments, seed, Room::default()).unwrap();
        let came = carry(&mut way, &frames);
        let exact = came.iter().filter(|(_, sent, due)| *due - *sent == impairments.delay).count();
        let none = came.iter().filter(|(_, sent, due)| due == sent).count();
        prop_assert_eq!(exact + none, came.len());
        prop_assert_eq!(none == 0, way.counts().reordered == 0);
    }

    #[test]
    fn the_same_seed_gives_the_same_and_losses_do_not_depend_on_other_impairments(
        impairments in impairments(), seed: u64, frames in frames(),
    ) {
        let carried = |impairments| carry(&mut OneWay::new(impairments, seed, Room::default()).unwrap(), &frames);
        let came = carried(impairments);
        prop_assert_eq!(&came, &carried(impairments));
        let only_loss = Impairments { loss: impairments.loss, ..Impairments::default() };
        let mut numbers: Vec<usize> = came.iter().map(|frame| frame.0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let alone: Vec<usize> = carried(only_loss).iter().map(|frame| frame.0).collect();
        prop_assert_eq!(numbers, alone);
    }

    #[test]
    fn the_room_is_never_exceeded(
        impairments in impairments(), seed: u64, frames in frames(), most in 0..40_usize, bytes in 0..20_000_usize,
    ) {
        let room = Room { frames: most, bytes };
        let mut way = OneWay::new(impairments, seed, room).unwrap();
        for (number, (_, bytes)) in frames.iter().enumerate() {
            way.handle_frame(Duration::ZERO, (number, Duration::ZERO), *bytes);
            let held = way.on_the_way();
            prop_assert!(held.frames <= room.frames && held.bytes <= room.bytes, "{held:?} of {room:?}");
        }
        way.clear();
        prop_assert!(is_account_balanced(way.counts()), "{:?}", way.counts());
        prop_assert_eq!(way.poll_timeout(), None);
    }

    #[test]
    fn a_clock_that_runs_backwards_does_no_harm(impairments in impairments(), seed: u64, moments: Vec<u32>) {
        let mut way = OneWay::new(impairments, seed, Room::default()).unwrap();
        for moment in moments {
            way.handle_frame(Duration::from_nanos(u64::from(moment)), (), 60);
        }
        while way.poll_output(Duration::MAX).is_some() {}
        prop_assert!(is_account_balanced(way.counts()));
    }
}

#[test]
fn a_change_concerns_the_frames_after_it_and_keeps_their_order() {
    let delay = |ms| Impairments { delay: Duration::from_millis(ms), ..Impairments::default() };
    let mut way = OneWay::new(delay(50), 1, Room::default()).unwrap();
    way.handle_frame(Duration::from_millis(1), 'a', 64);
    let wrong =
        Impairments { reorder: Some(nicteam_impair::Reorder { probability: Probability::ALWAYS, gap: 0 }), ..delay(1) };
    assert!(way.change(wrong).is_err());
    way.change(delay(0)).unwrap();
    way.handle_frame(Duration::from_millis(2), 'b', 64);
    assert!(way.poll_output(Duration::from_millis(50)).is_none(), "b does not overtake a");
    let out = |way: &mut OneWay<char>| way.poll_output(Duration::from_millis(51)).map(|output| output.frame);
    assert_eq!((out(&mut way), out(&mut way)), (Some('a'), Some('b')));
    way.change(Impairments { loss: Loss::Independent(Probability::ALWAYS), ..delay(0) }).unwrap();
    way.handle_frame(Duration::from_millis(60), 'c', 64);
    way.change(delay(0)).unwrap();
    way.handle_frame(Duration::from_millis(60), 'd', 64);
    assert_eq!(way.poll_output(Duration::from_millis(60)).map(|output| output.frame), Some('d'));
    assert_eq!((way.counts().lost, way.counts().delivered), (1, 3));
}
