//! The figures of a run, by the names that experiments and comparisons use.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use nicteam_record::{Connection, Fault, Histogram, Member, Operations, Probes, Run, Stall, Transfer};
use nicteam_statistics::jain_index;

use crate::clients::{clients, jain};
use crate::unit::Unit;

/// A figure of a run.
#[derive(Debug)]
pub struct Figure {
    /// Its name: `of_limit`.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// Whether it can be narrowed.
    pub scope: Scope,
    /// What it is, in a sentence.
    pub doc: &'static str,
    value: fn(&Run, &Part) -> Option<f64>,
}

/// To what a figure can be narrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// To nothing: it is of the whole run.
    Run,
    /// To one workload.
    Workload,
    /// To one host.
    Host,
}

/// The part of a run that a figure is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Of this workload alone.
    pub workload: Option<String>,
    /// Of this host alone.
    pub host: Option<String>,
}

// A figure is its entry in the list.
impl PartialEq for Figure {
    fn eq(&self, other: &Figure) -> bool {
        self.name == other.name
    }
}

impl Figure {
    /// The figure of this name.
    pub fn named(name: &str) -> Option<&'static Figure> {
        FIGURES.iter().find(|figure| figure.name == name)
    }

    /// Its value in a run; none if there is nothing of this kind in the run, or in that part of it.
    pub fn value(&self, run: &Run, part: &Part) -> Option<f64> {
        (self.value)(run, part).filter(|value| value.is_finite())
    }
}

/// All figures, in the order of the documentation.
pub static FIGURES: [Figure; 35] = FIGURES_LIST;

/// Their names.
pub const NAMES: [&str; FIGURES_LIST.len()] = {
    let mut names = [""; FIGURES_LIST.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = FIGURES_LIST[place].name;
        place += 1;
    }
    names
};

