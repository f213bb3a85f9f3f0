//! The page: one file, nothing loaded, no script.

mod before_after;
mod cells;
mod columns;
mod compared;
mod disks;
mod environment;
mod fairness;
mod run;
mod style;
mod summary;
mod tasks;
mod timeline;
mod topology;
mod traffic;

use nicteam_record::{Bundle, BundleError, Record, Run, Sample};

use crate::repeated::condensed;
use crate::svg::esc;

pub use compared::compared_page;

/// The report of a bundle as one self-contained HTML page: the table, the
/// topology, and for each run the explanation, the traffic of every member
/// over time and the connections. Fails if a run's samples cannot be read.
pub fn html(bundle: &Bundle) -> Result<String, BundleError> {
    page(&bundle.record, |run| bundle.samples(run))
}

/// The same of a record whose samples come from elsewhere.
pub fn page<E>(record: &Record, samples: impl Fn(&Run) -> Result<Vec<Sample>, E>) -> Result<String, E> {
    let (whole, mut runs) = (record, String::new());
    let record = &condensed(record);
    for (index, run) in record.runs.iter().enumerate() {
        runs.push_str(&run::section(index, run, &samples(run)?));
    }
    let sections = [
        header(record),
        summary::section(record, whole),
        before_after::section(whole),
        topology::section(record),
        runs,
        environment::section(record),
    ];
    Ok(document(&record.experiment.title, &sections.concat(), &footer(record)))
}

/// A whole page of this title in the report's style: `main`, and `footer` behind it, are HTML.
pub fn document(title: &str, main: &str, footer: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} · nicteam</title>\n<style>\n{css}</style>\n</head>\n<body>\n<main>\n\
         {main}</main>\n{footer}</body>\n</html>\n",
        title = esc(title),
        css = style::CSS,
    )
}

/// A text as HTML shows it, for element content and quoted attributes.
pub fn escaped(text: &str) -> String {
    esc(text).to_string()
}

/// Title, question, when and where.
fn header(record: &Record) -> String {
    let experiment = &record.experiment;
    let environment = &record.environment;
    let question = experiment
        .question
        .as_deref()
        .map_or_else(String::new, |question| format!("<p class=\"lead\">{}</p>\n", esc(question)));
    let partial = record
        .partial()
        .map_or_else(String::new, |partial| format!("<p><strong>Partial:</strong> {}.</p>\n", esc(&partial)));
    let facts = [
        ("When", when(&record.started)),
        ("Testbed", format!("{}, {}", environment.testbed, environment.privileges)),
        ("Dataplane", environment.dataplane.clone()),
        ("Frames", environment.frames()),
        ("Kernel", environment.kernel.clone()),
        ("Processors", format!("{} × {}", environment.cpus, environment.cpu_model)),
    ];
    let facts: String =
        facts.iter().map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", esc(value))).collect();
    format!(
        "<header>\n<p class=\"eyebrow\">nicteam lab · {}</p>\n<h1>{}</h1>\n{question}{partial}<dl class=\"facts\">\n{facts}</dl>\n</header>\n",
        esc(&experiment.name),
        esc(&experiment.title),
    )
}

/// `2026-11-21 21:12 UTC` of an RFC 3339 time in UTC; anything else as it is.
fn when(started: &str) -> String {
    match (started.get(..10), started.get(10..11), started.get(11..16)) {
        (Some(date), Some("T"), Some(time)) if started.ends_with('Z') => format!("{date} {time} UTC"),
        _ => started.to_owned(),
    }
}

fn footer(record: &Record) -> String {
    format!("<footer>nicteam {} · record schema {}</footer>\n", esc(&record.nicteam), record.schema)
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
