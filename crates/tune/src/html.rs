//! What came out as a page for a browser, in the style of the runs' reports.

use maud::{Markup, html};
use nicteam_report::{Column, NUMBER, WORDS, document, plain_table, section};

use crate::finding::{Cure, Finding};
use crate::machine::{Measured, Outcome, Round};
use crate::page::not_begun;
use crate::run::Report;
use crate::seen::{ENOUGH, Figures};

/// The page: one file, nothing loaded, no script.
pub fn html(report: &Report) -> String {
    let production = match report.outcome {
        Outcome::Tuned if report.production.is_empty() => paragraph("The experiment has no run of this step."),
        Outcome::Tuned => table(&report.production),
        Outcome::Looked | Outcome::Stopped => paragraph(&not_begun()),
    };
    let main = html! {
        header {
            p.eyebrow { "nicteam lab tune · " (report.experiment) }
            h1 { "Tuning: " (report.title) }
            p.lead { (verdict(report)) }
        }
        (first_look(report))
        @if report.outcome != Outcome::Looked {
            (section("baseline", "Step 1: baseline", &table(&report.baseline)))
            (section("network", "Step 2: the network alone", &network(report)))
            (section("production", "Step 3: production settings", &production))
        }
    };
    let footer = html! { footer { "nicteam " (env!("CARGO_PKG_VERSION")) } };
    document(&format!("Tuning of {}", report.experiment), &main, &footer)
}

/// The outcome in a sentence or two.
fn verdict(report: &Report) -> String {
    let cures = match report.rounds.len() {
        0 => "Nothing was to be cured".to_owned(),
        1 => "One thing was cured".to_owned(),
        count => format!("{count} things were cured, one after the other"),
    };
    let reached = report.network.map(|found| format!("the network alone reaches {:.2} of its limit", found.of_limit));
    match (report.outcome, reached) {
        (Outcome::Looked, _) if report.first_look.is_empty() => {
            "Nothing is wrong with the network at first sight.".to_owned()
        }
        (Outcome::Looked, _) => format!("At first sight {} wrong with the network.", things(report.first_look.len())),
        (Outcome::Tuned, Some(reached)) => format!("{cures}; {reached}."),
        (Outcome::Stopped, Some(reached)) => {
            format!("{cures}; {reached}, which is less than {ENOUGH}: the tuning stops before production.")
        }
        (_, None) => format!("{cures}; the network could not be measured."),
    }
}

fn things(count: usize) -> String {
    if count == 1 { "one thing is".to_owned() } else { format!("{count} things are") }
}

fn first_look(report: &Report) -> Markup {
    let seconds = report.first_look_ms / 1e3;
    let wrong = match report.first_look.len() {
        0 => "nothing is".to_owned(),
        count => things(count),
    };
    let body = html! {
        p { (format!("Both ends of each cable and what passes each path were looked at in {seconds:.1} s: {wrong} wrong.")) }
        @for finding in &report.first_look { (self::finding("", finding)) }
    };
    section("look", "A first look", &body)
}

fn paragraph(text: &str) -> Markup {
    html! { p { (text) } }
}

/// Where, what, and what to do on each system.
fn finding(number: &str, finding: &Finding) -> Markup {
    html! { h3 { (number) (finding.place) } p { (finding.wrong) } (cures(&finding.cures)) }
}

fn cures(cures: &[Cure]) -> Markup {
    let rows = html! { @for cure in cures { tr { td { (cure.system) } td { code { (cure.line) } } } } };
    html! { @if !cures.is_empty() { (plain_table(&[("on", WORDS), ("cure", WORDS)], &rows)) } }
}

fn network(report: &Report) -> Markup {
    let at_end = match report.network {
        Some(found) if found.of_limit >= ENOUGH => "The network is right.".to_owned(),
        Some(_) => format!("The network is not right: it has to reach {ENOUGH} of its limit."),
        None => "The network could not be measured.".to_owned(),
    };
    html! {
        @for (number, round) in (1..).zip(&report.rounds) { (self::round(number, round)) }
        h3 { "At the end" }
        p { (at_end) }
        (framed(&row("the network alone", report.network.as_ref(), None)))
        h3 { "What was looked at" }
        dl.glossary { @for (title, looked) in &report.looked { dt { (title) } dd { (looked) "." } } }
        @for finding in &report.advice { (self::finding("Advice: ", finding)) }
    }
}

fn round(number: usize, round: &Round) -> Markup {
    let rows = html! {
        (row("before", round.before.as_ref(), None))
        (row("after", round.after.as_ref(), round.error.as_deref()))
    };
    html! { (finding(&format!("{number}. {}: ", round.finding.trap), &round.finding)) (framed(&rows)) }
}

