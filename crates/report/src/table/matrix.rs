//! The runs that form a grid, above the table of all runs.

use nicteam_findings::units::{plural, ratio};
use nicteam_record::Run;

use super::cells::verdict;
use crate::matrix::{Matrix, MatrixRow};
use crate::terminal::{BOLD, DIM, Style, cut, put, shown, wrap};

/// Part of the limit by row and column; with several engines a number each.
pub(super) fn grid(matrix: &Matrix<'_>, style: &Style, out: &mut String) {
    let title = |row: &MatrixRow<'_>| match row.mode {
        "" => shown(row.name, style),
        mode => shown(&format!("{} ({mode})", row.name), style),
    };
    let names: Vec<String> = matrix.rows.iter().map(title).collect();
    let name = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(8, 40);
    let heads: Vec<String> = matrix.columns.iter().map(|column| shown(column, style)).collect();
    let engines = matrix.rows.iter().flat_map(|row| &row.cells).map(Vec::len).max().unwrap_or(1);
    let width = |head: &String| head.chars().count().max(CELL * engines - 1);
    let widths: Vec<usize> = heads.iter().map(width).collect();
    if name + widths.iter().map(|width| width + 2).sum::<usize>() > style.width {
        return;
    }
    let head = heads.iter().zip(&widths).map(|(head, width)| format!("  {head:>width$}")).collect::<String>();
    put(out, &style.paint(BOLD, &format!("{:name$}{head}", "of limit")));
    for (row, title) in matrix.rows.iter().zip(&names) {
        let cells: String =
            row.cells.iter().zip(&widths).map(|(cell, width)| self::cell(cell, *width, style)).collect();
        put(out, &format!("{:name$}{cells}", cut(title, name, style)));
    }
    wrap(&shown(&legend(matrix), style), style.width).iter().for_each(|line| put(out, &style.paint(DIM, line)));
    put(out, "");
}

/// `0.50 ` of an engine.
const CELL: usize = 5;

fn cell(runs: &[(usize, &Run)], width: usize, style: &Style) -> String {
    let numbers: Vec<String> = runs.iter().map(|(_, run)| ratio(run.of_limit)).collect();
    let plain = numbers.join(" ");
    let painted: Vec<String> =
        runs.iter().zip(&numbers).map(|((_, run), number)| style.paint(verdict(run.of_limit), number)).collect();
    format!("  {}{}", " ".repeat(width.saturating_sub(plain.chars().count())), painted.join(" "))
}

/// Who the numbers are of, and which runs are not here.
fn legend(matrix: &Matrix<'_>) -> String {
    let runs = matrix.rows.first().and_then(|row| row.cells.first()).map_or(&[][..], Vec::as_slice);
    let engines: Vec<&str> = runs.iter().filter_map(|(_, run)| Some(run.variant.as_ref()?.engine.as_str())).collect();
    let by = (engines.len() > 1).then(|| format!("each cell by {}", engines.join(", ")));
    let others = (!matrix.others.is_empty()).then(|| format!("{} beside it", plural(matrix.others.len(), "run")));
    by.into_iter().chain(others).collect::<Vec<_>>().join("; ")
}
