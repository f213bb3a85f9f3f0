//! The figures of a run that are compared.

use nicteam_record::{Connection, Histogram, Run};
use nicteam_statistics::jain_index;

use crate::clients::clients;
use crate::repeated::jain;
use crate::units::{percent, rate, ratio, share};

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
    fn new(kind: Kind, name: impl Into<String>, unit: &'static str) -> Figure {
        Figure { name: name.into(), unit, kind }
    }

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
    let mut all = vec![(Figure::new(Kind::Payload, "payload", "bps"), run.delivered_bps)];
    if run.limit_bps > 0.0 {
        all.push((Figure::new(Kind::Payload, "utilisation", "part"), run.of_limit));
    }
    let clients = clients(run);
    for client in clients.iter().filter(|_| clients.len() > 1 || has_both_ways(run)) {
        let ways = [("down", client.download_bps), ("up", client.upload_bps)];
        let ways = ways.into_iter().filter(|(_, bps)| *bps > 0.0);
        all.extend(ways.map(|(way, bps)| (Figure::new(Kind::Payload, format!("{} {way}", client.name), "bps"), bps)));
    }
    all.extend(jain(run).map(|jain| (Figure::new(Kind::Fairness, "Jain, clients", "part"), jain)));
    let rates: Vec<f64> = run.connections.iter().map(|connection| connection.delivered_bps).collect();
    let over_connections = jain_index(&rates).filter(|_| rates.len() > 1);
    all.extend(over_connections.map(|jain| (Figure::new(Kind::Fairness, "Jain, connections", "part"), jain)));
    let sum = |of: fn(&Connection) -> u64| run.connections.iter().map(|it| of(it) as f64).sum::<f64>();
    let segments = sum(|it| it.segments);
    if segments > 0.0 {
        let again = share(sum(|it| it.retransmits), segments);
        all.push((Figure::new(Kind::Retransmissions, "segments sent again", "share"), again));
    }
    let mut latency = |name: &str, times: &Histogram| {
        for (part, label) in [(0.5, "p50"), (0.99, "p99")] {
            let value = times.quantile_us(part).filter(|_| times.count > 0);
            all.extend(value.map(|us| (Figure::new(Kind::Latency, format!("{name} {label}"), "us"), us as f64)));
        }
    };
    run.operations.iter().for_each(|task| latency(&task.workload, &task.latency));
    run.probes.iter().for_each(|task| latency(&task.workload, &task.round_trip));
    all.push((Figure::new(Kind::Processor, "processors busy", "share"), run.cpu.busy));
    all
}

/// Whether payload went both ways.
fn has_both_ways(run: &Run) -> bool {
    let first = run.connections.first();
    first.is_some_and(|first| run.connections.iter().any(|it| it.from != first.from))
}
