//! The terminal's table.

mod columns;

use std::collections::BTreeMap;
use std::fmt::Write;

use nicteam_record::{Record, Run};

use crate::bars::bars;
use crate::columns::{columns, skipped};
use crate::explain;
use crate::figures;
use crate::repeated::{condensed, repeated};
use crate::units;
use crate::view::{MemberView, assumed_models, busy_host_teams, lowered_rate};

/// How a terminal wants its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colour by ANSI escapes.
    pub color: bool,
    /// ASCII alone, for terminals that do not speak UTF-8.
    pub ascii: bool,
    /// Columns to stay within, 60 or more.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { color: false, ascii: false, width: 100 }
    }
}

/// The table of a record's runs: what was delivered beside the limit and the
/// published figure, a bar a member under each run, and one sentence a run
/// under the table.
pub fn table(record: &Record, style: &Style) -> String {
    let style = Style { width: style.width.max(60), ..*style };
    let mut out = String::new();
    let times: BTreeMap<&str, String> =
        repeated(record).iter().filter_map(|group| Some((group.name, group.words()?))).collect();
    let record = &condensed(record);
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
    for run in &record.runs {
        put(&mut out, "");
        put(&mut out, &style.paint(BOLD, &shown(&run.name, &style)));
        let times = times.get(run.name.as_str()).map_or("", String::as_str);
        for line in wrap(&shown(times, &style), style.width - 2).iter().filter(|line| !line.is_empty()) {
            put(&mut out, &format!("  {line}"));
        }
        for line in wrap(&shown(&explain(run).sentence, &style), style.width - 2) {
            put(&mut out, &format!("  {line}"));
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

const BOLD: &str = "1";
const DIM: &str = "2";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const RED: &str = "31";

impl Style {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
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

/// Part of the limit as a number of two decimals.
fn of_limit(run: &Run) -> String {
    if run.limit_bps > 0.0 { units::ratio(run.of_limit) } else { "-".to_owned() }
}

/// The published figure's part of its limit, and its words.
fn published(run: &Run) -> String {
    let part = run.published_of_limit.map_or_else(|| "-".to_owned(), units::ratio);
    format!("{part:>4}  {}", run.published.as_deref().unwrap_or_default()).trim_end().to_owned()
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

/// Colour of a part of the limit.
fn verdict(of_limit: f64) -> &'static str {
    match of_limit {
        _ if of_limit >= 0.93 => GREEN,
        _ if of_limit >= 0.6 => YELLOW,
        _ => RED,
    }
}

/// Figures of tasks that are no flow of bytes, as wide as there is room for.
fn figure_lines(run: &Run, style: &Style) -> Vec<String> {
    let lines = figures::lines(run).into_iter().flat_map(|line| wrap(&shown(&line, style), style.width - 2));
    lines.map(|line| format!("  {line}")).collect()
}

/// A cell a host, sent above received, as many beside each other as fit.
fn member_lines(run: &Run, style: &Style) -> Vec<String> {
    let teams = busy_host_teams(run);
    let cells: Vec<[String; 2]> = teams
        .iter()
        .map(|team| {
            let name = shown(team.team.node, style);
            let cell = |load: fn(&MemberView<'_>) -> f64| {
                format!("{name} {}", bars(team.members.iter().map(load), style.ascii))
            };
            [cell(|member| member.tx_load()), cell(|member| member.rx_load())]
        })
        .collect();
    let cell = cells.iter().flatten().map(|cell| cell.chars().count()).max().unwrap_or(0).max(1);
    let per_line = ((style.width - 6) / (cell + 3)).max(1);
    let rows = cells.chunks(per_line).flat_map(|chunk| {
        ["tx", "rx"].iter().enumerate().map(move |(way, label)| {
            let cells: Vec<String> = chunk.iter().map(|pair| format!("{:cell$}", pair[way])).collect();
            format!("  {label}  {}", cells.join("   "))
        })
    });
    rows.map(|row| row.trim_end().to_owned()).collect()
}

/// Text from a file as a terminal may see it: no control characters; in ASCII
/// mode nothing else, either.
pub(crate) fn shown(text: &str, style: &Style) -> String {
    text.chars().map(|c| if c.is_control() || (style.ascii && !c.is_ascii()) { '?' } else { c }).collect()
}

/// At most so many characters.
pub(crate) fn cut(text: &str, width: usize, style: &Style) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let more = if style.ascii { "~" } else { "…" };
    text.chars().take(width.saturating_sub(1)).chain(more.chars()).collect()
}

/// Breaks a text into lines of at most so many characters, at blanks; a longer word stays whole.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one from the start");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            let blank = if line.is_empty() { "" } else { " " };
            let _ = write!(line, "{blank}{word}");
        }
    }
    lines
}

/// Adds a line, without blanks at its end.
pub(crate) fn put(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_long_words_stay_whole() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("a bbbbbbbb c", 4), ["a", "bbbbbbbb", "c"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert_eq!(shown("a\x1b[2Jb\n", &Style::default()), "a?[2Jb?");
        assert_eq!(shown("über", &Style { ascii: true, ..Style::default() }), "?ber");
        assert_eq!(cut("abcdef", 4, &Style::default()), "abc…");
        assert_eq!(cut("abcdef", 4, &Style { ascii: true, ..Style::default() }), "abc~");
    }
}
