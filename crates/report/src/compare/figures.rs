//! The figures of a run that are compared.

use std::collections::BTreeSet;

use nicteam_expect::clients::clients;
use nicteam_expect::{Figure as Known, Part};
use nicteam_findings::units::{percent, rate, ratio};
use nicteam_record::Run;

/// What a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Payload,
    Fairness,
    Retransmissions,
    Latency,
    Processor,
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What it is: `payload`, `main down`, `requests p99`.
    pub name: String,
    /// Its unit in a record: `bps`, `part`, `us`, `s`.
    pub unit: &'static str,
    pub(super) kind: Kind,
}

impl Figure {
    /// A value of it in words.
    pub fn words(&self, value: f64) -> String {
        match self.unit {
            "bps" => rate(value),
            "us" => format!("{:.2} ms", value / 1e3),
            "s" => format!("{value:.2} s"),
            "share" => percent(value),
            _ => ratio(value),
        }
    }

    /// What stands before a difference of two values.
    pub(super) fn difference(&self, value: f64) -> String {
        let sign = if value < 0.0 { "-" } else { "+" };
        format!("{sign}{}", self.words(value.abs()))
    }
}

/// Figures that both sides have each time, with their values; payload is the first.
pub(super) fn of_both(runs: &[Vec<&Run>; 2], leaves_out: &[Kind]) -> Vec<(Figure, [Vec<f64>; 2])> {
    let of_runs = runs.each_ref().map(|runs| runs.iter().map(|run| of(run)).collect::<Vec<_>>());
    let known = of_runs[0].first().map_or(&[][..], Vec::as_slice);
    let wanted = known.iter().filter(|(figure, _)| !leaves_out.contains(&figure.kind));
    let values = |figure: &Figure, all: &[Vec<(Figure, f64)>]| {
        let of_one = |run: &Vec<(Figure, f64)>| run.iter().find(|(own, _)| own == figure).map(|(_, value)| *value);
        all.iter().map(of_one).collect::<Option<Vec<f64>>>()
    };
    wanted
        .filter_map(|(figure, _)| {
            let both = [values(figure, &of_runs[0])?, values(figure, &of_runs[1])?];
            both.iter().flatten().all(|value| value.is_finite()).then(|| (figure.clone(), both))
        })
        .collect()
}

/// All figures of a run.
fn of(run: &Run) -> Vec<(Figure, f64)> {
    let whole = Part::default();
    let figure = |kind, name: &str, known: &str, part: &Part| {
        let known = Known::named(known)?;
        Some((Figure { name: name.to_owned(), unit: known.unit.name(), kind }, known.value(run, part)?))
    };
    let mut all = Vec::new();
    all.extend(figure(Kind::Payload, "payload", "delivered_bps", &whole));
    all.extend(figure(Kind::Payload, "utilisation", "of_limit", &whole));
    let clients = clients(run);
    for client in clients.iter().filter(|_| clients.len() > 1 || has_both_ways(run)) {
        let part = Part::of_host(client.name);
        for (way, known) in [("down", "download_bps"), ("up", "upload_bps")] {
            let of_way = figure(Kind::Payload, &format!("{} {way}", client.name), known, &part);
            all.extend(of_way.filter(|(_, bps)| *bps > 0.0));
        }
    }
    all.extend(figure(Kind::Fairness, "Jain, clients", "jain", &whole));
    all.extend(figure(Kind::Fairness, "Jain, connections", "jain_connections", &whole));
    all.extend(figure(Kind::Retransmissions, "segments sent again", "retransmitted", &whole));
    let operations = run.operations.iter().map(|task| (task.workload.as_str(), "latency"));
    let probes = run.probes.iter().map(|task| (task.workload.as_str(), "round_trip"));
    let mut seen = BTreeSet::new();
    for (workload, times) in operations.chain(probes).filter(|task| seen.insert(*task)) {
        for quantile in ["p50", "p99"] {
            let known = format!("{times}_{quantile}_us");
            let name = format!("{workload} {quantile}");
            all.extend(figure(Kind::Latency, &name, &known, &Part::of_workload(workload)));
        }
    }
    all.extend(figure(Kind::Processor, "processors busy", "cpu_busy", &whole));
    all
}

/// Whether payload went both ways.
fn has_both_ways(run: &Run) -> bool {
    let first = run.connections.first();
    first.is_some_and(|first| run.connections.iter().any(|it| it.from != first.from))
}
