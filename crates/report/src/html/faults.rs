//! What each fault of a run did to the traffic.

use maud::{Markup, html};
use nicteam_findings::units::{plural, rate};
use nicteam_record::{Fault, Run};

use super::document::{Column, NUMBER, WORDS, plain_table};
use crate::faults::full_share;

/// The most faults that are listed; the record has all.
const MOST: usize = 200;

const COLUMNS: [Column<'_>; 9] = [
    ("when", NUMBER),
    ("fault", WORDS),
    ("lasted", NUMBER),
    ("before", NUMBER),
    ("during", NUMBER),
    ("after", NUMBER),
    ("full share", WORDS),
    ("longest silence", NUMBER),
    ("lost", NUMBER),
];

/// The table; nothing where nothing was done to the network.
pub(super) fn section(run: &Run) -> Markup {
    if run.faults.is_empty() {
        return Markup::default();
    }
    let bps = |bps: Option<f64>| bps.map_or_else(|| "-".to_owned(), rate);
    let rows = html! {
        @for fault in run.faults.iter().take(MOST) {
            tr {
                td.num { (seconds(fault.t_ms)) }
                td { (fault.text) }
                td.num { (lasted(fault)) }
                td.num { (bps(fault.before_bps)) }
                td.num { (bps(fault.during_bps)) }
                td.num { (bps(fault.after_bps)) }
                td { (fault.full_share_at_least_ms().map_or_else(|| "-".to_owned(), |_| full_share(fault))) }
                td.num { (fault.silence_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.0} ms"))) }
                td.num { (fault.lost.map_or_else(|| "-".to_owned(), |lost| lost.to_string())) }
            }
        }
    };
    let more = run.faults.len().saturating_sub(MOST);
    html! {
        h3 { "What the faults did" }
        (plain_table(&COLUMNS, &rows))
        p.quiet {
            "Payload that arrived, up to 2 s before and after; what was lost counts up to the next fault. The share is \
             full when at least 95 % of the payload of before arrives again."
            @if more > 0 { " " (plural(more, "fault")) " more are in the record." }
        }
    }
}

/// How long it lasted, in words.
fn lasted(fault: &Fault) -> String {
    fault.over_ms.map_or_else(|| "to the end".to_owned(), |over_ms| seconds(over_ms - fault.t_ms))
}

fn seconds(ms: f64) -> String {
    format!("{:.2} s", ms / 1e3)
}
