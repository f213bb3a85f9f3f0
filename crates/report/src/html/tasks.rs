//! Tasks that are no flow of bytes: operations, transfers, probes.

use nicteam_record::{Histogram, Operations, Probes, Run, Transfer};

use crate::figures::{content, mean_ms, milliseconds, operations_bps};
use crate::svg::esc;
use crate::units::{bytes, mebibytes, megabytes, percent, share, thousands};

/// A table a sort of task, where there are any.
pub(super) fn section(run: &Run) -> String {
    let operations = run.operations.iter().map(operations);
    let transfers = run.transfers.iter().map(transfer);
    let probes = run.probes.iter().map(probes);
    traffic_tests(run)
        + &table("Operations", OPERATIONS, operations)
        + &specifications(run)
        + &table("Transfers", TRANSFERS, transfers)
        + &table("Probes", &["sent", "lost", "longest silence", "median round trip", "longest"], probes)
        + &echoes(run)
}

/// The tables that SoftEther's client prints.
fn traffic_tests(run: &Run) -> String {
    let each = run.traffic_tests.iter().map(|test| {
        format!(
            "<h3>{} to {}, by {}, {} connections</h3>\n<div class=\"scroll\"><pre><code>{}</code></pre></div>\n",
            esc(&test.from),
            esc(&test.to),
            esc(&test.by),
            test.connections,
            esc(&test.table())
        )
    });
    each.collect()
}

/// What `ping` would have printed.
fn echoes(run: &Run) -> String {
    let each = run.probes.iter().filter_map(|task| Some((task, task.echo.as_ref()?)));
    each.map(|(task, echo)| format!("<pre><code>{}</code></pre>\n", esc(&echo.words(task.sent)))).collect()
}

const OPERATIONS: &[&str] =
    &["average ms", "a second", "MiB/s", "median", "99 % within", "99.9 % within", "longest", "answered", "failed"];
const TRANSFERS: &[&str] = &["MB/s", "MiB/s", "the program saw", "bytes", "blocks", "took", "longest stall", "content"];

/// A row: which task, between whom, and its cells.
type Row<'a> = (u32, &'a str, [&'a str; 2], Vec<String>);

fn table<'a>(title: &str, columns: &[&str], rows: impl Iterator<Item = Row<'a>>) -> String {
    let rows: String = rows
        .map(|(index, workload, [from, to], cells)| {
            let cells: String = cells.iter().map(|cell| format!("<td class=\"num\">{}</td>", esc(cell))).collect();
            format!("<tr><td>{index}</td><td>{}</td><td>{} → {}</td>{cells}</tr>\n", esc(workload), esc(from), esc(to))
        })
        .collect();
    if rows.is_empty() {
        return rows;
    }
    let columns: String = columns.iter().map(|name| format!("<th scope=\"col\" class=\"num\">{name}</th>")).collect();
    format!(
        "<h3>{title}</h3>\n<div class=\"scroll\"><table class=\"plain\">\n<thead><tr><th scope=\"col\">no.</th>\
         <th scope=\"col\">workload</th><th scope=\"col\">way</th>{columns}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
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
fn specifications(run: &Run) -> String {
    let said = run.operations.iter().filter(|task| !task.specification.is_empty());
    let said = said.map(|task| {
        let read = share(task.read_bytes as f64, task.read_bytes.saturating_add(task.written_bytes) as f64);
        let steady = match task.steady_from_ms {
            _ if task.unsteady => "; no steady state was found, so the whole window counts".to_owned(),
            Some(ms) if ms > 0.0 => format!("; steady from {:.1} s on", ms / 1e3),
            _ => String::new(),
        };
        format!(
            "<p class=\"quiet\">{}: {}. {} of the bytes were read{steady}.</p>\n",
            esc(&task.workload),
            esc(&task.specification),
            percent(read)
        )
    });
    said.collect()
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