const FIGURES_LIST: [Figure; 35] = [
    Figure {
        name: "of_limit",
        unit: Unit::Part,
        scope: Scope::Run,
        doc: "payload that arrived as a part of what the links could have carried",
        value: |run, _| (run.limit_bps > 0.0).then_some(run.of_limit),
    },
    Figure {
        name: "slower_way",
        unit: Unit::Part,
        scope: Scope::Run,
        doc: "where two hosts send to each other: payload of the slower direction as a part of what the links could have \
            carried in one direction",
        value: |run, _| slower_way(run),
    },
    Figure {
        name: "delivered_bps",
        unit: Unit::Bps,
        scope: Scope::Workload,
        doc: "payload that arrived",
        value: |run, part| match part.workload {
            None => Some(run.delivered_bps),
            Some(_) => some_sum(connections(run, part).map(|it| it.delivered_bps)),
        },
    },
    Figure {
        name: "download_bps",
        unit: Unit::Bps,
        scope: Scope::Host,
        doc: "payload that clients received, where one host has a part in all connections",
        value: |run, part| some_sum(own_clients(run, part).map(|client| client.0)),
    },
    Figure {
        name: "upload_bps",
        unit: Unit::Bps,
        scope: Scope::Host,
        doc: "payload that clients sent",
        value: |run, part| some_sum(own_clients(run, part).map(|client| client.1)),
    },
    Figure {
        name: "jain",
        unit: Unit::Part,
        scope: Scope::Run,
        doc: "Jain's index over the clients: 1 where all have the same",
        value: |run, _| jain(run),
    },
    Figure {
        name: "jain_connections",
        unit: Unit::Part,
        scope: Scope::Workload,
        doc: "Jain's index over the connections",
        value: |run, part| {
            let rates: Vec<f64> = connections(run, part).map(|it| it.delivered_bps).collect();
            jain_index(&rates).filter(|_| rates.len() > 1)
        },
    },
    Figure {
        name: "retransmitted",
        unit: Unit::Share,
        scope: Scope::Workload,
        doc: "segments of TCP that were sent again, as a share of all segments",
        value: |run, part| {
            let sum = |of: fn(&Connection) -> u64| connections(run, part).map(|it| of(it) as f64).sum::<f64>();
            let segments = sum(|it| it.segments);
            (segments > 0.0).then(|| sum(|it| it.retransmits) / segments)
        },
    },
    Figure {
        name: "latency_p50_us",
        unit: Unit::Us,
        scope: Scope::Workload,
        doc: "median time from a request to its answer",
        value: |run, part| quantile(operations(run, part).map(|it| &it.latency), 0.5),
    },
    Figure {
        name: "latency_p99_us",
        unit: Unit::Us,
        scope: Scope::Workload,
        doc: "time from a request to its answer that 99 of 100 requests do not exceed",
        value: |run, part| quantile(operations(run, part).map(|it| &it.latency), 0.99),
    },
    Figure {
        name: "latency_p999_us",
        unit: Unit::Us,
        scope: Scope::Workload,
        doc: "time from a request to its answer that 999 of 1000 requests do not exceed",
        value: |run, part| quantile(operations(run, part).map(|it| &it.latency), 0.999),
    },
    Figure {
        name: "rate_per_s",
        unit: Unit::PerSecond,
        scope: Scope::Workload,
        doc: "requests that were answered, a second",
        value: |run, part| some_sum(operations(run, part).map(|it| it.rate_per_s)),
    },
    Figure {
        name: "errors",
        unit: Unit::Count,
        scope: Scope::Workload,
        doc: "requests that failed",
        value: |run, part| some_sum(operations(run, part).map(|it| it.errors as f64)),
    },
    Figure {
        name: "round_trip_p50_us",
        unit: Unit::Us,
        scope: Scope::Workload,
        doc: "median round-trip time of probes",
        value: |run, part| quantile(probes(run, part).map(|it| &it.round_trip), 0.5),
    },
    Figure {
        name: "round_trip_p99_us",
        unit: Unit::Us,
        scope: Scope::Workload,
        doc: "round-trip time that 99 of 100 probes do not exceed",
        value: |run, part| quantile(probes(run, part).map(|it| &it.round_trip), 0.99),
    },
    Figure {
        name: "probes_lost",
        unit: Unit::Count,
        scope: Scope::Workload,
        doc: "probes that never came back",
        value: |run, part| some_sum(probes(run, part).map(|it| it.lost as f64)),
    },
    Figure {
        name: "datagrams_lost",
        unit: Unit::Count,
        scope: Scope::Workload,
        doc: "datagrams that did not arrive though a later one did",
        value: |run, part| some_sum(connections(run, part).filter_map(|it| Some(it.datagrams.as_ref()?.lost as f64))),
    },
    Figure {
        name: "datagrams_reordered",
        unit: Unit::Count,
        scope: Scope::Workload,
        doc: "datagrams that arrived after a later one",
        value: |run, part| {
            some_sum(connections(run, part).filter_map(|it| Some(it.datagrams.as_ref()?.reordered as f64)))
        },
    },
    Figure {
        name: "longest_silence_ms",
        unit: Unit::Ms,
        scope: Scope::Workload,
        doc: "longest time in which no probe came back, or no datagram arrived",
        value: |run, part| {
            let of_probes = probes(run, part).map(|it| it.longest_silence_ms);
            let of_datagrams =
                connections(run, part).filter_map(|it| Some(it.datagrams.as_ref()?.longest_silence_us as f64 / 1e3));
            of_probes.chain(of_datagrams).reduce(f64::max)
        },
    },
    Figure {
        name: "fault_silence_ms",
        unit: Unit::Ms,
        scope: Scope::Run,
        doc: "longest time after a fault in which no datagram arrived, or no probe came back",
        value: |run, _| run.faults.iter().filter_map(|fault| fault.silence_ms).reduce(f64::max),
    },
    Figure {
        name: "fault_lost",
        unit: Unit::Count,
        scope: Scope::Run,
        doc: "datagrams and probes that were lost from a fault to the next one, or to the end",
        value: |run, _| some_sum(run.faults.iter().filter_map(|fault| Some(fault.lost? as f64))),
    },
    Figure {
        name: "time_to_full_share_ms",
        unit: Unit::Ms,
        scope: Scope::Run,
        doc: "longest time from a fault until as much payload arrived again as before; at least the rest of the run \
            if it remained less",
        value: |run, _| run.faults.iter().filter_map(Fault::full_share_at_least_ms).reduce(f64::max),
    },
    Figure {
        name: "broken",
        unit: Unit::Count,
        scope: Scope::Run,
        doc: "what has to hold in spite of faults, and did not (docs/chaos.md)",
        value: |run, _| (!run.faults.is_empty()).then(|| nicteam_chaos::broken(run).len() as f64),
    },
    Figure {
        name: "stall_ms",
        unit: Unit::Ms,
        scope: Scope::Workload,
        doc: "longest time in which no request to a disk, or of a copy, was answered though some were outstanding",
        value: |run, part| {
            let took = |stall: &Option<Stall>| stall.map(|stall| stall.took_ms);
            let of_operations = operations(run, part).filter_map(|it| took(&it.stall));
            of_operations.chain(transfers(run, part).filter_map(|it| took(&it.stall))).reduce(f64::max)
        },
    },
    Figure {
        name: "took_ms",
        unit: Unit::Ms,
        scope: Scope::Workload,
        doc: "time of a copy from the first request to the last byte; of several copies the longest",
        value: |run, part| all(transfers(run, part).map(|it| it.took_ms))?.into_iter().reduce(f64::max),
    },
    Figure {
        name: "program_bps",
        unit: Unit::Bps,
        scope: Scope::Workload,
        doc: "rate of copies as their program saw it",
        value: |run, part| some_sum(all(transfers(run, part).map(Transfer::program_bps))?.into_iter()),
    },
    Figure {
        name: "verified_bytes",
        unit: Unit::Bytes,
        scope: Scope::Workload,
        doc: "bytes of copies that were compared with what they had to be; 0 if one was wrong",
        value: |run, part| {
            let verified = |it: &Transfer| if it.wrong_at.is_some() { f64::NAN } else { it.verified_bytes as f64 };
            some_sum(transfers(run, part).map(verified)).map(|sum| if sum.is_nan() { 0.0 } else { sum })
        },
    },
    Figure {
        name: "mac_moves",
        unit: Unit::Count,
        scope: Scope::Run,
        doc: "how often switches learned a known MAC address at another port",
        value: |run, _| some_sum(run.mac_moves.iter().map(|it| it.moves as f64)),
    },
    Figure {
        name: "drops",
        unit: Unit::Count,
        scope: Scope::Host,
        doc: "frames that teams or the queues of their links dropped",
        value: |run, part| {
            let members = run.members.iter().filter(|it| part.has_host(&it.host));
            some_sum(members.map(|it| (it.tx_drops + it.rx_drops) as f64))
        },
    },
    Figure {
        name: "busiest_link_sent",
        unit: Unit::Part,
        scope: Scope::Host,
        doc: "part of what a team sent that left by its busiest link; of several teams the highest",
        value: |run, part| busiest_link(run, part, |it| it.tx_bps),
    },
    Figure {
        name: "busiest_link_received",
        unit: Unit::Part,
        scope: Scope::Host,
        doc: "part of what a team received that came by its busiest link; of several teams the highest",
        value: |run, part| busiest_link(run, part, |it| it.rx_bps),
    },
    Figure {
        name: "cpu_busy",
        unit: Unit::Share,
        scope: Scope::Run,
        doc: "busy share of all processors of the machine that ran the lab",
        value: |run, _| Some(run.cpu.busy),
    },
    Figure {
        name: "cpu_busy_per_gbit",
        unit: Unit::Part,
        scope: Scope::Run,
        doc: "busy share of all processors for each Gbit/s of payload that arrived",
        value: |run, _| (run.delivered_bps > 0.0).then(|| run.cpu.busy / (run.delivered_bps / 1e9)),
    },
    Figure {
        name: "cpu_seconds",
        unit: Unit::Seconds,
        scope: Scope::Host,
        doc: "processor time of the processes of hosts and switches",
        value: |run, part| some_sum(run.cpu.seconds.iter().filter(|it| part.has_host(&it.host)).map(|it| it.seconds)),
    },
    Figure {
        name: "memory_used_bytes",
        unit: Unit::Bytes,
        scope: Scope::Run,
        doc: "the most memory of the machine that was in use",
        value: |run, _| run.memory.map(|memory| memory.used_bytes as f64),
    },
];

