//! What came out as a page for a browser, in the style of the runs' reports.

use nicteam_report::{document, escaped};

use crate::finding::{Cure, Finding};
use crate::machine::{Measured, Outcome, Round};
use crate::page::not_begun;
use crate::run::Report;
use crate::seen::{ENOUGH, Figures};

/// The page: one file, nothing loaded, no script.
pub fn html(report: &Report) -> String {
    let mut main = header(report) + &first_look(report);
    if report.outcome != Outcome::Looked {
        main += &section("baseline", "Step 1: baseline", &table(&report.baseline));
        main += &section("network", "Step 2: the network alone", &network(report));
        let production = match report.outcome {
            Outcome::Tuned if report.production.is_empty() => paragraph("The experiment has no run of this step."),
            Outcome::Tuned => table(&report.production),
            Outcome::Looked | Outcome::Stopped => paragraph(&not_begun()),
        };
        main += &section("production", "Step 3: production settings", &production);
    }
    let footer = format!("<footer>nicteam {}</footer>\n", env!("CARGO_PKG_VERSION"));
    document(&format!("Tuning of {}", report.experiment), &main, &footer)
}

fn header(report: &Report) -> String {
    format!(
        "<header>\n<p class=\"eyebrow\">nicteam lab tune · {}</p>\n<h1>Tuning: {}</h1>\n<p class=\"lead\">{}</p>\n</header>\n",
        escaped(&report.experiment),
        escaped(&report.title),
        escaped(&verdict(report))
    )
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

fn first_look(report: &Report) -> String {
    let seconds = report.first_look_ms / 1e3;
    let said = match report.first_look.len() {
        0 => format!(
            "Both ends of each cable and what passes each path were looked at in {seconds:.1} s: nothing is wrong."
        ),
        count => format!(
            "Both ends of each cable and what passes each path were looked at in {seconds:.1} s: {} wrong.",
            things(count)
        ),
    };
    let findings: String = report.first_look.iter().map(|finding| self::finding("", finding)).collect();
    section("look", "A first look", &(paragraph(&said) + &findings))
}

fn section(id: &str, title: &str, body: &str) -> String {
    format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n{body}</section>\n")
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escaped(text))
}

/// Where, what, and what to do on each system.
fn finding(number: &str, finding: &Finding) -> String {
    let place = escaped(&finding.place);
    format!("<h3>{number}{place}</h3>\n{}{}", paragraph(&finding.wrong), cures(&finding.cures))
}

fn cures(cures: &[Cure]) -> String {
    let row = |cure: &Cure| {
        format!("<tr><td>{}</td><td><code>{}</code></td></tr>\n", escaped(cure.system), escaped(&cure.line))
    };
    let rows: String = cures.iter().map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<div class=\"scroll\"><table class=\"plain\">\n<thead><tr><th scope=\"col\">on</th><th scope=\"col\">cure</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn network(report: &Report) -> String {
    let mut body: String = (1..).zip(&report.rounds).map(|(number, round)| self::round(number, round)).collect();
    let at_end = match report.network {
        Some(found) if found.of_limit >= ENOUGH => "The network is right.".to_owned(),
        Some(_) => format!("The network is not right: it has to reach {ENOUGH} of its limit."),
        None => "The network could not be measured.".to_owned(),
    };
    body += &format!("<h3>At the end</h3>\n{}", paragraph(&at_end));
    body += &rows(&[("the network alone", report.network.as_ref(), None)]);
    let looked = report
        .looked
        .iter()
        .map(|(title, looked)| format!("<dt>{}</dt><dd>{}.</dd>\n", escaped(title), escaped(looked)));
    body += &format!("<h3>What was looked at</h3>\n<dl class=\"glossary\">\n{}</dl>\n", looked.collect::<String>());
    body + &report.advice.iter().map(|finding| self::finding("Advice: ", finding)).collect::<String>()
}

fn round(number: usize, round: &Round) -> String {
    let title = format!("{number}. {}: ", round.finding.trap);
    let after = round.error.as_deref();
    finding(&title, &round.finding)
        + &rows(&[("before", round.before.as_ref(), None), ("after", round.after.as_ref(), after)])
}

/// A row a run.
fn table(all: &[Measured]) -> String {
    let mut body = String::new();
    for measured in all {
        let name = escaped(&measured.run);
        body += &row(&name, measured.figures.as_ref(), measured.error.as_deref());
        let words =
            [measured.description.clone(), measured.published.as_ref().map(|said| format!("published: {said}"))];
        let words: Vec<String> = words.into_iter().flatten().map(|words| escaped(&words)).collect();
        if !words.is_empty() {
            body += &format!("<tr><td colspan=\"{COLUMNS}\" class=\"quiet\">{}</td></tr>\n", words.join("; "));
        }
    }
    framed(&body)
}

/// Rows of these names.
fn rows(all: &[(&str, Option<&Figures>, Option<&str>)]) -> String {
    framed(&all.iter().map(|(name, figures, error)| row(name, *figures, *error)).collect::<String>())
}

const COLUMNS: usize = 6;

fn framed(rows: &str) -> String {
    format!(
        "<div class=\"scroll\"><table class=\"plain\">\n<thead><tr><th scope=\"col\"></th><th scope=\"col\">of the limit\u{a0} <span class=\"key-tick\"></span>{ENOUGH}: right</th>\
         <th scope=\"col\" class=\"num\">MB/s</th><th scope=\"col\" class=\"num\">MiB/s</th><th scope=\"col\" class=\"num\">IO/s</th>\
         <th scope=\"col\" class=\"num\">ms</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

/// `name` is HTML.
fn row(name: &str, figures: Option<&Figures>, error: Option<&str>) -> String {
    let Some(found) = figures else {
        let why = error.map_or_else(|| "not measured".to_owned(), |error| format!("did not end: {error}"));
        return format!("<tr><td>{name}</td><td colspan=\"{}\">{}</td></tr>\n", COLUMNS - 1, escaped(&why));
    };
    let latency = found.latency_ms.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.2}"));
    let cells = [
        format!("{:.1}", found.delivered_bps / 8e6),
        format!("{:.1}", found.delivered_bps / 8.0 / f64::from(1 << 20)),
        format!("{:.0}", found.ios_per_s),
        latency,
    ];
    let cells: String = cells.iter().map(|cell| format!("<td class=\"num\">{cell}</td>")).collect();
    format!("<tr><td>{name}</td><td>{}</td>{cells}</tr>\n", meter(found.of_limit))
}

/// A part of the limit, with a tick where the network is right.
fn meter(part: f64) -> String {
    let width = part.clamp(0.0, 1.0) * 100.0;
    let tick = ENOUGH * 100.0;
    format!(
        "<span class=\"meter\"><strong>{part:.2}</strong><svg viewBox=\"0 0 100 14\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{part:.2} of the limit\"><rect class=\"track\" width=\"100\" height=\"14\"/>\
         <rect class=\"value\" width=\"{width:.1}\" height=\"14\"/><path class=\"tick\" d=\"M{tick:.0} 0v14\"/></svg></span>"
    )
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
