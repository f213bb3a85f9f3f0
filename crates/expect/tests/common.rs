//! Records of a test.

use nicteam_expect::{Bound, Expectation, Figure, Part, What};
use nicteam_record::{Connection, Record, Repetition, Run, Variant};
use serde_json::json;

/// A record made by the lab, whose runs are replaced.
const RECORDED: &str = include_str!("../../../fuzz/corpus/record/two-teams");

/// A run of two hosts with nothing in it but this payload.
pub fn run(name: &str, delivered_bps: f64) -> Run {
    let mut run = recorded().runs.remove(0);
    run.name = name.to_owned();
    run.delivered_bps = delivered_bps;
    run.of_limit = delivered_bps / 1e9;
    run.limit_bps = 1e9;
    (run.variant, run.repetition) = (None, None);
    run.connections.clear();
    run.operations.clear();
    run.probes.clear();
    run.transfers.clear();
    run.findings.clear();
    run
}

/// One repetition of a run.
pub fn repetition(of: &str, number: u32, delivered_bps: f64) -> Run {
    Run { repetition: Some(Repetition { of: of.to_owned(), number }), ..run(&format!("{of}@{number}"), delivered_bps) }
}

/// The same by an engine, of several.
pub fn by_engine(of: &str, engine: &str, delivered_bps: f64) -> Run {
    let variant = Some(Variant { of: of.to_owned(), engine: engine.to_owned() });
    Run { variant, ..run(&format!("{of}.{engine}"), delivered_bps) }
}

/// A connection between two hosts.
pub fn connection(workload: &str, from: &str, to: &str, delivered_bps: f64) -> Connection {
    let value = json!({
        "workload": workload, "index": 0, "from": from, "to": to, "src": "", "dst": "", "delivered_bps": delivered_bps,
        "retransmits": 5, "segments": 100, "rtt_us": 0.0, "congestion": "cubic",
    });
    serde_json::from_value(value).unwrap()
}

/// A record of these runs.
pub fn record(runs: Vec<Run>) -> Record {
    Record { runs, ..recorded() }
}

fn recorded() -> Record {
    let (record, _) = RECORDED.split_once("\n\n").unwrap();
    serde_json::from_str(record).unwrap()
}

/// At least so much of a figure of a run.
pub fn at_least(run: &str, figure: &str, least: f64) -> Expectation {
    let bound = Bound { at_least: Some(least), at_most: None };
    let figure = Figure::named(figure).unwrap();
    Expectation {
        run: run.to_owned(),
        what: What::Figure { figure, part: Part::default(), beside: None, bound },
        line: 1,
    }
}
