//! Tasks that are no flow of bytes: operations, transfers, probes.

use maud::{Markup, html};
use nicteam_findings::units::{bytes, mebibytes, megabytes, percent, share, thousands};
use nicteam_record::{Histogram, Operations, Probes, Run, Transfer};

use super::document::{Column, NUMBER, WORDS, plain_table};
use crate::figures::{content, mean_ms, milliseconds, operations_bps};

/// A table a sort of task, where there are any.
pub(super) fn section(run: &Run) -> Markup {
    html! {
        (traffic_tests(run))
        (table("Operations", OPERATIONS, run.operations.iter().map(operations)))
        (specifications(run))
        (table("Transfers", TRANSFERS, run.transfers.iter().map(transfer)))
        (table("Probes", PROBES, run.probes.iter().map(probes)))
        (echoes(run))
    }
}

/// The tables that SoftEther's client prints.
fn traffic_tests(run: &Run) -> Markup {
    html! {
        @for test in &run.traffic_tests {
            h3 { (test.from) " to " (test.to) ", by " (test.by) ", " (test.connections) " connections" }
            div.scroll { pre { code { (test.table()) } } }
        }
    }
}

/// What `ping` would have printed.
fn echoes(run: &Run) -> Markup {
    html! {
        @for task in &run.probes {
            @if let Some(echo) = &task.echo { pre { code { (echo.words(task.sent)) } } }
        }
    }
}

const OPERATIONS: &[&str] =
    &["average ms", "a second", "MiB/s", "median", "99 % within", "99.9 % within", "longest", "answered", "failed"];
const TRANSFERS: &[&str] = &["MB/s", "MiB/s", "the program saw", "bytes", "blocks", "took", "longest stall", "content"];
const PROBES: &[&str] = &["sent", "lost", "longest silence", "median round trip", "longest"];

/// A row: which task, between whom, and its cells.
type Row<'a> = (u32, &'a str, [&'a str; 2], Vec<String>);

fn table<'a>(title: &str, columns: &[&str], rows: impl Iterator<Item = Row<'a>>) -> Markup {
    let rows: Vec<Row<'_>> = rows.collect();
    let named = [("no.", WORDS), ("workload", WORDS), ("way", WORDS)];
    let columns: Vec<Column<'_>> = named.into_iter().chain(columns.iter().map(|name| (*name, NUMBER))).collect();
    let body = html! {
        @for (index, workload, [from, to], cells) in &rows {
            tr {
                td { (index) }
                td { (workload) }
                td { (from) " → " (to) }
                @for cell in cells { td.num { (cell) } }
            }
        }
    };
    html! { @if !rows.is_empty() { h3 { (title) } (plain_table(&columns, &body)) } }
}

fn operations(task: &Operations) -> Row<'_> {
    let cells = vec![
        mean_ms(&task.latency),
        format!("{:.1}", task.rate_per_s),
        operations_bps(task).map_or_else(|| NONE.to_owned(), |bps| without_unit(&mebibytes(bps))),
        quantile(&task.latency, 0.5),
        quantile(&task.latency, 0.99),
        quantile(&task.latency, 0.999),
        longest(&task.latency),
        thousands(task.completed),
        thousands(task.errors),
    ];
    (task.index, &task.workload, [&task.from, &task.to], cells)
}

/// What the operations were, and from when on they count.
fn specifications(run: &Run) -> Markup {
    let read = |task: &Operations| {
        percent(share(task.read_bytes as f64, task.read_bytes.saturating_add(task.written_bytes) as f64))
    };
    let steady = |task: &Operations| match task.steady_from_ms {
        _ if task.unsteady => "; no steady state was found, so the whole window counts".to_owned(),
        Some(ms) if ms > 0.0 => format!("; steady from {:.1} s on", ms / 1e3),
        _ => String::new(),
    };
    html! {
        @for task in run.operations.iter().filter(|task| !task.specification.is_empty()) {
            p.quiet {
                (task.workload) ": " (task.specification) ". " (read(task)) " of the bytes were read" (steady(task)) "."
            }
        }
    }
}

fn transfer(task: &Transfer) -> Row<'_> {
    let wire = |of: fn(f64) -> String| task.wire_bps().map_or_else(|| NONE.to_owned(), |bps| without_unit(&of(bps)));
    let program = task.program_bps().map_or_else(|| NONE.to_owned(), megabytes);
    let cells = vec![
        wire(megabytes),
        wire(mebibytes),
        if task.cache.is_empty() { program } else { format!("{program} ({})", task.cache) },
        thousands(task.bytes),
        task.block_bytes.map_or_else(|| NONE.to_owned(), bytes),
        task.took_ms.map_or_else(|| "did not end".to_owned(), |ms| format!("{:.2} s", ms / 1000.0)),
        task.stall.map_or_else(|| NONE.to_owned(), |stall| format!("{:.0} ms", stall.took_ms)),
        content(task),
    ];
    (task.index, &task.workload, [&task.from, &task.to], cells)
}

fn probes(task: &Probes) -> Row<'_> {
    let cells = vec![
        thousands(task.sent),
        format!("{} ({})", thousands(task.lost), percent(share(task.lost as f64, task.sent as f64))),
        format!("{:.1} ms", task.longest_silence_ms),
        quantile(&task.round_trip, 0.5),
        longest(&task.round_trip),
    ];
    (task.index, &task.workload, [&task.from, &task.to], cells)
}

/// Where there is no figure.
const NONE: &str = "–";

/// A figure whose unit stands in the column's head.
fn without_unit(figure: &str) -> String {
    figure.split(' ').next().unwrap_or(NONE).to_owned()
}

fn quantile(times: &Histogram, part: f64) -> String {
    times.quantile_us(part).map_or_else(|| NONE.to_owned(), |us| milliseconds(us) + " ms")
}

fn longest(times: &Histogram) -> String {
    if times.count > 0 { milliseconds(times.max_us) + " ms" } else { NONE.to_owned() }
}
