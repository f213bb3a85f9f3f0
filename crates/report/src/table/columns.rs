//! The table where runs differ by their engine: a column an engine.

use nicteam_findings::units;
use nicteam_record::Run;

use super::cells::{figure_lines, member_lines, of_limit, published, verdict};
use crate::columns::{Cell, Columns, Row};
use crate::terminal::{BOLD, DIM, Style, cut, put, shown};

/// Columns of a cell: what was delivered, and its part of the limit.
const CELL: usize = 12 + 2 + 4;
/// Columns beside the run's name and the engines' cells.
const FIXED: usize = 2 + 12 + 2;

/// The least that a run's name is given.
const SHORTEST_NAME: usize = 8;

/// Whether there is room for a column each; without, every run has a row of its own.
pub(super) fn fit(columns: &Columns<'_>, style: &Style) -> bool {
    SHORTEST_NAME + FIXED + columns.engines.len() * (CELL + 2) <= style.width
}

/// The table's head and rows, with a bar a member under each row.
pub(super) fn rows(columns: &Columns<'_>, style: &Style, out: &mut String) {
    let fixed = FIXED + columns.engines.len() * (CELL + 2);
    let longest = columns.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let name = longest.clamp(3, 28.min(style.width.saturating_sub(fixed)).max(SHORTEST_NAME));
    let engines: String = columns.engines.iter().map(|engine| format!("  {:>CELL$}", shown(engine, style))).collect();
    let head = format!("{:name$}  {:>12}{engines}  published, of its limit", "run", "limit");
    put(out, &style.paint(BOLD, &cut(&head, style.width, style)));
    for row in &columns.rows {
        put(out, &line(row, name, style));
        for (cell, engine) in row.cells.iter().zip(&columns.engines) {
            let Cell::Run(_, run) = cell else { continue };
            let (figures, members) = (figure_lines(run, style), member_lines(run, style));
            if !figures.is_empty() || !members.is_empty() {
                put(out, &style.paint(DIM, &format!("  {}", shown(engine, style))));
            }
            figures.iter().for_each(|line| put(out, line));
            members.iter().for_each(|line| put(out, &style.paint(DIM, line)));
        }
    }
}

fn line(row: &Row<'_>, name: usize, style: &Style) -> String {
    let cells: String = row.cells.iter().map(|cell| format!("  {}", self::cell(cell, style))).collect();
    let run = cut(&shown(row.name, style), name, style);
    let pad = name - run.chars().count().min(name);
    let any = row.runs().next().map(|(_, run)| run);
    let limit = any.map_or_else(|| "-".to_owned(), |run| units::rate(run.limit_bps));
    let used = name + FIXED + row.cells.len() * (CELL + 2);
    let published = any.map(published).unwrap_or_default();
    let published = cut(&shown(&published, style), style.width.saturating_sub(used), style);
    format!("{}{:pad$}  {limit:>12}{cells}  {published}", style.paint(BOLD, &run), "")
}

fn cell(cell: &Cell<'_>, style: &Style) -> String {
    match cell {
        Cell::Run(_, run) => of_run(run, style),
        Cell::Skipped => format!("{:>CELL$}", "skipped"),
        Cell::Missing => format!("{:>CELL$}", "-"),
    }
}

fn of_run(run: &Run, style: &Style) -> String {
    let of_limit = of_limit(run);
    format!("{:>12}  {}", units::rate(run.delivered_bps), style.paint(verdict(run.of_limit), &format!("{of_limit:>4}")))
}
