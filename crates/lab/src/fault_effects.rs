//! What the faults of a run did to its traffic, from the samples.

use std::collections::BTreeMap;

use nicteam_experiment::Timed;
use nicteam_record::measure::{Course, value_at};
use nicteam_record::{ConnectionSample, Datagrams, Fault, Probes, Sample};

use crate::event::Place;

/// The longest time before a fault that counts as before it, and the longest after its end, milliseconds.
const BESIDE_MS: f64 = 2000.0;
/// Payload is averaged over so much time where it is looked for whether it is back, milliseconds.
const AVERAGE_MS: f64 = 200.0;
/// Steps in which it is looked for, milliseconds.
const STEP_MS: f64 = 20.0;
/// Less than this part of what arrived before is a loss of share; from this part on the share is full again.
const LESS: f64 = 0.9;
const FULL: f64 = 0.95;

/// Faults as they happen.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<(usize, Fault)>);

impl Faults {
    /// Something was done at a moment of the measured window, milliseconds.
    pub(crate) fn note(&mut self, timed: &Timed, t_ms: f64, place: &Place, text: &str) {
        if timed.ends {
            let begun = self.0.iter_mut().find(|(number, _)| *number == timed.fault);
            if let Some((_, fault)) = begun {
                fault.over_ms = Some(t_ms);
            }
            return;
        }
        let fault = Fault {
            t_ms,
            kind: timed.event.kind().to_owned(),
            node: place.node.clone(),
            team: place.team.clone(),
            member: place.member.clone(),
            text: text.to_owned(),
            ..Fault::default()
        };
        self.0.push((timed.fault, fault));
    }

    /// Each with what it did, in order of time.
    pub(crate) fn with_effects(&self, samples: &[Sample], measured_ms: f64) -> Vec<Fault> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let mut faults: Vec<Fault> = self.0.iter().map(|(_, fault)| fault.clone()).collect();
        faults.sort_by(|one, other| one.t_ms.total_cmp(&other.t_ms));
        let traffic = Traffic::of(samples);
        let begins: Vec<f64> = faults.iter().map(|fault| fault.t_ms).collect();
        let mut free_ms = 0.0_f64;
        for (place, fault) in faults.iter_mut().enumerate() {
            fault.until_ms = begins.get(place + 1).copied().unwrap_or(measured_ms).max(fault.t_ms);
            traffic.judge(fault, free_ms);
            free_ms = free_ms.max(fault.over_ms.unwrap_or(fault.t_ms));
        }
        faults
    }
}

/// What probes of the whole run say of its faults.
pub(crate) fn add_probes(faults: &mut [Fault], probes: &[Probes]) {
    let is_only = faults.len() == 1;
    for fault in faults {
        for task in probes.iter().filter(|task| task.sent > 0) {
            let began = |from_ms: &f64| (fault.t_ms - AVERAGE_MS..fault.until_ms).contains(from_ms);
            if task.silent_from_ms.as_ref().is_some_and(began) {
                fault.silence_ms = Some(fault.silence_ms.unwrap_or(0.0).max(task.longest_silence_ms));
            }
            if is_only {
                fault.lost = Some(fault.lost.unwrap_or(0) + task.lost);
            }
        }
    }
}

/// Courses of all connections.
struct Traffic {
    payload: Vec<Course>,
    lost: Vec<Course>,
    /// When a sample was taken, and the longest silence since the one before, milliseconds.
    silences: Vec<(f64, f64)>,
}

impl Traffic {
    fn of(samples: &[Sample]) -> Traffic {
        let of = |value: &dyn Fn(&ConnectionSample) -> Option<f64>| -> Vec<Course> {
            let mut courses: BTreeMap<(&str, u32), Course> = BTreeMap::new();
            for sample in samples {
                for (connection, value) in sample.connections.iter().filter_map(|it| Some((it, value(it)?))) {
                    courses.entry((&sample.host, connection.index)).or_default().push((sample.t_ms, value));
                }
            }
            courses.into_values().collect()
        };
        // The sending end has counted none of these.
        let arrived = |it: &ConnectionSample| it.datagrams.filter(|datagrams| datagrams.received > 0);
        let datagrams = |field: fn(&Datagrams) -> u64| move |it: &ConnectionSample| Some(field(&arrived(it)?) as f64);
        let silences = |sample: &Sample| {
            let of_sample = sample.connections.iter().filter_map(arrived);
            let longest_us = of_sample.map(|datagrams| datagrams.longest_silence_us).max()?;
            Some((sample.t_ms, longest_us as f64 / 1e3))
        };
        Traffic {
            payload: of(&|it| Some(it.received_bytes as f64)),
            lost: of(&datagrams(|datagrams| datagrams.lost)),
            silences: samples.iter().filter_map(silences).collect(),
        }
    }

