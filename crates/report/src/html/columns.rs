//! The headline table where runs differ by their engine alone: a column an engine.

use nicteam_record::Run;

use super::cells::{meter, published, teams};
use crate::columns::{Cell, Columns, Row};
use crate::explain;
use crate::svg::esc;
use crate::units::rate;

/// Every run of the file in a row, with what each engine delivered; sentences and bars below, an engine after the other.
pub(super) fn table(columns: &Columns<'_>) -> String {
    let engines: String =
        columns.engines.iter().map(|engine| format!("<th scope=\"col\" class=\"num\">{}</th>", esc(engine))).collect();
    let rows: String = columns.rows.iter().map(|row| self::row(row, &columns.engines)).collect();
    format!(
        "<table class=\"results\">\n<thead><tr><th scope=\"col\">run</th><th scope=\"col\" class=\"num\">limit</th>{engines}\
         <th scope=\"col\"><span class=\"key-tick\"></span>published, of its limit</th></tr></thead>\n{rows}</table>\n"
    )
}

fn row(row: &Row<'_>, engines: &[&str]) -> String {
    let any = row.runs().next().map(|(_, run)| run);
    let cells: String = row.cells.iter().zip(engines).map(|(cell, engine)| self::cell(cell, engine)).collect();
    let details: String =
        row.cells.iter().zip(engines).filter_map(|(cell, engine)| self::details(cell, engine)).collect();
    format!(
        "<tbody>\n<tr><th scope=\"row\">{name}</th><td class=\"num\" data-label=\"limit\">{limit}</td>{cells}\
         <td class=\"words\" data-label=\"published\">{published}</td></tr>\n\
         <tr><td colspan=\"{width}\">{details}</td></tr>\n</tbody>\n",
        name = esc(row.name),
        limit = any.map_or_else(|| "–".to_owned(), |run| rate(run.limit_bps)),
        published = any.map_or_else(|| "–".to_owned(), published),
        width = engines.len() + 3,
    )
}

fn cell(cell: &Cell<'_>, engine: &str) -> String {
    let inner = match cell {
        Cell::Run(index, run) => {
            format!("<a href=\"#run-{index}\">{}</a>{}", rate(run.delivered_bps), meter(run))
        }
        Cell::Skipped => "skipped".to_owned(),
        Cell::Missing => "–".to_owned(),
    };
    format!("<td class=\"num\" data-label=\"{}\">{inner}</td>", esc(engine))
}

/// What a run says of itself, and its bars.
fn details(cell: &Cell<'_>, engine: &str) -> Option<String> {
    let Cell::Run(_, run) = cell else { return None };
    let run: &Run = run;
    Some(format!("<p class=\"say\"><b>{}</b> {}</p>{}", esc(engine), esc(&explain(run).sentence), teams(run)))
}