/// A row a run.
fn table(all: &[Measured]) -> Markup {
    let words = |of: &Measured| {
        let words = [of.description.clone(), of.published.as_ref().map(|said| format!("published: {said}"))];
        Some(words.into_iter().flatten().collect::<Vec<_>>().join("; ")).filter(|words| !words.is_empty())
    };
    framed(&html! {
        @for measured in all {
            (row(&measured.run, measured.figures.as_ref(), measured.error.as_deref()))
            @if let Some(words) = words(measured) { tr { td.quiet colspan=(FIGURES.len() + 2) { (words) } } }
        }
    })
}

const FIGURES: [Column<'_>; 4] = [("MB/s", NUMBER), ("MiB/s", NUMBER), ("IO/s", NUMBER), ("ms", NUMBER)];

/// A table of runs with their figures.
fn framed(rows: &Markup) -> Markup {
    let of_limit = html! { "share of the limit\u{a0} " span.key-tick {} (ENOUGH) ": right" };
    html! {
        div.scroll {
            table.plain {
                thead {
                    tr {
                        th scope="col" {}
                        th scope="col" { (of_limit) }
                        @for (name, class) in FIGURES { th scope="col" class=[class] { (name) } }
                    }
                }
                tbody { (rows) }
            }
        }
    }
}

fn row(name: &str, figures: Option<&Figures>, error: Option<&str>) -> Markup {
    let Some(found) = figures else {
        let why = error.map_or_else(|| "not measured".to_owned(), |error| format!("did not end: {error}"));
        return html! { tr { td { (name) } td colspan=(FIGURES.len() + 1) { (why) } } };
    };
    let cells = [
        format!("{:.1}", found.delivered_bps / 8e6),
        format!("{:.1}", found.delivered_bps / 8.0 / f64::from(1 << 20)),
        format!("{:.0}", found.ios_per_s),
        found.latency_ms.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.2}")),
    ];
    html! { tr { td { (name) } td { (meter(found.of_limit)) } @for cell in cells { td.num { (cell) } } } }
}

/// A part of the limit, with a tick where the network is right.
fn meter(part: f64) -> Markup {
    let (number, width) = (format!("{part:.2}"), format!("{:.1}", part.clamp(0.0, 1.0) * 100.0));
    html! {
        span.meter {
            strong { (number) }
            svg viewBox="0 0 100 14" preserveAspectRatio="none" role="img" aria-label={ "share of the limit: " (number) } {
                rect.track width="100" height="14" {}
                rect.value width=(width) height="14" {}
                path.tick d={ "M" (format!("{:.0}", ENOUGH * 100.0)) " 0v14" } {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let figures =
            Figures { of_limit: 0.25, delivered_bps: 8e8, limit_bps: 3.2e9, ios_per_s: 3052.0, latency_ms: Some(20.5) };
        let cure = Cure { system: "ESXi", line: "a <b> & c".to_owned() };
        let finding = Finding {
            trap: "path-policy",
            place: "esx".to_owned(),
            wrong: "Turns are <long>.".to_owned(),
            cures: vec![cure],
            edits: Vec::new(),
            must: true,
        };
        let measured = Measured {
            run: "baseline".to_owned(),
            description: None,
            published: Some("128 MB/s".to_owned()),
            figures: Some(figures),
            error: None,
        };
        let round =
            Round { finding: finding.clone(), before: Some(figures), after: None, error: Some("no way".to_owned()) };
        Report {
            experiment: "t4".to_owned(),
            title: "Storage".to_owned(),
            outcome: Outcome::Stopped,
            first_look: vec![finding],
            first_look_ms: 700.0,
            baseline: vec![measured],
            rounds: vec![round],
            looked: vec![("the cache", "none".to_owned())],
            network: Some(figures),
            advice: Vec::new(),
            production: Vec::new(),
            tuned_file: String::new(),
        }
    }

    #[test]
    fn the_page_has_each_step_with_its_figures_and_cures() {
        let page = html(&report());
        for words in [
            "<code>a &lt;b&gt; &amp; c</code>",
            "Turns are &lt;long&gt;.",
            "1. path-policy: esx",
            "published: 128 MB/s",
            "did not end: no way",
            "<td class=\"num\">100.0</td><td class=\"num\">95.4</td><td class=\"num\">3052</td><td class=\"num\">20.50</td>",
            "Not begun: the network alone does not reach 0.9",
            "One thing was cured; the network alone reaches 0.25 of its limit, which is less than 0.9",
        ] {
            assert!(page.contains(words), "`{words}` is not in:\n{page}");
        }
    }

    #[test]
    fn a_look_alone_has_no_steps() {
        let report = Report { outcome: Outcome::Looked, rounds: Vec::new(), network: None, ..report() };
        let page = html(&report);
        assert!(page.contains("one thing is wrong with the network") && !page.contains("Step 1"), "{page}");
    }
}
