//! Runs of one experiment, repeated, and what they say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nicteam_record::{Bundle, Datagrams, Run, Sample};

use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::Context;
use crate::product::{self, Product};
use crate::scratch::Scratch;
use crate::tools;
use nicteam_statistics::{Estimate, median};

/// How often an experiment is run, and how long each of its runs is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) repeats: u32,
    pub(crate) seconds: u32,
}

/// The fewest repeats that have a median of their own.
const TIMES: Times = Times { repeats: 3, seconds: 10 };

/// A machine whose hypervisor takes more of its processors than this is not idle.
const STOLEN: f64 = 0.02;
/// How often the runs of which more was taken are run again.
const AGAIN: u32 = 2;

/// What one experiment left. Its runs follow each other, so repeats interleave them, but for those
/// that are run again.
pub(crate) struct Bundles {
    name: &'static str,
    repeats: Vec<Repeat>,
}

/// The bundle of the whole experiment, and then those of the runs that were run again.
struct Repeat(Vec<Bundle>);

/// One run of one bundle.
pub(crate) struct Measured {
    pub(crate) run: Run,
    samples: Vec<Sample>,
    noise: Noise,
}

impl Bundles {
    /// Runs an experiment with eBPF.
    pub(super) fn run(context: &Context<'_, Arguments>, name: &'static str) -> Result<Bundles, Failure> {
        let [bundles] = Bundles::in_turn([context.product], context.scratch, name, TIMES)?;
        Ok(bundles)
    }

    /// Runs an experiment with each of these programs in turn; who goes first alternates.
    pub(crate) fn in_turn<const N: usize>(
        products: [&Product; N],
        scratch: &Scratch,
        name: &'static str,
        times: Times,
    ) -> Result<[Bundles; N], Failure> {
        let mut all = products.map(|_| Bundles { name, repeats: Vec::new() });
        for number in 1..=times.repeats {
            let turn = (number as usize - 1) % N.max(1);
            for which in (0..N).map(|place| (place + turn) % N) {
                eprintln!("{name}: {number} of {}, program {} of {N}", times.repeats, which + 1);
                let runs = Runs { product: products[which], name, seconds: times.seconds };
                let dir = scratch.path().join(format!("{name}-{number}-{which}"));
                all[which].repeats.push(runs.repeat(&dir)?);
            }
        }
        Ok(all)
    }

    /// What the links were, in a line.
    pub(crate) fn about(&self) -> Result<Figure, Failure> {
        let first = self.repeats.first().and_then(|repeat| repeat.0.first());
        let record = &first.ok_or_else(|| Failure::failed("no run"))?.record;
        let seconds = record.runs.first().map_or(0.0, |run| run.measured_ms / 1e3);
        let again: usize = self.repeats.iter().map(Repeat::again).sum();
        let frames = record.environment.frames();
        let frames = format!("{frames}, {seconds:.0} s a run, {} times, {again} runs again", self.repeats.len());
        Ok(Figure::text(format!("{}: frames", self.name), frames, "-", None))
    }

    /// A run of every repeat.
    pub(crate) fn measured(&self, name: &str) -> Result<Vec<Measured>, Failure> {
        self.repeats.iter().map(|repeat| repeat.measured(name)).collect()
    }

    /// One figure of one run, over all repeats.
    pub(crate) fn figure(
        &self,
        run: &str,
        what: &str,
        bound: Bound,
        value: impl Fn(&Measured) -> Option<f64>,
    ) -> Result<Figure, Failure> {
        let measured = self.measured(run)?;
        let values: Option<Vec<f64>> = measured.iter().map(value).collect();
        let estimate = values.and_then(|values| Estimate::of(&values));
        Ok(Figure::ratio(format!("{run}: {what}"), estimate, bound).noise(noise(&measured)))
    }

    /// The ratio of a figure of two runs, repeat by repeat.
    pub(crate) fn compared(
        &self,
        runs: (&str, &str),
        what: &str,
        bound: Bound,
        value: impl Fn(&Measured) -> Option<f64>,
    ) -> Result<Figure, Failure> {
        let name = format!("{} / {}: {what}", runs.0, runs.1);
        Ok(self.pairs(runs.0, (self, runs.1), value)?.ratio(name, bound))
    }

