//! Runs of one experiment, repeated, and what they say.

use std::collections::BTreeMap;

use nicteam_record::{Bundle, Datagrams, Run, Sample};

use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::product::{self, Product};
use crate::scratch::Scratch;
use crate::stats::{Estimate, median};

/// What one experiment left, a bundle a repeat. Its runs follow each other, so
/// repeats interleave them.
pub(super) struct Bundles {
    name: &'static str,
    all: Vec<Bundle>,
}

/// One run of one bundle.
pub(super) struct Measured {
    pub(super) run: Run,
    samples: Vec<Sample>,
}

impl Bundles {
    /// Runs an experiment with eBPF so often, so many seconds a run.
    pub(super) fn run(
        product: &Product,
        scratch: &Scratch,
        name: &'static str,
        repeats: u32,
        seconds: u32,
    ) -> Result<Bundles, Failure> {
        let mut all = Vec::new();
        for repeat in 1..=repeats {
            eprintln!("{name}: {repeat} of {repeats}");
            let output = scratch.path().join(format!("{name}-{repeat}"));
            let mut command = product.lab_run(name);
            command.args(["--dataplane", "bpf", "--duration", &format!("{seconds}s")]);
            let record = product::record(command.arg("--output").arg(&output).current_dir(scratch.path()))?;
            if let Some(partial) = record.partial() {
                return Err(Failure::failed(partial));
            }
            all.push(Bundle { dir: output, record });
        }
        Ok(Bundles { name, all })
    }

    /// What the links were, in a line.
    pub(super) fn about(&self) -> Result<Figure, Failure> {
        let record = &self.all.first().ok_or_else(|| Failure::failed("no run"))?.record;
        let seconds = record.runs.first().map_or(0.0, |run| run.measured_ms / 1e3);
        let frames = format!("{}, {seconds:.0} s a run, {} times", record.environment.frames(), self.all.len());
        Ok(Figure::text(format!("{}: frames", self.name), frames, "-", None))
    }

    /// A run of every repeat.
    pub(super) fn measured(&self, name: &str) -> Result<Vec<Measured>, Failure> {
        self.all.iter().map(|bundle| Measured::of(bundle, name)).collect()
    }

    /// One figure of one run, over all repeats.
    pub(super) fn figure(
        &self,
        run: &str,
        what: &str,
        bound: Bound,
        value: impl Fn(&Measured) -> Option<f64>,
    ) -> Result<Figure, Failure> {
        let measured = self.measured(run)?;
        let values: Option<Vec<f64>> = measured.iter().map(value).collect();
        let estimate = values.and_then(|values| Estimate::of(&values));
        Ok(Figure::ratio(format!("{run}: {what}"), estimate, bound).noise(self.noise(&measured)))
    }

    /// The ratio of a figure of two runs, repeat by repeat.
    pub(super) fn compared(
        &self,
        runs: (&str, &str),
        what: &str,
        bound: Bound,
        value: impl Fn(&Measured) -> Option<f64>,
    ) -> Result<Figure, Failure> {
        let (ours, theirs) = (self.measured(runs.0)?, self.measured(runs.1)?);
        let values = |measured: &[Measured]| measured.iter().map(&value).collect::<Option<Vec<f64>>>();
        let ratios = values(&ours).zip(values(&theirs));
        let estimate = ratios.as_ref().and_then(|(ours, theirs)| Estimate::of_ratios(ours, theirs));
        let noise = self.noise(&ours).worse(self.noise(&theirs));
        let [ours, theirs] = match &ratios {
            Some((ours, theirs)) => [ours, theirs].map(|values| median(values)),
            None => [f64::NAN; 2],
        };
        let figure = Figure::ratio(format!("{} / {}: {what}", runs.0, runs.1), estimate, bound);
        Ok(figure.noise(noise).peer(format!("{ours:.3} and {theirs:.3}")))
    }

    fn noise(&self, measured: &[Measured]) -> Noise {
        let busy_before = self.all.iter().map(|bundle| bundle.record.environment.busy_before).fold(0.0, f64::max);
        let stolen = measured.iter().map(|measured| measured.run.cpu.stolen).fold(0.0, f64::max);
        Noise { busy_before, stolen }
    }
}

impl Measured {
    fn of(bundle: &Bundle, name: &str) -> Result<Measured, Failure> {
        let run = bundle.record.runs.iter().find(|run| run.name == name);
        let run = run.ok_or_else(|| Failure::failed(format!("the record has no run {name}")))?.clone();
        let samples = bundle.samples(&run).map_err(Failure::failed)?;
        Ok(Measured { run, samples })
    }

    /// What was delivered, of the limit.
    pub(super) fn of_limit(&self) -> Option<f64> {
        Some(self.run.of_limit)
    }