    /// Payload that arrived in a time, bit/s; none: there was no such time.
    fn bps(&self, from_ms: f64, to_ms: f64) -> Option<f64> {
        let bytes = self.payload.iter().map(|course| value_at(course, to_ms) - value_at(course, from_ms)).sum::<f64>();
        (to_ms - from_ms >= STEP_MS).then(|| bytes.max(0.0) * 8e3 / (to_ms - from_ms))
    }

    /// Fills in what a fault did; no other one was at work since `free_ms`.
    fn judge(&self, fault: &mut Fault, free_ms: f64) {
        let (t_ms, until_ms) = (fault.t_ms, fault.until_ms);
        let over_ms = fault.over_ms.unwrap_or(until_ms).min(until_ms);
        fault.before_bps = self.bps(free_ms.max(t_ms - BESIDE_MS), t_ms);
        fault.during_bps = self.bps(t_ms, over_ms);
        fault.after_bps = self.bps(over_ms, until_ms.min(over_ms + BESIDE_MS));
        fault.full_share_ms = fault.before_bps.filter(|bps| *bps > 0.0).and_then(|bps| self.full_share_ms(fault, bps));
        if !self.silences.is_empty() {
            let seen = self.silences.iter().filter(|(at_ms, _)| *at_ms > t_ms && *at_ms <= until_ms);
            fault.silence_ms = Some(seen.map(|(at_ms, ms)| ms.min(at_ms - t_ms)).fold(0.0, f64::max));
            let lost = self.lost.iter().map(|course| value_at(course, until_ms) - value_at(course, t_ms)).sum::<f64>();
            fault.lost = Some(lost.max(0.0).round() as u64);
        }
    }

    /// When the share was full again, since the fault began; none: it was not.
    fn full_share_ms(&self, fault: &Fault, before_bps: f64) -> Option<f64> {
        let mut is_less = false;
        let steps = ((fault.until_ms - AVERAGE_MS - fault.t_ms) / STEP_MS).max(0.0) as u64;
        for step in 0..=steps {
            let from_ms = fault.t_ms + step as f64 * STEP_MS;
            let part = self.bps(from_ms, from_ms + AVERAGE_MS)? / before_bps;
            is_less |= part < LESS;
            if is_less && part >= FULL {
                return Some(from_ms - fault.t_ms);
            }
        }
        (!is_less).then_some(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn faults(times: &[(f64, Option<f64>)]) -> Faults {
        let fault = |(number, (t_ms, over_ms)): (usize, &(f64, Option<f64>))| {
            (number, Fault { t_ms: *t_ms, over_ms: *over_ms, ..Fault::default() })
        };
        Faults(times.iter().enumerate().map(fault).collect())
    }

    #[test]
    fn a_fault_that_stops_the_traffic_is_measured() {
        let faults = faults(&[(1000.0, Some(2000.0))]).with_effects(&samples(1000, 1500), 4000.0);
        let [fault] = faults.as_slice() else { panic!("{faults:?}") };
        let close = |value: Option<f64>, wanted: f64| (value.unwrap() - wanted).abs() < wanted * 0.05 + 1.0;
        assert!(close(fault.before_bps, 800_000.0) && close(fault.after_bps, 800_000.0), "{fault:?}");
        assert!(close(fault.during_bps, 400_000.0), "{fault:?}");
        assert!(close(fault.silence_ms, 500.0) && fault.lost == Some(500), "{fault:?}");
        assert!((480.0..=520.0).contains(&fault.full_share_ms.unwrap()), "{fault:?}");
    }

    #[test]
    fn a_fault_without_effect_never_takes_a_share() {
        let faults = faults(&[(1000.0, None)]).with_effects(&samples(3900, 3900), 3800.0);
        assert_eq!((faults[0].full_share_ms, faults[0].lost), (Some(0.0), Some(0)));
        assert_eq!((faults[0].until_ms, faults[0].after_bps), (3800.0, None));
    }

    #[test]
    fn a_share_that_does_not_come_back_is_at_least_the_time_that_was_watched() {
        let faults = faults(&[(1000.0, None)]).with_effects(&samples(1200, 4000), 3500.0);
        assert_eq!((faults[0].full_share_ms, faults[0].full_share_at_least_ms()), (None, Some(2500.0)));
    }

    #[test]
    fn the_next_fault_ends_what_is_laid_to_one() {
        let faults = faults(&[(500.0, Some(700.0)), (1000.0, None)]).with_effects(&samples(1000, 1500), 4000.0);
        assert_eq!((faults[0].until_ms, faults[0].full_share_ms, faults[0].lost), (1000.0, Some(0.0), Some(0)));
        assert_eq!((faults[1].until_ms, faults[1].lost), (4000.0, Some(500)));
        assert!((faults[1].before_bps.unwrap() - 800_000.0).abs() < 1000.0, "{faults:?}");
    }

    #[test]
    fn probes_add_the_silence_that_began_in_a_fault() {
        let mut faults = faults(&[(1000.0, None)]).with_effects(&[], 4000.0);
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
}
