//! What experiment files expect: `nicteam lab check`, an experiment a part.

use std::path::Path;

use nicteam_experiment::builtin;
use nicteam_record::{Bundle, Record};
use nicteam_statistics::{Estimate, median};
use nicteam_sys::process;
use serde::Deserialize;

use super::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product::Product;

/// The command that measures an experiment again.
const COMMAND: &str = "nicteam lab check";
/// The experiments that are compared with an older program, unless others are named.
const COMPARED: [&str; 3] = ["lacp-stall", "stripe", "stripe-gigabit"];

/// Every experiment that ships.
pub(super) fn parts() -> Vec<Part<Arguments>> {
    let part = |name, title| Part { command: Some(COMMAND), ..Part::new(name, title, measure) };
    builtin().iter().map(|experiment| part(experiment.name, experiment.title())).collect()
}

/// Whether an experiment is one of those that are compared with an older program.
pub(super) fn is_compared(part: &Part<Arguments>) -> bool {
    COMPARED.contains(&part.name)
}

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    checked(context, context.part, context.product, &[])
}

/// The verdicts on an experiment that is carried out by this program with these options.
pub(super) fn checked(
    context: &Context<'_, Arguments>,
    experiment: &str,
    product: &Product,
    options: &[&str],
) -> Result<Vec<Figure>, Failure> {
    let Arguments { repeats, most, seconds, against, .. } = context.arguments;
    let mut command = product.command();
    command.args(["lab", "check", experiment, "--json", "--repeat", &repeats.to_string()]).args(options);
    command.args(["--most", &most.max(repeats).to_string()]);
    command.args(seconds.map(|seconds| format!("--duration={seconds}s")));
    command.args(against.iter().flat_map(|program| [Path::new("--against"), program]));
    command.arg("--output").arg(context.scratch.path().join(context.part));
    command.current_dir(context.scratch.path()).env("HOME", context.scratch.path());
    command.stderr(std::process::Stdio::inherit());
    process::die_with_parent(&mut command);
    let output = command.output().map_err(|error| Failure::failed(format!("cannot run nicteam: {error}")))?;
    // A verdict has an exit code, too; without verdicts nothing is printed.
    let Ok(checked) = serde_json::from_slice::<Vec<Checked>>(&output.stdout) else {
        let why = format!("nicteam lab check {experiment}: {}; see above", output.status);
        return Err(if output.status.code() == Some(3) { Failure::Missing(why) } else { Failure::Failed(why) });
    };
    let mut figures = Vec::new();
    for Checked { bundles, expectations } in checked {
        let open = |bundle| Bundle::open(context.scratch.path().join(bundle).as_path()).map(|bundle| bundle.record);
        let records: Vec<Record> = bundles.iter().map(open).collect::<Result<_, _>>().map_err(Failure::failed)?;
        figures.extend(expectations.iter().map(|expectation| expectation.figure(&records)));
    }
    Ok(figures)
}

/// An experiment, as `lab check --json` prints it.
#[derive(Debug, Deserialize)]
struct Checked {
    bundles: Vec<String>,
    expectations: Vec<Expectation>,
}

/// An expectation and its verdict.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Expectation {
    run: String,
    subject: String,
    bound: String,
    verdict: String,
    unit: String,
    at_least: Option<f64>,
    at_most: Option<f64>,
    values: Vec<f64>,
    beside: Vec<f64>,
    middle: Option<f64>,
    low: f64,
    high: f64,
    repetitions_with: usize,
    repetitions: usize,
    why: Option<String>,
}

impl Expectation {
    /// Its row: what is undecided is judged by its middle, and is not clear.
    fn figure(&self, records: &[Record]) -> Figure {
        let name = format!("{}: {}", self.run, self.subject);
        let (factor, unit) = self.scale();
        let estimate = self.middle.map(|middle| Estimate {
            median: middle * factor,
            low: self.low * factor,
            high: self.high * factor,
            samples: self.values.len(),
        });
        let measured = match (&self.why, estimate) {
            (Some(why), _) => format!("not measured: {why}"),
            (None, Some(of)) => {
                format!("{:.3} [{:.3}, {:.3}] {unit}", of.median, of.low, of.high).trim_end().to_owned()
            }
            (None, None) => format!("{} of {}", self.repetitions_with, self.repetitions),
        };
        let middle_holds = self.middle.is_some_and(|middle| {
            self.at_least.is_none_or(|least| middle >= least) && self.at_most.is_none_or(|most| middle <= most)
        });
        let holds = self.verdict == "holds" || self.verdict == "undecided" && middle_holds;
        let figure = Figure::text(name, measured, &self.bound, Some(holds));
        let figure = Figure { estimate, clear: self.verdict != "undecided", ..figure }.unit(unit);
        self.peer(records).into_iter().fold(figure.noise(self.noise(records)), Figure::peer)
    }

