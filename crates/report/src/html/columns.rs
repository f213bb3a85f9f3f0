//! The headline table where runs differ by their engine alone: a column an engine.

use super::cells::{meter, published, teams};
use crate::columns::{Cell, Columns, Row};
use crate::told::{Told, told};
use maud::{Markup, html};
use nicteam_findings::units::rate;

/// Every run of the file in a row, with what each engine delivered; sentences and bars below, an engine after the other.
pub(super) fn table(columns: &Columns<'_>) -> Markup {
    html! {
        table.results {
            thead {
                tr {
                    th scope="col" { "run" }
                    th scope="col" class="num" { "limit" }
                    @for engine in &columns.engines { th scope="col" class="num" { (engine) } }
                    th scope="col" { span.key-tick {} "published, of its limit" }
                }
            }
            @for row in &columns.rows { (self::row(row, &columns.engines)) }
        }
    }
}

fn row(row: &Row<'_>, engines: &[&str]) -> Markup {
    let any = row.runs().next().map(|(_, run)| run);
    html! {
        tbody {
            tr {
                th scope="row" { (row.name) }
                td.num data-label="limit" { (any.map_or_else(|| "–".to_owned(), |run| rate(run.limit_bps))) }
                @for (cell, engine) in row.cells.iter().zip(engines) {
                    td.num data-label=(engine) { (self::cell(cell)) }
                }
                td.words data-label="published" { @if let Some(run) = any { (published(run)) } @else { "–" } }
            }
            tr {
                td colspan=(engines.len() + 3) {
                    @for told in &told(row.runs().map(|(_, run)| run)) { (details(told)) }
                }
            }
        }
    }
}

fn cell(cell: &Cell<'_>) -> Markup {
    html! {
        @match cell {
            Cell::Run(index, run) => { a href={ "#run-" (index) } { (rate(run.delivered_bps)) } (meter(run)) }
            Cell::Skipped => { "skipped" }
            Cell::Missing => { "–" }
        }
    }
}

/// The explanation of a run by one engine, or by several if it is the same, and the bars of each.
fn details(told: &Told<'_>) -> Markup {
    html! {
        p.say { b { (told.engines()) } " " (told.sentence) }
        @for run in &told.runs {
            @if let (true, Some(variant)) = (told.runs.len() > 1, &run.variant) { p.quiet { (variant.engine) } }
            (teams(run))
        }
    }
}