/// The figures as a table in Markdown.
pub fn reference() -> String {
    let mut out = "| figure | unit | of | what it is |\n|---|---|---|---|\n".to_owned();
    for Figure { name, unit, scope, doc, .. } in &FIGURES {
        let of = match scope {
            Scope::Run => "run",
            Scope::Workload => "run, or a `workload`",
            Scope::Host => "run, or a `host`",
        };
        let _ = writeln!(out, "| `{name}` | {} | {of} | {doc} |", unit.name());
    }
    out
}

impl Part {
    /// Of one workload.
    pub fn of_workload(name: &str) -> Part {
        Part { workload: Some(name.to_owned()), host: None }
    }

    /// Of one host.
    pub fn of_host(name: &str) -> Part {
        Part { workload: None, host: Some(name.to_owned()) }
    }

    fn has_workload(&self, name: &str) -> bool {
        self.workload.as_ref().is_none_or(|own| own == name)
    }

    fn has_host(&self, name: &str) -> bool {
        self.host.as_ref().is_none_or(|own| own == name)
    }
}

fn connections<'r>(run: &'r Run, part: &Part) -> impl Iterator<Item = &'r Connection> {
    run.connections.iter().filter(|it| part.has_workload(&it.workload))
}

fn operations<'r>(run: &'r Run, part: &Part) -> impl Iterator<Item = &'r Operations> {
    run.operations.iter().filter(|it| part.has_workload(&it.workload))
}

