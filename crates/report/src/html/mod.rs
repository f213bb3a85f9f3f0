//! The pages: one file each, nothing loaded; the script within a page only adds to what is there.
//!
//! A file here is a section of a page, or what several sections show. Everything is written as [`maud::Markup`], which
//! escapes each text that is put into it; no text is escaped, and no tag written, by hand.

mod before_after;
mod cells;
mod columns;
mod compared;
mod disks;
mod document;
mod environment;
mod fairness;
mod faults;
mod heat;
mod lanes;
mod matrix;
mod run;
mod summary;
mod tasks;
mod timeline;
mod topology;
mod traffic;
mod verdicts;
mod way;

use std::collections::BTreeMap;

use maud::{Markup, html};
use nicteam_expect::{expectations, judge};
use nicteam_record::{Bundle, BundleError, Record, Run, Sample};

use crate::repeated::condensed;

pub use compared::{compared_page, compared_page_in};
pub use document::{Column, Frame, NUMBER, SCRIPT, STYLE, WORDS, document, framed, plain_table, section};
pub use topology::loaded as loaded_topology;
pub use traffic::section as traffic_over_time;
pub use verdicts::verdicts_page;

/// The report of a bundle as one self-contained HTML page: the table, the
/// topology, and for each run the explanation, the traffic of every member
/// over time and the connections. Fails if a run's samples cannot be read.
pub fn html(bundle: &Bundle) -> Result<String, BundleError> {
    page(&bundle.record, |run| bundle.samples(run))
}

/// The same of a record whose samples come from elsewhere.
pub fn page<E>(record: &Record, samples: impl Fn(&Run) -> Result<Vec<Sample>, E>) -> Result<String, E> {
    page_in(&Frame::default(), record, samples)
}

/// The same in a frame.
pub fn page_in<E>(
    frame: &Frame,
    record: &Record,
    samples: impl Fn(&Run) -> Result<Vec<Sample>, E>,
) -> Result<String, E> {
    let (whole, record) = (record, &condensed(record));
    let runs = record.runs.iter().enumerate().map(|(index, run)| Ok(run::section(index, run, &samples(run)?)));
    let runs: Vec<Markup> = runs.collect::<Result<_, E>>()?;
    let expectations = expectations(whole);
    let judged = judge(&expectations, std::slice::from_ref(whole), &BTreeMap::new());
    let main = html! {
        (header(record))
        (summary::section(record, whole))
        (verdicts::section(&judged))
        (before_after::section(whole))
        (topology::section(record))
        @for run in &runs { (run) }
        (environment::section(record))
    };
    let footer = html! { footer { "nicteam " (record.nicteam) " · record schema " (record.schema) } };
    Ok(framed(frame, &record.experiment.title, &main, &footer))
}

/// Title, question, when and where.
fn header(record: &Record) -> Markup {
    let experiment = &record.experiment;
    let environment = &record.environment;
    let facts = [
        ("When", when(&record.started)),
        ("Testbed", format!("{}, {}", environment.testbed, environment.privileges)),
        ("Dataplane", environment.dataplane.clone()),
        ("Frames", environment.frames()),
        ("Kernel", environment.kernel.clone()),
        ("Processors", format!("{} × {}", environment.cpus, environment.cpu_model)),
    ];
    html! {
        header {
            p.eyebrow { "nicteam lab · " (experiment.name) }
            h1 { (experiment.title) }
            @if let Some(question) = &experiment.question { p.lead { (question) } }
            @if let Some(partial) = record.partial() { p { strong { "Partial:" } " " (partial) "." } }
            dl.facts {
                @for (name, value) in facts { div { dt { (name) } dd { (value) } } }
            }
        }
    }
}

/// `2026-11-21 21:12 UTC` of an RFC 3339 time in UTC; anything else as it is.
fn when(started: &str) -> String {
    match (started.get(..10), started.get(10..11), started.get(11..16)) {
        (Some(date), Some("T"), Some(time)) if started.ends_with('Z') => format!("{date} {time} UTC"),
        _ => started.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shortened_if_they_are_times() {
        assert_eq!(when("2026-11-21T21:12:07Z"), "2026-11-21 21:12 UTC");
        assert_eq!(when("yesterday"), "yesterday");
        assert_eq!(when("üüüüüüüüüüZ"), "üüüüüüüüüüZ");
    }
}
