//! Where it ran, how it was measured, how to run it again.

use std::collections::BTreeSet;

use maud::{Markup, html};
use nicteam_findings::units::percent;
use nicteam_record::{Environment, Record};

use super::{disks, document};

/// The last section.
pub(super) fn section(record: &Record) -> Markup {
    let environment = &record.environment;
    let experiment = &record.experiment;
    let rows = [
        ("kernel", environment.kernel.clone()),
        ("processors", format!("{} × {}", environment.cpus, environment.cpu_model)),
        ("memory", format!("{:.1} GiB", environment.memory_bytes as f64 / f64::from(1u32 << 30))),
        ("testbed", format!("{}, as {}", environment.testbed, environment.privileges)),
        ("dataplane", environment.dataplane.clone()),
        ("other engines", engines(record)),
        ("storage", targets(record)),
        ("frames", frames(environment)),
        ("congestion control", congestion(record)),
        ("busy before", format!("{} of all processors, before the first run", percent(environment.busy_before))),
        ("nicteam", record.nicteam.clone()),
        ("began", record.started.clone()),
        ("order of the runs", experiment.order.join(", ")),
        ("seed", experiment.seed.to_string()),
    ];
    let body = html! {
        dl.glossary {
            @for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) { dt { (name) } dd { (value) } }
        }
        h3 { "What the figures count" }
        (what_counts())
        h3 { "Run it again" }
        pre { code { (command(record)) } }
        details { summary { "The experiment file" } pre { code { (experiment.file) } } }
    };
    document::section("environment", "Environment", &body)
}

fn what_counts() -> Markup {
    html! {
        p {
            b { "Delivered" } " is payload that the receiving programs read in the measured window, all connections together. "
            b { "The limit" } " is the payload that the links at the narrowest side could have carried in it: preamble, gap, "
            "check sequence and headers taken off; where payload goes both ways at once, acknowledgements (one for two segments), "
            "too. "
            b { "A member’s load" } " is its own byte counters beside what full frames on its link can show; it includes headers, "
            "acknowledgements and segments sent again. The warm-up is in no figure."
        }
    }
}

/// Who else ran teams, each once: `ovs: ovs-vswitchd (Open vSwitch) 3.1.0`.
fn engines(record: &Record) -> String {
    let teams = record.runs.iter().flat_map(|run| &run.topology.teams).filter(|team| !team.engine_version.is_empty());
    let engines: BTreeSet<String> = teams.map(|team| format!("{}: {}", team.engine, team.engine_version)).collect();
    engines.into_iter().collect::<Vec<_>>().join("; ")
}

/// What served storage, each once.
fn targets(record: &Record) -> String {
    let mut all: Vec<String> = Vec::new();
    for words in record.runs.iter().flat_map(|run| &run.targets).map(disks::target) {
        if !all.contains(&words) {
            all.push(words);
        }
    }
    all.join("; ")
}

/// What the frames were, and what it does to the counts.
fn frames(environment: &Environment) -> String {
    let frames = environment.frames();
    match environment.granularity.as_str() {
        "packets" => format!("{frames}: every frame was one of the MTU at most"),
        "super-frames" => {
            format!("{frames}, joined by the stack; their headers are counted once (bytes up to 4 % low)")
        }
        _ => frames,
    }
}

/// Every congestion control in use, each once.
fn congestion(record: &Record) -> String {
    let mut names: Vec<&str> =
        record.runs.iter().flat_map(|run| &run.connections).map(|connection| connection.congestion.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}

/// The command that runs it again: `rate=1gbit` was `--rate 1gbit`.
fn command(record: &Record) -> String {
    let overrides = record.experiment.overrides.iter().map(|change| match change.split_once('=') {
        Some((option, value)) => format!(" --{option} {value}"),
        None => format!(" --{change}"),
    });
    format!("nicteam lab run {}{}", record.experiment.name, overrides.collect::<String>())
}
