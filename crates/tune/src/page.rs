//! What came out, for people: a page that can be followed on other machines.

use std::fmt::Write;

use crate::finding::Finding;
use crate::machine::{Measured, Outcome};
use crate::run::Report;
use crate::seen::{ENOUGH, Figures};

/// Columns of a page.
const WIDTH: usize = 100;

/// The page, as text.
pub fn page(report: &Report) -> String {
    let mut text = format!("Tuning of {}\n", report.experiment);
    // Writing to a string does not fail.
    let _ = writeln!(text, "{}\n", "=".repeat(text.trim_end().len()));
    let first = report.first_look.len();
    let _ = match first {
        0 => writeln!(text, "A first look at the network ({:.1} s) found nothing wrong.\n", report.first_look_ms / 1e3),
        1 => writeln!(text, "A first look at the network ({:.1} s) found this wrong:\n", report.first_look_ms / 1e3),
        count => writeln!(
            text,
            "A first look at the network ({:.1} s) found {count} things wrong:\n",
            report.first_look_ms / 1e3
        ),
    };
    report.first_look.iter().for_each(|finding| text += &brief(finding));
    if report.outcome == Outcome::Looked {
        return text;
    }
    if first > 0 {
        text.push('\n');
    }
    text += "Step 1: baseline\n----------------\n\n";
    text += &table(&report.baseline);
    text += "\nStep 2: the network alone\n-------------------------\n\n";
    text += &network(report);
    text += "\nStep 3: production settings\n---------------------------\n\n";
    text += &match report.outcome {
        Outcome::Tuned if report.production.is_empty() => "The experiment has no run of this step.\n".to_owned(),
        Outcome::Tuned => table(&report.production),
        Outcome::Looked | Outcome::Stopped => wrapped("", &not_begun()),
    };
    text
}

/// Why there is no step 3.
pub(crate) fn not_begun() -> String {
    format!(
        "Not begun: the network alone does not reach {ENOUGH} of its limit. What disks and RAID levels give cannot be told by a \
         network that is not right."
    )
}

/// Step 2: what was looked at, what was wrong, the cure, figures before and after.
fn network(report: &Report) -> String {
    let mut text = String::new();
    for (number, round) in (1..).zip(&report.rounds) {
        let finding = &round.finding;
        text += &wrapped(&format!("{number}. "), &format!("{}, {}: {}", finding.trap, finding.place, finding.wrong));
        text += &cures(finding);
        text += &format!("   before: {}\n", figures(round.before.as_ref(), None));
        text += &format!("   after:  {}\n\n", figures(round.after.as_ref(), round.error.as_deref()));
    }
    if report.rounds.is_empty() {
        text += "Nothing was to be cured.\n\n";
    }
    let at_end = match report.network {
        Some(found) if found.of_limit >= ENOUGH => {
            format!("The network is right: {}.\n\n", figures(Some(&found), None))
        }
        Some(found) => {
            format!("The network is not right: {}; it has to reach {ENOUGH}.\n\n", figures(Some(&found), None))
        }
        None => "The network could not be measured.\n\n".to_owned(),
    };
    text += &at_end;
    text += "What was looked at:\n";
    for (title, looked) in &report.looked {
        text += &wrapped("  - ", &format!("{title}: {looked}."));
    }
    if !report.advice.is_empty() {
        text += "\nAdvice:\n";
        for finding in &report.advice {
            text += &wrapped("  - ", &format!("{}: {}", finding.place, finding.wrong));
            text += &cures(finding);
        }
    }
    text
}

fn brief(finding: &Finding) -> String {
    wrapped("  - ", &format!("{}: {}", finding.place, finding.wrong)) + &cures(finding)
}

/// A line a system.
fn cures(finding: &Finding) -> String {
    let width = finding.cures.iter().map(|cure| cure.system.len()).max().unwrap_or(0);
    finding.cures.iter().map(|cure| format!("     {:<width$}  {}\n", cure.system, cure.line)).collect()
}

/// `share of the limit 0.24: 113.2 MB/s, 3455 IO/s, 18.5 ms`
fn figures(figures: Option<&Figures>, error: Option<&str>) -> String {
    let Some(found) = figures else {
        return error.map_or_else(|| "not measured".to_owned(), |error| format!("did not end: {error}"));
    };
    let latency = found.latency_ms.map_or_else(String::new, |ms| format!(", {ms:.2} ms"));
    format!(
        "share of the limit {:.2}: {:.1} MB/s ({:.1} MiB/s), {:.0} IO/s{latency}",
        found.of_limit,
        found.delivered_bps / 8e6,
        found.delivered_bps / 8.0 / f64::from(1 << 20),
        found.ios_per_s
    )
}

/// A line a run: IOmeter's columns, and the published ones.
fn table(all: &[Measured]) -> String {
    let width = all.iter().map(|measured| measured.run.len()).max().unwrap_or(0);
    let mut text = String::new();
    for measured in all {
        let name = format!("  {:<width$}  ", measured.run);
        text += &name;
        text += &figures(measured.figures.as_ref(), measured.error.as_deref());
        text.push('\n');
        if let Some(published) = &measured.published {
            text += &format!("  {:<width$}  published: {published}\n", "");
        }
    }
    text
}

/// Lines of [`WIDTH`] columns, the first behind this, the others as far in.
fn wrapped(first: &str, words: &str) -> String {
    let indent = " ".repeat(first.chars().count());
    let (mut text, mut line) = (String::new(), first.to_owned());
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH && line.trim() != first.trim() {
            text += line.trim_end();
            text.push('\n');
            line.clone_from(&indent);
        }
        line += word;
        line.push(' ');
    }
    text + line.trim_end() + "\n"
}