    /// The factor from the record's unit to the one that people read. A ratio has no unit.
    fn scale(&self) -> (f64, &'static str) {
        let is_ratio = self.subject.contains(" / ");
        match self.unit.as_str() {
            _ if is_ratio => (1.0, ""),
            "bps" => (1e-6, "Mbit/s"),
            "share" => (1e2, "%"),
            "us" => (1.0, "us"),
            "ms" => (1.0, "ms"),
            "s" => (1.0, "s"),
            "bytes" => (1.0 / f64::from(1 << 20), "MiB"),
            "per_s" => (1.0, "a second"),
            _ => (1.0, ""),
        }
    }

    /// What it is compared with: the other run of the same time, or what a published test found.
    fn peer(&self, records: &[Record]) -> Option<String> {
        if self.beside.is_empty() {
            let mut runs = self.runs(records);
            return runs.find_map(|(_, run)| run.published.as_ref()).map(|published| format!("published: {published}"));
        }
        let alone = Expectation { subject: String::new(), ..self.clone() };
        let (factor, unit) = alone.scale();
        let words = |values: &[f64]| format!("{:.3}", median(values) * factor);
        Some(format!("{} and {} {unit}", words(&self.values), words(&self.beside)).trim_end().to_owned())
    }

    fn noise(&self, records: &[Record]) -> Noise {
        let of = |(record, run): (&Record, &nicteam_record::Run)| Noise {
            busy_before: record.environment.busy_before,
            stolen: run.cpu.stolen,
        };
        self.runs(records).map(of).fold(Noise::default(), Noise::worse)
    }

    fn runs<'r>(&self, records: &'r [Record]) -> impl Iterator<Item = (&'r Record, &'r nicteam_record::Run)> {
        let all = records.iter().flat_map(|record| record.runs.iter().map(move |run| (record, run)));
        all.filter(|(_, run)| run.base_name() == self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(json: &str) -> Figure {
        serde_json::from_str::<Expectation>(json).unwrap().figure(&[])
    }

    #[test]
    fn a_verdict_is_a_row_with_its_bound_and_its_peer() {
        let figure = expectation(
            r#"{"run": "a", "subject": "delivered_bps / b", "bound": "at least 0.98", "verdict": "holds", "unit": "bps",
                "at_least": 0.98, "values": [4e6, 5e6, 6e6], "beside": [5e6, 5e6, 5e6], "middle": 1.0, "low": 0.8, "high": 1.2}"#,
        );
        assert_eq!((figure.name.as_str(), figure.measured.as_str()), ("a: delivered_bps / b", "1.000 [0.800, 1.200]"));
        assert_eq!((figure.peer.as_str(), figure.unit, figure.holds), ("5.000 and 5.000 Mbit/s", "", Some(true)));
        let difference = expectation(
            r#"{"run": "a", "subject": "retransmitted - b", "bound": "at most 0.05 %", "verdict": "missed", "unit": "share",
                "at_most": 0.0005, "values": [0.01], "beside": [0.005], "middle": 0.005, "low": 0.005, "high": 0.005}"#,
        );
        assert_eq!((difference.measured.as_str(), difference.holds), ("0.500 [0.500, 0.500] %", Some(false)));
        assert_eq!(difference.peer, "1.000 and 0.500 %");
    }

    #[test]
    fn what_is_undecided_is_judged_by_its_middle_and_is_not_clear() {
        let undecided = |middle: f64| {
            let figure = expectation(&format!(
                r#"{{"run": "a", "subject": "of_limit", "verdict": "undecided", "unit": "part", "at_least": 0.9,
                     "values": [0.8, 1.0], "middle": {middle}, "low": 0.8, "high": 1.0}}"#
            ));
            (figure.holds, figure.clear)
        };
        assert_eq!((undecided(0.95), undecided(0.85)), ((Some(true), false), (Some(false), false)));
        let nothing = expectation(r#"{"run": "a", "subject": "jain", "verdict": "undecided", "why": "no value"}"#);
        assert_eq!((nothing.measured.as_str(), nothing.holds), ("not measured: no value", Some(false)));
        let finding = expectation(
            r#"{"run": "a", "subject": "finding `hash`", "verdict": "holds", "repetitions_with": 3, "repetitions": 3}"#,
        );
        assert_eq!((finding.measured.as_str(), finding.holds), ("3 of 3", Some(true)));
    }
}
