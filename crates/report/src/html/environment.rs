//! Where it ran, how it was measured, how to run it again.

use nicteam_record::Record;

use crate::svg::esc;
use crate::units::percent;

/// The last section.
pub(super) fn section(record: &Record) -> String {
    let environment = &record.environment;
    let experiment = &record.experiment;
    let rows = [
        ("kernel", environment.kernel.clone()),
        ("processors", format!("{} × {}", environment.cpus, environment.cpu_model)),
        ("memory", format!("{:.1} GiB", environment.memory_bytes as f64 / f64::from(1u32 << 30))),
        ("testbed", format!("{}, as {}", environment.testbed, environment.privileges)),
        ("dataplane", environment.dataplane.clone()),
        ("frames", granularity(&environment.granularity)),
        ("congestion control", congestion(record)),
        ("busy before", format!("{} of all processors, before the first run", percent(environment.busy_before))),
        ("nicteam", record.nicteam.clone()),
        ("began", record.started.clone()),
        ("order of the runs", experiment.order.join(", ")),
        ("seed", experiment.seed.to_string()),
    ];
    let rows: String = rows.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>\n", esc(value))).collect();
    format!(
        "<section aria-labelledby=\"environment\">\n<h2 id=\"environment\">Environment</h2>\n<dl class=\"glossary\">\n{rows}</dl>\n\
         <h3>What the figures count</h3>\n{counts}<h3>Run it again</h3>\n<pre><code>{command}</code></pre>\n\
         <details>\n<summary>The experiment file</summary>\n<pre><code>{file}</code></pre>\n</details>\n</section>\n",
        counts = COUNTS,
        command = esc(&command(record)),
        file = esc(&experiment.file),
    )
}

const COUNTS: &str = "<p><b>Delivered</b> is payload that the receiving programs read in the measured window, all connections \
    together. <b>The limit</b> is the payload that the links at the narrowest side could have carried in it: preamble, gap, \
    check sequence and headers taken off; where payload goes both ways at once, acknowledgements (one for two segments), too. \
    <b>A member’s load</b> is its own byte counters beside what full frames on its link can show; it includes headers, \
    acknowledgements and segments sent again. The warm-up is in no figure.</p>\n";

/// What the two granularities are.
fn granularity(name: &str) -> String {
    match name {
        "packets" => "packets: every frame was a true MTU packet".to_owned(),
        "super-frames" => "super-frames: the stack joined packets to up to 64 KB, whose headers are counted once (bytes about 4 % low)".to_owned(),
        other => other.to_owned(),
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