    /// A figure of a run and of another one, repeat by repeat.
    pub(crate) fn pairs(
        &self,
        run: &str,
        (others, other): (&Bundles, &str),
        value: impl Fn(&Measured) -> Option<f64>,
    ) -> Result<Pairs, Failure> {
        let (ours, theirs) = (self.measured(run)?, others.measured(other)?);
        let values = |measured: &[Measured]| measured.iter().map(&value).collect::<Option<Vec<f64>>>();
        let both = values(&ours).zip(values(&theirs)).map(|(ours, theirs)| [ours, theirs]);
        Ok(Pairs { values: both, noise: noise(&ours).worse(noise(&theirs)) })
    }
}

/// A figure of paired runs.
pub(crate) struct Pairs {
    /// Of the one and of the other; none if a run has no such figure.
    values: Option<[Vec<f64>; 2]>,
    noise: Noise,
}

impl Pairs {
    /// The one divided by the other.
    pub(crate) fn ratio(&self, name: String, bound: Bound) -> Figure {
        self.figure(name, bound, Estimate::of_ratios)
    }

    /// What the one has more than the other.
    pub(crate) fn difference(&self, name: String, bound: Bound) -> Figure {
        self.figure(name, bound, Estimate::of_differences)
    }

    fn figure(&self, name: String, bound: Bound, of: fn(&[f64], &[f64]) -> Option<Estimate>) -> Figure {
        let estimate = self.values.as_ref().and_then(|[ours, theirs]| of(ours, theirs));
        let medians = self.values.as_ref().map_or([f64::NAN; 2], |values| values.each_ref().map(|of| median(of)));
        Figure::ratio(name, estimate, bound).noise(self.noise).peer(format!("{:.3} and {:.3}", medians[0], medians[1]))
    }
}

impl Repeat {
    /// The names of the runs that had too much steal time in each attempt.
    fn disturbed(&self) -> Vec<&str> {
        disturbed(self.0.iter().flat_map(|bundle| &bundle.record.runs).map(|run| (run.name.as_str(), run.cpu.stolen)))
    }

    /// How many runs were run again.
    fn again(&self) -> usize {
        self.0.iter().skip(1).map(|bundle| bundle.record.runs.len()).sum()
    }

    /// The attempt of this run with the least steal time: chosen by that alone, whatever it measured.
    fn measured(&self, name: &str) -> Result<Measured, Failure> {
        let runs = self.0.iter().flat_map(|bundle| bundle.record.runs.iter().map(move |run| (bundle, run)));
        let of_name = runs.filter(|(_, run)| run.name == name);
        let (bundle, run) = of_name
            .min_by(|(_, one), (_, other)| one.cpu.stolen.total_cmp(&other.cpu.stolen))
            .ok_or_else(|| Failure::failed(format!("the record has no run {name}")))?;
        let noise = Noise { busy_before: bundle.record.environment.busy_before, stolen: run.cpu.stolen };
        let samples = bundle.samples(run).map_err(Failure::failed)?;
        Ok(Measured { run: run.clone(), samples, noise })
    }
}

/// The names of those that had too much steal time in each attempt.
fn disturbed<'a>(runs: impl Iterator<Item = (&'a str, f64)>) -> Vec<&'a str> {
    let mut least: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, stolen) in runs {
        least.entry(name).and_modify(|least| *least = least.min(stolen)).or_insert(stolen);
    }
    least.into_iter().filter(|(_, stolen)| *stolen > STOLEN).map(|(name, _)| name).collect()
}

/// What disturbed the worst of them.
fn noise(measured: &[Measured]) -> Noise {
    measured.iter().fold(Noise::default(), |worst, measured| worst.worse(measured.noise))
}

/// How an experiment is run.
struct Runs<'a> {
    product: &'a Product,
    name: &'static str,
    seconds: u32,
}

