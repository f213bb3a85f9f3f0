//! Tasks that are no flow of bytes: operations, transfers, probes.

use nicteam_record::{Histogram, Operations, Probes, Run, Transfer};

use crate::svg::esc;
use crate::units::{percent, share, thousands};

/// A table a sort of task, where there are any.
pub(super) fn section(run: &Run) -> String {
    let operations = run.operations.iter().map(operations);
    let transfers = run.transfers.iter().map(transfer);
    let probes = run.probes.iter().map(probes);
    table("Operations", &["answered", "a second", "failed", "median", "99 % within", "longest"], operations)
        + &table("Transfers", &["bytes", "took", "content"], transfers)
        + &table("Probes", &["sent", "lost", "longest silence", "median round trip", "longest"], probes)
}

/// A row: which task, between whom, and its cells.
type Row<'a> = (u32, &'a str, [&'a str; 2], Vec<String>);

fn table<'a>(title: &str, columns: &[&str], rows: impl Iterator<Item = Row<'a>>) -> String {
    let rows: String = rows
        .map(|(index, workload, [from, to], cells)| {
            let cells: String = cells.iter().map(|cell| format!("<td class=\"num\">{cell}</td>")).collect();
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
        thousands(task.completed),
        format!("{:.1}", task.rate_per_s),
        thousands(task.errors),
        quantile(&task.latency, 0.5),
        quantile(&task.latency, 0.99),
        longest(&task.latency),
    ];
    (task.index, &task.workload, [&task.from, &task.to], cells)
}

fn transfer(task: &Transfer) -> Row<'_> {
    let content = match task.is_intact() {
        Some(true) => "as sent",
        Some(false) => "changed on the way",
        None => "not compared",
    };
    let took = task.took_ms.map_or_else(|| "did not end".to_owned(), |ms| format!("{:.2} s", ms / 1000.0));
    (task.index, &task.workload, [&task.from, &task.to], vec![thousands(task.bytes), took, content.to_owned()])
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

fn quantile(times: &Histogram, part: f64) -> String {
    times.quantile_us(part).map_or_else(|| "–".to_owned(), milliseconds)
}

fn longest(times: &Histogram) -> String {
    if times.count > 0 { milliseconds(times.max_us) } else { "–".to_owned() }
}

/// Milliseconds with two decimals.
fn milliseconds(us: u64) -> String {
    format!("{:.2} ms", us as f64 / 1000.0)
}
