//! Runs that were carried out several times, as one each.

use nicteam_expect::clients::jain;
use nicteam_findings::units::{rate, ratio};
use nicteam_record::{Record, Run, Skipped};
use nicteam_statistics::{Estimate, outliers};

/// A run of the file and all the times that it was carried out.
#[derive(Clone, Debug)]
pub(crate) struct Repeated<'a> {
    /// Its name; with several engines, by one of them.
    pub(crate) name: &'a str,
    /// By their numbers.
    pub(crate) runs: Vec<&'a Run>,
}

impl<'a> Repeated<'a> {
    /// The time whose payload is the median, or the lower one of the two in the middle.
    pub(crate) fn typical(&self) -> Option<&'a Run> {
        typical(&self.runs)
    }

    /// A figure of each time.
    pub(crate) fn values(&self, of: impl Fn(&Run) -> f64) -> Vec<f64> {
        self.runs.iter().map(|run| of(run)).collect()
    }

    /// Medians and intervals in a line; none if it was carried out once.
    pub(crate) fn words(&self) -> Option<String> {
        if self.runs.len() < 2 {
            return None;
        }
        let delivered = self.values(|run| run.delivered_bps);
        let Estimate { median, low, high, samples } = Estimate::of(&delivered)?;
        let certainty = if samples > FEW { "95 %" } else { "lowest and highest" };
        let jain = self.values(|run| jain(run).unwrap_or(f64::NAN));
        let jain = Estimate::of(&jain).map_or_else(String::new, |of| {
            format!("; Jain's index over clients {} ({} to {})", ratio(of.median), ratio(of.low), ratio(of.high))
        });
        let apart = apart(&self.runs);
        let apart =
            if apart.is_empty() { String::new() } else { format!("; apart from the others: {}", apart.join(", ")) };
        let again: u32 = self.runs.iter().map(|run| run.done_again).sum();
        let again = if again > 0 { format!("; {again} done again for stolen processor time") } else { String::new() };
        Some(format!(
            "{samples} times: median {}, {certainty}: {} to {}{jain}{apart}{again}",
            rate(median),
            rate(low),
            rate(high)
        ))
    }
}

/// The time whose payload is the median, or the lower one of the two in the middle.
pub(crate) fn typical<'a>(runs: &[&'a Run]) -> Option<&'a Run> {
    let mut runs = runs.to_vec();
    runs.sort_by(|one, other| one.delivered_bps.total_cmp(&other.delivered_bps));
    runs.get(runs.len().saturating_sub(1) / 2).copied()
}

/// Times whose payload stands apart from that of the others: `one@5 (1.26 Gbit/s)`.
pub(crate) fn apart(runs: &[&Run]) -> Vec<String> {
    let delivered: Vec<f64> = runs.iter().map(|run| run.delivered_bps).collect();
    let named = |place: usize| format!("{} ({})", runs[place].name, rate(delivered[place]));
    outliers(&delivered).into_iter().map(named).collect()
}

/// So few samples have no interval of 95 %.
const FEW: usize = 5;

/// The runs of a record, in the order in which they first appear in the file.
pub(crate) fn repeated(record: &Record) -> Vec<Repeated<'_>> {
    let mut groups: Vec<Repeated<'_>> = Vec::new();
    for run in &record.runs {
        let name = run.base_name();
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.runs.push(run),
            None => groups.push(Repeated { name, runs: vec![run] }),
        }
    }
    let number = |run: &&Run| run.repetition.as_ref().map_or(1, |repetition| repetition.number);
    groups.iter_mut().for_each(|group| group.runs.sort_by_key(number));
    // The first round went backward (`Experiment::repeated`).
    if record.experiment.repeat > 1 && record.experiment.seed.wrapping_add(1).is_multiple_of(2) {
        groups.reverse();
    }
    groups
}

/// The same record with each run once: the typical time of each, under the run's own name.
pub(crate) fn condensed(record: &Record) -> Record {
    let own = |group: &Repeated<'_>| Some(Run { name: group.name.to_owned(), ..group.typical()?.clone() });
    let runs = repeated(record).iter().filter_map(own).collect();
    let mut skipped: Vec<Skipped> = Vec::new();
    for one in &record.skipped {
        let name = one.run.split('@').next().unwrap_or_default();
        if skipped.iter().all(|known| known.run != name) {
            skipped.push(Skipped { run: name.to_owned(), ..one.clone() });
        }
    }
    Record { runs, skipped, ..record.clone() }
}