fn probes<'r>(run: &'r Run, part: &Part) -> impl Iterator<Item = &'r Probes> {
    run.probes.iter().filter(|it| part.has_workload(&it.workload))
}

fn transfers<'r>(run: &'r Run, part: &Part) -> impl Iterator<Item = &'r Transfer> {
    run.transfers.iter().filter(|it| part.has_workload(&it.workload))
}

/// What each client received and sent, bit/s.
fn own_clients(run: &Run, part: &Part) -> impl Iterator<Item = (f64, f64)> {
    clients(run).into_iter().filter(|it| part.has_host(it.name)).map(|it| (it.download_bps, it.upload_bps))
}

/// The slower of two hosts that send to each other, as a part of half the limit: both ways are alike.
fn slower_way(run: &Run) -> Option<f64> {
    let mut ways: BTreeMap<&str, f64> = BTreeMap::new();
    run.connections.iter().for_each(|it| *ways.entry(it.from.as_str()).or_default() += it.delivered_bps);
    let slower = ways.values().copied().reduce(f64::min)?;
    (ways.len() == 2 && run.limit_bps > 0.0).then(|| slower / (run.limit_bps / 2.0))
}

/// What the busiest link of a host's team carried, as a part of all its links; the highest of several teams.
fn busiest_link(run: &Run, part: &Part, rate: fn(&Member) -> f64) -> Option<f64> {
    let mut teams: BTreeMap<(&str, &str), (f64, f64)> = BTreeMap::new();
    for member in run.members.iter().filter(|it| part.has_host(&it.host)) {
        let (most, sum) = teams.entry((&member.host, &member.team)).or_default();
        *most = most.max(rate(member));
        *sum += rate(member);
    }
    teams.values().filter(|(_, sum)| *sum > 0.0).map(|(most, sum)| most / sum).reduce(f64::max)
}

/// The sum; none of nothing.
fn some_sum(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(|sum, value| sum + value)
}

/// All values, if each is there.
fn all(values: impl Iterator<Item = Option<f64>>) -> Option<Vec<f64>> {
    values.collect()
}

/// The time that this part of all does not exceed.
fn quantile<'r>(times: impl Iterator<Item = &'r Histogram>, part: f64) -> Option<f64> {
    let mut sum = Histogram::default();
    times.for_each(|times| sum.merge(times));
    sum.quantile_us(part).filter(|_| sum.count > 0).map(|us| us as f64)
}
