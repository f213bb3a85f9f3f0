//! The terminal's table.

mod cells;
mod columns;
mod matrix;

use std::collections::BTreeMap;

use nicteam_findings::units;
use nicteam_findings::view::{assumed_models, busy_host_teams, lowered_rate};
use nicteam_record::{Record, Run};

use crate::columns::{columns, skipped};
use crate::reasons::reasons;
use crate::repeated::{condensed, repeated};
use crate::terminal::{BOLD, DIM, Style, cut, put, shown, wrap};
use crate::told::told;
use cells::{figure_lines, member_lines, of_limit, published, verdict};

/// The table of a record's runs: what was delivered beside the limit and the
/// published figure, a bar a member under each run, and one sentence a run
/// under the table.
pub fn table(record: &Record, style: &Style) -> String {
    let style = Style { width: style.width.max(60), ..*style };
    let mut out = String::new();
    let times: BTreeMap<&str, String> =
        repeated(record).iter().filter_map(|group| Some((group.name, group.words()?))).collect();
    let record = &condensed(record);
    if let Some(found) = crate::matrix::matrix(record) {
        matrix::grid(&found, &style, &mut out);
    }
    match columns(record).filter(|columns| columns::fit(columns, &style)) {
        Some(columns) => columns::rows(&columns, &style, &mut out),
        None => rows(record, &style, &mut out),
    }
    for line in skipped(record).flat_map(|line| wrap(&shown(&line, &style), style.width)) {
        put(&mut out, &line);
    }
    if record.runs.iter().any(|run| !busy_host_teams(run).is_empty()) {
        put(&mut out, "");
        wrap(legend(&style), style.width).iter().for_each(|line| put(&mut out, &style.paint(DIM, line)));
    }
    let notes = lowered_rate(record).into_iter().chain(assumed_models(record));
    for line in notes.flat_map(|line| wrap(&shown(&line, &style), style.width)) {
        put(&mut out, &line);
    }
    for told in told(&record.runs) {
        put(&mut out, "");
        put(&mut out, &style.paint(BOLD, &shown(&told.name(), &style)));
        let several = told.runs.len() > 1;
        for run in &told.runs {
            let Some(times) = times.get(run.name.as_str()) else { continue };
            let times = if several { format!("{}: {times}", run.name) } else { times.clone() };
            wrap(&shown(&times, &style), style.width - 2).iter().for_each(|line| put(&mut out, &format!("  {line}")));
        }
        for line in wrap(&shown(&told.sentence, &style), style.width - 2) {
            put(&mut out, &format!("  {line}"));
        }
        for (run, reason) in told.runs.iter().flat_map(|run| reasons(run).into_iter().map(move |reason| (run, reason)))
        {
            let reason = if several { format!("{}: {reason}", run.name) } else { reason };
            wrap(&shown(&reason, &style), style.width - 2).iter().for_each(|line| put(&mut out, &format!("  {line}")));
        }
    }
    // Of one run there is room for the whole of it.
    for test in record.runs.iter().filter(|_| record.runs.len() == 1).flat_map(|run| &run.traffic_tests) {
        put(&mut out, "");
        put(&mut out, &shown(&format!("{} to {}, by {}:", test.from, test.to, test.by), &style));
        test.table().lines().for_each(|line| put(&mut out, &cut(&shown(line, &style), style.width, &style)));
    }
    out
}

/// A row a run, with a bar a member under it.
fn rows(record: &Record, style: &Style, out: &mut String) {
    let rows: Vec<Row> = record.runs.iter().map(Row::new).collect();
    let name =
        rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).clamp(3, 28.min(style.width - FIXED - 8));
    put(out, &style.paint(BOLD, &cut(&head(name), style.width, style)));
    for (row, run) in rows.iter().zip(&record.runs) {
        put(out, &row.line(name, style));
        figure_lines(run, style).iter().for_each(|line| put(out, line));
        for line in member_lines(run, style) {
            put(out, &style.paint(DIM, &line));
        }
    }
}

/// One run's cells.
struct Row {
    name: String,
    /// What the name ends with where runs differ by it: `.ovs`.
    engine: String,
    delivered: String,
    limit: String,
    of_limit: String,
    published: String,
    value: f64,
}

impl Row {
    fn new(run: &Run) -> Row {
        Row {
            name: run.name.clone(),
            engine: run.variant.as_ref().map_or_else(String::new, |variant| format!(".{}", variant.engine)),
            delivered: units::rate(run.delivered_bps),
            limit: units::rate(run.limit_bps),
            of_limit: of_limit(run),
            published: published(run),
            value: run.of_limit,
        }
    }

    fn line(&self, name: usize, style: &Style) -> String {
        let of_limit = style.paint(verdict(self.value), &format!("{:>8}", self.of_limit));
        let fixed = name + FIXED;
        let published = cut(&shown(&self.published, style), style.width.saturating_sub(fixed), style);
        let run = self.cut_name(name, style);
        let pad = name - run.chars().count().min(name);
        format!(
            "{}{:pad$}  {:>12}  {:>12}  {of_limit}  {published}",
            style.paint(BOLD, &run),
            "",
            self.delivered,
            self.limit,
        )
    }

    /// The name in so many columns; its engine, by which it differs from the next one, stays.
    fn cut_name(&self, width: usize, style: &Style) -> String {
        let (name, engine) = (shown(&self.name, style), shown(&self.engine, style));
        let short = width.checked_sub(engine.chars().count()).filter(|left| *left > 1);
        match (name.strip_suffix(&engine), short) {
            (Some(stem), Some(left)) if name.chars().count() > width => cut(stem, left, style) + &engine,
            _ => cut(&name, width, style),
        }
    }
}

/// Columns of a row beside the run's name and the published figure.
const FIXED: usize = 2 + 12 + 2 + 12 + 2 + 8 + 2;

fn head(name: usize) -> String {
    format!("{:name$}  {:>12}  {:>12}  {:>8}  published, of its limit", "run", "delivered", "limit", "of limit")
}

fn legend(style: &Style) -> &'static str {
    if style.ascii {
        "tx, rx: a character a member; . idle, 1 to 9 tenths of its link's rate, # full"
    } else {
        "tx, rx: a bar a member, as high as its link was full; █ is a full link"
    }
}
