//! What faults did, from samples.

use nicteam_chaos::{add_probes, effects};
use nicteam_record::{ConnectionSample, Datagrams, Fault, Probes, Sample};

/// A sample each 20 ms for 4 s of a stream of 100 bytes each ms, which stands still between two moments.
fn samples(from: u64, to: u64) -> Vec<Sample> {
    let arrived = |t: u64| if t < from { t } else { from + t.saturating_sub(to) };
    let at = |t: u64| {
        let silence_ms = if (from..to).contains(&t) {
            t - from
        } else if (to..to + 20).contains(&t) {
            to - from
        } else {
            1
        };
        let (received, lost) = (arrived(t) + 1, if t >= to { to - from } else { 0 });
        let datagrams = Datagrams { received, lost, longest_silence_us: silence_ms * 1000, ..Datagrams::default() };
        let connection = ConnectionSample {
            received_bytes: arrived(t) * 100,
            datagrams: Some(datagrams),
            ..ConnectionSample::default()
        };
        Sample {
            t_ms: t as f64,
            host: "b".to_owned(),
            cpu_ms: 0.0,
            members: Vec::new(),
            connections: vec![connection],
            relayed: Vec::new(),
            mac_moves: None,
        }
    };
    (0..=200).map(|step| at(step * 20)).collect()
}

/// What faults at these times did.
fn seen(times: &[(f64, Option<f64>)], samples: &[Sample], measured_ms: f64) -> Vec<Fault> {
    let fault = |(t_ms, over_ms): &(f64, Option<f64>)| Fault { t_ms: *t_ms, over_ms: *over_ms, ..Fault::default() };
    effects(times.iter().map(fault).collect(), samples, measured_ms)
}

#[test]
fn a_fault_that_stops_the_traffic_is_measured() {
    let faults = seen(&[(1000.0, Some(2000.0))], &samples(1000, 1500), 4000.0);
    let [fault] = faults.as_slice() else { panic!("{faults:?}") };
    let close = |value: Option<f64>, wanted: f64| (value.unwrap() - wanted).abs() < wanted * 0.05 + 1.0;
    assert!(close(fault.before_bps, 800_000.0) && close(fault.after_bps, 800_000.0), "{fault:?}");
    assert!(close(fault.during_bps, 400_000.0), "{fault:?}");
    assert!(close(fault.silence_ms, 500.0) && fault.lost == Some(500), "{fault:?}");
    assert!((480.0..=520.0).contains(&fault.full_share_ms.unwrap()), "{fault:?}");
}

#[test]
fn a_fault_without_effect_never_takes_a_share() {
    let faults = seen(&[(1000.0, None)], &samples(3900, 3900), 3800.0);
    assert_eq!((faults[0].full_share_ms, faults[0].lost), (Some(0.0), Some(0)));
    assert_eq!((faults[0].until_ms, faults[0].after_bps), (3800.0, None));
}

#[test]
fn a_share_that_does_not_come_back_is_at_least_the_time_that_was_watched() {
    let faults = seen(&[(1000.0, None)], &samples(1200, 4000), 3500.0);
    assert_eq!((faults[0].full_share_ms, faults[0].full_share_at_least_ms()), (None, Some(2500.0)));
}

#[test]
fn the_next_fault_ends_what_is_laid_to_one() {
    let faults = seen(&[(500.0, Some(700.0)), (1000.0, None)], &samples(1000, 1500), 4000.0);
    assert_eq!((faults[0].until_ms, faults[0].full_share_ms, faults[0].lost), (1000.0, Some(0.0), Some(0)));
    assert_eq!((faults[1].until_ms, faults[1].lost), (4000.0, Some(500)));
    assert!((faults[1].before_bps.unwrap() - 800_000.0).abs() < 1000.0, "{faults:?}");
}

/// Of the last fault it is known when all is as it was before the first one, whatever arrived before the last one.
#[test]
fn a_run_recovers_from_its_faults() {
    let of = |from, to, measured_ms| {
        let faults = seen(&[(1000.0, Some(1100.0)), (1400.0, Some(1500.0))], &samples(from, to), measured_ms);
        assert_eq!(faults[0].recovered_ms, None);
        faults[1].recovered_ms
    };
    assert_eq!(of(1000, 1500, 4000.0), Some(100.0));
    let late = of(1000, 1800, 4000.0).unwrap();
    assert!((80.0..=420.0).contains(&late), "{late}");
    assert_eq!(of(1000, 4000, 4000.0), None);
}

#[test]
fn probes_add_the_silence_that_began_in_a_fault() {
    let mut faults = seen(&[(1000.0, None)], &[], 4000.0);
    assert_eq!((faults[0].silence_ms, faults[0].lost), (None, None));
    let probes = |from_ms| Probes {
        sent: 9,
        lost: 3,
        longest_silence_ms: 250.0,
        silent_from_ms: Some(from_ms),
        ..Probes::default()
    };
    add_probes(&mut faults, &[probes(10.0)]);
    assert_eq!((faults[0].silence_ms, faults[0].lost), (None, Some(3)));
    add_probes(&mut faults, &[probes(1001.0)]);
    assert_eq!((faults[0].silence_ms, faults[0].lost), (Some(250.0), Some(6)));
}

/// The last answer came just before a fault, and the next one long after it: the fault before has no part in that.
#[test]
fn a_silence_is_of_the_fault_that_began_it() {
    let mut faults = seen(&[(1000.0, Some(1400.0)), (3000.0, Some(3900.0))], &[], 9000.0);
    let task = |from| Probes { sent: 9, longest_silence_ms: 1387.0, silent_from_ms: Some(from), ..Probes::default() };
    add_probes(&mut faults, &[task(2960.0)]);
    assert_eq!((faults[0].silence_ms, faults[1].silence_ms), (None, Some(1387.0)));
    add_probes(&mut faults, &[task(2700.0)]);
    assert_eq!(faults[0].silence_ms, Some(1387.0));
}