    /// What was delivered each way, of that way's limit: half of the run's, both
    /// ways being alike. The slower way first.
    pub(super) fn each_way(&self) -> Option<[f64; 2]> {
        let ways: Vec<f64> = self.by(|connection| &connection.from).into_values().collect();
        let [one, other] = ways.try_into().ok()?;
        let limit_bps = self.run.limit_bps / 2.0;
        Some([f64::min(one, other) / limit_bps, f64::max(one, other) / limit_bps])
    }

    /// By how much the slower way lags behind the faster one.
    pub(super) fn imbalance(&self) -> Option<f64> {
        self.each_way().map(|[slow, fast]| 1.0 - slow / fast)
    }

    /// The worst second of either way, of that way's limit.
    pub(super) fn worst_second(&self) -> Option<f64> {
        let ways = self.by(|connection| &connection.to).into_keys();
        let limit_bps = self.run.limit_bps / 2.0;
        let seconds = ways.flat_map(|host| self.seconds(&host));
        seconds.reduce(f64::min).map(|bps| bps / limit_bps)
    }

    /// Segments sent again, of all.
    pub(super) fn retransmitted(&self) -> Option<f64> {
        let sum = |field: fn(&nicteam_record::Connection) -> u64| self.run.connections.iter().map(field).sum::<u64>();
        let segments = sum(|connection| connection.segments);
        (segments > 0).then(|| sum(|connection| connection.retransmits) as f64 / segments as f64)
    }

    /// Jain's index over what the hosts but this one had, sent and received together.
    pub(super) fn fairness_around(&self, server: &str) -> Option<f64> {
        let clients = self.by(|connection| if connection.from == server { &connection.to } else { &connection.from });
        let (sum, squares) = clients.values().fold((0.0, 0.0), |(sum, squares), bps| (sum + bps, squares + bps * bps));
        (squares > 0.0).then(|| sum * sum / (clients.len() as f64 * squares))
    }

    /// Datagrams of which something became, for each hundred that were sent.
    pub(super) fn datagrams_percent(&self, field: fn(&Datagrams) -> u64) -> Option<f64> {
        let datagrams = || self.run.connections.iter().filter_map(|connection| connection.datagrams.as_ref());
        let sent = datagrams().map(|datagrams| datagrams.sent).sum::<u64>();
        (sent > 0).then(|| datagrams().map(field).sum::<u64>() as f64 * 1e2 / sent as f64)
    }

    /// Processor seconds for each gigabit that was delivered.
    pub(super) fn cpu_per_gbit(&self, processors: f64) -> Option<f64> {
        (self.run.delivered_bps > 0.0).then(|| self.run.cpu.busy * processors / (self.run.delivered_bps / 1e9))
    }

    /// What was delivered, bit/s, by one end of the connections.
    fn by(&self, end: impl Fn(&nicteam_record::Connection) -> &String) -> BTreeMap<String, f64> {
        let mut delivered = BTreeMap::new();
        for connection in &self.run.connections {
            *delivered.entry(end(connection).clone()).or_insert(0.0) += connection.delivered_bps;
        }
        delivered
    }

    /// What a host received in each whole second of the window, bit/s.
    fn seconds(&self, host: &str) -> Vec<f64> {
        let of_host = self.samples.iter().filter(|sample| sample.host == host);
        let received = |sample: &Sample| sample.connections.iter().map(|c| c.received_bytes).sum::<u64>() as f64;
        let course: Vec<(f64, f64)> = of_host.map(|sample| (sample.t_ms, received(sample))).collect();
        let count = (self.run.measured_ms / 1e3).floor() as u32;
        let bytes_at = |second: u32| value_at(&course, f64::from(second) * 1e3);
        (0..count).map(|second| (bytes_at(second + 1) - bytes_at(second)) * 8.0).collect()
    }
}

/// A counter at a moment, on the straight line between the readings around it.
fn value_at(course: &[(f64, f64)], t_ms: f64) -> f64 {
    let next = course.partition_point(|(t, _)| *t < t_ms);
    match (next.checked_sub(1).and_then(|last| course.get(last)), course.get(next)) {
        (Some((t0, v0)), Some((t1, v1))) if t1 > t0 => v0 + (v1 - v0) * (t_ms - t0) / (t1 - t0),
        (_, Some((_, value))) | (Some((_, value)), None) => *value,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_read_between_its_readings() {
        let course = [(-50.0, 0.0), (50.0, 100.0), (150.0, 300.0)];
        assert_eq!(value_at(&course, 0.0), 50.0);
        assert_eq!(value_at(&course, 100.0), 200.0);
        assert_eq!(value_at(&course, 200.0), 300.0);
        assert_eq!(value_at(&[], 1.0), 0.0);
    }
}