impl Runs<'_> {
    /// Runs the experiment, and again those of its runs that had too much steal time. `dir` is the beginning of the
    /// bundles' names.
    fn repeat(&self, dir: &Path) -> Result<Repeat, Failure> {
        let dir = |tries: u32| dir.with_extension(tries.to_string());
        let mut repeat = Repeat(vec![self.lab_run(&[], dir(0))?]);
        for tries in 1..=AGAIN {
            let disturbed = repeat.disturbed();
            if disturbed.is_empty() {
                break;
            }
            eprintln!("{}: again for its steal time: {}", self.name, disturbed.join(", "));
            repeat.0.push(self.lab_run(&disturbed, dir(tries))?);
        }
        Ok(repeat)
    }

    /// Runs the experiment, or some runs of it. Programs of other versions are given the same file.
    fn lab_run(&self, only: &[&str], output: PathBuf) -> Result<Bundle, Failure> {
        let file = tools::repository().join(format!("experiments/{}.toml", self.name));
        let mut command = self.product.lab_run(&file.to_string_lossy());
        command.args(["--dataplane", "bpf", "--duration", &format!("{}s", self.seconds)]);
        command.args(only.iter().flat_map(|run| ["--only", run])).arg("--output").arg(&output);
        let record = product::record(command.current_dir(output.parent().unwrap_or(&output)))?;
        match record.partial() {
            Some(partial) => Err(Failure::failed(partial)),
            None => Ok(Bundle { dir: output, record }),
        }
    }
}

impl Measured {
    /// What was delivered, as a share of the limit.
    pub(crate) fn of_limit(&self) -> Option<f64> {
        Some(self.run.of_limit)
    }

    /// What was delivered each way, of that way's limit: half of the run's, both
    /// ways being alike. The slower way first.
    pub(crate) fn each_way(&self) -> Option<[f64; 2]> {
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
    pub(crate) fn retransmitted(&self) -> Option<f64> {
        let sum = |field: fn(&nicteam_record::Connection) -> u64| self.run.connections.iter().map(field).sum::<u64>();
        let segments = sum(|connection| connection.segments);
        (segments > 0).then(|| sum(|connection| connection.retransmits) as f64 / segments as f64)
    }

    /// How often a switch learned a known address at another port, and whether there were more than could be counted.
    pub(in crate::accept) fn moves(&self) -> (u64, bool) {
        let moves = &self.run.mac_moves;
        (moves.iter().map(|switch| switch.moves).sum(), moves.iter().any(|switch| switch.at_least))
    }

    /// Frames that the queues of the hosts' devices had no room for, of all that were handed to them.
    pub(crate) fn dropped_when_sent(&self) -> f64 {
        let members = || {
            self.run.members.iter().filter(|member| self.run.topology.hosts.iter().any(|host| host.name == member.host))
        };
        let sum = |field: fn(&nicteam_record::Member) -> u64| members().map(field).sum::<u64>() as f64;
        let (sent, dropped) = (sum(|member| member.tx_frames), sum(|member| member.tx_drops));
        if sent + dropped > 0.0 { dropped / (sent + dropped) } else { 0.0 }
    }

    /// Jain's index over what the hosts but this one had, sent and received together.
    pub(in crate::accept) fn fairness_around(&self, server: &str) -> Option<f64> {
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
    fn only_what_was_disturbed_each_time_is_run_again() {
        let runs = [("quiet", 0.0), ("better", 0.3), ("loud", 0.2), ("better", STOLEN), ("loud", 0.03)];
        assert_eq!(disturbed(runs.into_iter()), ["loud"]);
        assert!(disturbed(std::iter::empty()).is_empty());
    }

    #[test]
    fn a_counter_is_read_between_its_readings() {
        let course = [(-50.0, 0.0), (50.0, 100.0), (150.0, 300.0)];
        assert_eq!(value_at(&course, 0.0), 50.0);
        assert_eq!(value_at(&course, 100.0), 200.0);
        assert_eq!(value_at(&course, 200.0), 300.0);
        assert_eq!(value_at(&[], 1.0), 0.0);
    }
}
