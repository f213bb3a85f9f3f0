//! The runs that form a grid, as the published test's table has them.

use maud::{Markup, html};
use nicteam_findings::units::ratio;
use nicteam_record::Run;

use crate::matrix::Matrix;

/// Part of the limit by row and column, the published one below it.
pub(super) fn table(matrix: &Matrix<'_>) -> Markup {
    let runs = matrix.rows.iter().flat_map(|row| &row.cells).flatten();
    let has_published = runs.clone().any(|(_, run)| run.published_of_limit.is_some());
    let has_engines = runs.clone().any(|(_, run)| run.variant.is_some());
    html! {
        div.scroll {
            table.matrix {
                thead {
                    tr { th scope="col" {} @for column in &matrix.columns { th scope="col" class="num" { (column) } } }
                }
                tbody {
                    @for row in &matrix.rows {
                        tr {
                            th scope="row" { (row.name) @if !row.mode.is_empty() { span { (row.mode) } } }
                            @for cell in &row.cells { (self::cell(cell)) }
                        }
                    }
                }
            }
        }
        p.quiet {
            "Each cell: part of the limit"
            @if has_engines { ", by each engine" }
            @if has_published { "; below it the published one" }
            "."
            @if !matrix.others.is_empty() { " Runs that are not in this table: " (matrix.others.join(", ")) "." }
        }
    }
}

fn cell(runs: &[(usize, &Run)]) -> Markup {
    let published = runs.iter().find_map(|(_, run)| run.published_of_limit);
    html! {
        td.num {
            @for (place, run) in runs {
                div {
                    @if let Some(variant) = &run.variant { span { (variant.engine) " " } }
                    a href={ "#run-" (place) } class=(colour(run.of_limit)) { (ratio(run.of_limit)) }
                }
            }
            @if let Some(published) = published { div.quiet { (ratio(published)) } }
        }
    }
}

/// The class of a cell: its utilisation.
fn colour(of_limit: f64) -> &'static str {
    match of_limit {
        _ if of_limit >= 0.93 => "most",
        _ if of_limit >= 0.6 => "some",
        _ => "little",
    }
}
