//! T1's goal: both ways at once for six minutes, and the worst ten seconds of them.

use nicteam_record::{Bundle, Run, Sample};

use super::TOOLS;
use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product;

/// Reads and writes over a stripe for six minutes.
pub(in crate::accept) const PART: Part<Arguments> =
    Part { tools: TOOLS, ..Part::new("storage-steady", "T1's goal: both ways over a stripe for 6 minutes", measure) };

const RUN: &str = "stripe-steady";
const SECONDS: u32 = 360;
/// The window of which the worst is named, seconds.
const WINDOW_S: u32 = 10;
/// What they wanted each way, MB/s, of links of 1 Gbit/s.
const GOAL: Bound = Bound::AtLeast(250.0);

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let dir = context.scratch.path().join("steady");
    let mut command = context.product.lab_run("t1-two-hosts");
    command.args(["--only", RUN, "--dataplane", "bpf"]).arg(format!("--duration={SECONDS}s"));
    let record = product::record(command.arg("--output").arg(&dir))?;
    if let Some(partial) = record.partial() {
        return Err(Failure::failed(partial));
    }
    let bundle = Bundle { dir, record };
    let run = bundle.record.runs.first().ok_or_else(|| Failure::failed(format!("no run {RUN}")))?;
    let samples = bundle.samples(run).map_err(Failure::failed)?;
    let noise = Noise { busy_before: bundle.record.environment.busy_before, stolen: run.cpu.stolen };
    let peer = format!("processors {:.2} busy; published: 350 each way, once, for 6 minutes", run.cpu.busy);
    let mut figures = Vec::new();
    for (way, to) in [("reads", "client"), ("writes", "server")] {
        let mean = mean_mb_s(run, to);
        let (worst, at_s) = worst(&course(run, &samples, to), run.measured_ms).unwrap_or((f64::NAN, 0));
        figures.push(figure(format!("{way}, mean of {SECONDS} s, MB/s"), mean, GOAL).noise(noise).peer(&*peer));
        let name = format!("{way}, worst {WINDOW_S} s (from second {at_s} on), MB/s");
        figures.push(figure(name, worst, GOAL).noise(noise));
    }
    Ok(figures)
}

fn figure(name: String, value: f64, bound: Bound) -> Figure {
    Figure::text(name, format!("{value:.1}"), &bound.to_string(), Some(bound.holds(value)))
}

/// What arrived at a host, MB/s.
fn mean_mb_s(run: &Run, to: &str) -> f64 {
    let own = run.connections.iter().filter(|connection| connection.to == to);
    own.map(|connection| connection.delivered_bps).sum::<f64>() / 8e6
}

/// Bytes that had arrived at a host at each moment.
fn course(run: &Run, samples: &[Sample], to: &str) -> Vec<(f64, f64)> {
    let own: Vec<u32> = run.connections.iter().filter(|of| of.to == to).map(|of| of.index).collect();
    let of_host = samples.iter().filter(|sample| sample.host == to);
    let received = |sample: &Sample| {
        let own = sample.connections.iter().filter(|connection| own.contains(&connection.index));
        own.map(|connection| connection.received_bytes).sum::<u64>() as f64
    };
    of_host.map(|sample| (sample.t_ms, received(sample))).collect()
}

/// The window in which the least arrived, MB/s, and the second in which it begins.
fn worst(course: &[(f64, f64)], measured_ms: f64) -> Option<(f64, u32)> {
    let begins = 0..=((measured_ms / 1e3) as u32).checked_sub(WINDOW_S)?;
    let at = |second: u32| value_at(course, f64::from(second) * 1e3);
    let each = begins.map(|from| Some(((at(from + WINDOW_S)? - at(from)?) / f64::from(WINDOW_S) / 1e6, from)));
    each.collect::<Option<Vec<_>>>()?.into_iter().min_by(|one, other| one.0.total_cmp(&other.0))
}

/// A counter at a moment, on the straight line between the readings around it.
fn value_at(course: &[(f64, f64)], t_ms: f64) -> Option<f64> {
    let next = course.partition_point(|(t, _)| *t < t_ms);
    match (next.checked_sub(1).and_then(|last| course.get(last)), course.get(next)) {
        (Some((t0, v0)), Some((t1, v1))) if t1 > t0 => Some(v0 + (v1 - v0) * (t_ms - t0) / (t1 - t0)),
        (_, Some((_, value))) | (Some((_, value)), None) => Some(*value),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_window_is_named_by_its_first_second() {
        // 100 MB/s, and half of that from second 12 to 22.
        let mut bytes = 0.0;
        let course: Vec<(f64, f64)> = (0..=30)
            .map(|second| {
                let now = (f64::from(second) * 1e3, bytes);
                bytes += if (12..22).contains(&second) { 50e6 } else { 100e6 };
                now
            })
            .collect();
        assert_eq!(worst(&course, 30_000.0), Some((50.0, 12)));
        assert_eq!(worst(&course, 5_000.0), None);
        assert_eq!(worst(&[], 30_000.0), None);
    }
}
