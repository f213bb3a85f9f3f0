//! Some runs of an experiment, repeated.

use nicteam_record::{Record, Run};

use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::Context;
use crate::product;
use nicteam_statistics::Estimate;

/// What to run.
#[derive(Clone, Copy)]
pub(super) struct What<'a> {
    /// The experiment.
    pub(super) experiment: &'a str,
    /// Its runs; none: all.
    pub(super) only: &'a [&'a str],
    /// How long each is measured; none: as its file says.
    pub(super) seconds: Option<u32>,
    /// Rate of each link that has none of its own; none: as its file says.
    pub(super) rate: Option<&'a str>,
    /// How often.
    pub(super) repeats: u32,
}

/// What came out, a record a repeat.
pub(super) struct Records(Vec<Record>);

impl Records {
    /// Runs it with eBPF.
    pub(super) fn of(context: &Context<'_, Arguments>, what: &What<'_>) -> Result<Records, Failure> {
        let mut records = Vec::new();
        for repeat in 1..=what.repeats {
            eprintln!("{}: {repeat} of {}", what.experiment, what.repeats);
            let mut command = context.product.lab_run(what.experiment);
            command.args(["--dataplane", "bpf"]).args(what.only.iter().flat_map(|run| ["--only", run]));
            command.args(what.seconds.map(|seconds| format!("--duration={seconds}s")));
            command.args(what.rate.map(|rate| format!("--rate={rate}")));
            let rate = what.rate.unwrap_or("own");
            command.arg("--output").arg(context.scratch.path().join(format!("{}-{rate}-{repeat}", what.experiment)));
            let record = product::record(&mut command)?;
            match record.partial() {
                Some(partial) => return Err(Failure::failed(partial)),
                None => records.push(record),
            }
        }
        Ok(Records(records))
    }

    /// A run of every repeat.
    pub(super) fn runs(&self, name: &str) -> Result<Vec<&Run>, Failure> {
        let found = self.0.iter().map(|record| record.runs.iter().find(|run| run.name == name));
        let found: Option<Vec<&Run>> = found.collect();
        found.ok_or_else(|| Failure::failed(format!("the record has no run {name}")))
    }

    /// One figure of one run, over all repeats.
    pub(super) fn figure(
        &self,
        run: &str,
        what: &str,
        bound: Bound,
        value: impl Fn(&Run) -> Option<f64>,
    ) -> Result<Figure, Failure> {
        let runs = self.runs(run)?;
        let values: Option<Vec<f64>> = runs.iter().map(|run| value(run)).collect();
        let estimate = values.and_then(|values| Estimate::of(&values));
        Ok(Figure::ratio(format!("{run}: {what}"), estimate, bound).noise(self.noise(run)?))
    }

    /// The median of one figure of one run; none if a repeat has no such figure.
    pub(super) fn median(&self, run: &str, value: impl Fn(&Run) -> Option<f64>) -> Result<Option<f64>, Failure> {
        let values: Option<Vec<f64>> = self.runs(run)?.iter().map(|run| value(run)).collect();
        Ok(values.and_then(|values| Estimate::of(&values)).map(|estimate| estimate.median))
    }

    /// What disturbed the worst of the repeats of a run.
    pub(super) fn noise(&self, name: &str) -> Result<Noise, Failure> {
        let runs = self.0.iter().zip(self.runs(name)?);
        let each =
            runs.map(|(record, run)| Noise { busy_before: record.environment.busy_before, stolen: run.cpu.stolen });
        Ok(each.fold(Noise::default(), Noise::worse))
    }
}
