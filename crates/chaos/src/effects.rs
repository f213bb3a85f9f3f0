//! What the faults of a run did to its traffic, from its samples.

use std::collections::BTreeMap;

use nicteam_record::measure::{Course, value_at};
use nicteam_record::{ConnectionSample, Datagrams, Fault, Probes, Sample};

/// The longest time before a fault that counts as before it, and the longest after its end, milliseconds.
const BESIDE_MS: f64 = 2000.0;
/// Payload is averaged over so much time where it is looked for whether it is back, milliseconds.
const AVERAGE_MS: f64 = 200.0;
/// Steps in which it is looked for, milliseconds.
const STEP_MS: f64 = 20.0;
/// Less than this part of what arrived before is a loss of share; from this part on the share is full again.
const LESS: f64 = 0.9;
const FULL: f64 = 0.95;
/// With this part of what arrived before the first fault, a team has recovered from all.
const RECOVERED: f64 = 0.85;

/// The faults of a run, each with what it did, in order of time.
pub fn effects(mut faults: Vec<Fault>, samples: &[Sample], measured_ms: f64) -> Vec<Fault> {
    if faults.is_empty() {
        return faults;
    }
    faults.sort_by(|one, other| one.t_ms.total_cmp(&other.t_ms));
    let traffic = Traffic::of(samples);
    let begins: Vec<f64> = faults.iter().map(|fault| fault.t_ms).collect();
    let mut free_ms = 0.0_f64;
    for (place, fault) in faults.iter_mut().enumerate() {
        fault.until_ms = begins.get(place + 1).copied().unwrap_or(measured_ms).max(fault.t_ms);
        traffic.judge(fault, free_ms);
        free_ms = free_ms.max(fault.over_ms.unwrap_or(fault.t_ms));
    }
    let first_ms = faults[0].t_ms;
    if let Some(last) = faults.last_mut() {
        last.recovered_ms = traffic.recovered_ms(last, first_ms);
    }
    faults
}

/// What probes of the whole run say of its faults.
pub fn add_probes(faults: &mut [Fault], probes: &[Probes]) {
    let is_only = faults.len() == 1;
    // What is silent since shortly before a fault is silent by that fault, and not by the one before.
    let nexts: Vec<f64> = faults.iter().skip(1).map(|next| next.t_ms - AVERAGE_MS).collect();
    for (place, fault) in faults.iter_mut().enumerate() {
        let until_ms = nexts.get(place).copied().unwrap_or(fault.until_ms);
        for task in probes.iter().filter(|task| task.sent > 0) {
            let began = |from_ms: &f64| (fault.t_ms - AVERAGE_MS..until_ms).contains(from_ms);
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
    /// Payload of datagrams alone.
    datagrams: Vec<Course>,
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
            datagrams: of(&|it| arrived(it).map(|_| it.received_bytes as f64)),
            lost: of(&datagrams(|datagrams| datagrams.lost)),
            silences: samples.iter().filter_map(silences).collect(),
        }
    }

    /// Payload that arrived in a time, bit/s; none: there was no such time.
    fn bps(&self, from_ms: f64, to_ms: f64) -> Option<f64> {
        bps(&self.payload, from_ms, to_ms)
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

    /// When as much arrived again as before the first fault, since this one began; none: it did not. Datagrams say it if there are
    /// any, as they are sent at a fixed rate; how fast TCP is depends on the machine.
    fn recovered_ms(&self, fault: &Fault, first_ms: f64) -> Option<f64> {
        let courses = if self.datagrams.is_empty() { &self.payload } else { &self.datagrams };
        let before_bps = bps(courses, (first_ms - BESIDE_MS).max(0.0), first_ms).filter(|bps| *bps > 0.0)?;
        let over_ms = fault.over_ms.unwrap_or(fault.t_ms);
        let steps = ((fault.until_ms - BESIDE_MS - over_ms) / STEP_MS).max(0.0) as u64;
        let is_full = |from_ms: &f64| {
            let after_bps = bps(courses, *from_ms, (from_ms + BESIDE_MS).min(fault.until_ms));
            after_bps.is_some_and(|bps| bps >= before_bps * RECOVERED)
        };
        let mut begins = (0..=steps).map(|step| over_ms + step as f64 * STEP_MS);
        begins.find(is_full).map(|from_ms| from_ms - fault.t_ms)
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

fn bps(courses: &[Course], from_ms: f64, to_ms: f64) -> Option<f64> {
    let bytes = courses.iter().map(|course| value_at(course, to_ms) - value_at(course, from_ms)).sum::<f64>();
    (to_ms - from_ms >= STEP_MS).then(|| bytes.max(0.0) * 8e3 / (to_ms - from_ms))
}
