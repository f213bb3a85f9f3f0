//! The headline table.

use maud::{Markup, html};
use nicteam_findings::explain;
use nicteam_findings::units::rate;
use nicteam_findings::view::lowered_rate;
use nicteam_record::{Record, Run};

use super::cells::{meter, published, teams};
use super::document;
use crate::columns::{columns, skipped};
use crate::matrix::matrix;
use crate::repeated::repeated;

/// The headline table: the grid that runs form, or a row a run; where runs differ by their engine alone, a column an engine.
///
/// `whole` has the runs as often as they were carried out.
pub(super) fn section(record: &Record, whole: &Record) -> Markup {
    let body = html! {
        @if let Some(matrix) = matrix(record) {
            (super::matrix::table(&matrix))
            details { summary { "Every run, with its sentence and its members" } (list(record, whole)) }
        } @else {
            (list(record, whole))
        }
        @for line in skipped(record).chain(lowered_rate(record)) { p { (line) } }
    };
    document::section("results", "What was delivered", &body)
}

/// All runs one below the other.
fn list(record: &Record, whole: &Record) -> Markup {
    html! {
        @if let Some(columns) = columns(record) { (super::columns::table(&columns)) } @else { (table(record)) }
        p.quiet {
            "Small bars: a bar a member, sent (tx) and received (rx), as high as its link was full; of like hosts the mean. "
            "A colour is the same member everywhere on this page."
        }
        @for group in repeated(whole) {
            @if let Some(words) = group.words() { p.quiet { (group.name) ": " (words) "." } }
        }
    }
}

/// Every run in a row, its sentence and its members' bars below.
fn table(record: &Record) -> Markup {
    html! {
        table.results {
            thead {
                tr {
                    th scope="col" { "run" }
                    th scope="col" class="num" { "delivered" }
                    th scope="col" class="num" { "limit" }
                    th scope="col" { "of the limit" }
                    th scope="col" { span.key-tick {} "published, of its limit" }
                }
            }
            @for (index, run) in record.runs.iter().enumerate() { (rows(index, run)) }
        }
    }
}

fn rows(index: usize, run: &Run) -> Markup {
    html! {
        tbody {
            tr {
                th scope="row" { a href={ "#run-" (index) } { (run.name) } }
                td.num data-label="delivered" { (rate(run.delivered_bps)) }
                td.num data-label="limit" { (rate(run.limit_bps)) }
                td { (meter(run)) }
                td.words data-label="published" { (published(run)) }
            }
            tr {
                td colspan="5" { p.say { (explain(run).sentence) } (super::run::figures(run)) (teams(run)) }
            }
        }
    }
}
