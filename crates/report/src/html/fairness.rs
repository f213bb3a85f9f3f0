//! How the connections shared, and the connections themselves.

use maud::{Markup, html};
use nicteam_record::{Connection, Datagrams, Run};
use nicteam_statistics::jain_index;

use super::document::{Column, NUMBER, WORDS, plain_table};
use crate::svg::px;
use crate::units::{percent, plural, rate, ratio, share, thousands};

/// A bar a connection, and the table behind it.
pub(super) fn section(run: &Run) -> Markup {
    if run.connections.is_empty() {
        return Markup::default();
    }
    let rates: Vec<f64> = run.connections.iter().map(|connection| connection.delivered_bps).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    html! {
        h3 {
            (plural(run.connections.len(), "connection"))
            @if let Some(index) = jain_index(&rates).filter(|_| rates.len() > 1) { ", Jain’s index " (ratio(index)) }
        }
        ul.fair { @for connection in &run.connections { (bar(connection, most)) } }
        details {
            summary { "Every connection" }
            (plain_table(&CONNECTIONS, &html! { @for connection in &run.connections { (row(connection)) } }))
        }
        (datagrams(&run.connections))
    }
}

const DATAGRAMS: [Column<'_>; 7] = [
    ("no.", WORDS),
    ("way", WORDS),
    ("sent", NUMBER),
    ("lost", NUMBER),
    ("out of order", NUMBER),
    ("twice", NUMBER),
    ("longest silence", NUMBER),
];

/// What became of datagrams, where there are any.
fn datagrams(connections: &[Connection]) -> Markup {
    let with = connections.iter().filter_map(|connection| Some((connection, connection.datagrams.as_ref()?)));
    let with: Vec<(&Connection, &Datagrams)> = with.collect();
    let part =
        |count: u64, of: &Datagrams| format!("{} ({})", thousands(count), percent(share(count as f64, of.sent as f64)));
    let rows = html! {
        @for (connection, of) in &with {
            tr {
                td { (connection.index) }
                td { (connection.from) " → " (connection.to) }
                td.num { (thousands(of.sent)) }
                @for count in [of.lost, of.reordered, of.duplicated] { td.num { (part(count, of)) } }
                td.num { (format!("{:.1} ms", of.longest_silence_us as f64 / 1e3)) }
            }
        }
    };
    html! { @if !with.is_empty() { h3 { "Datagrams" } (plain_table(&DATAGRAMS, &rows)) } }
}

fn bar(connection: &Connection, most: f64) -> Markup {
    let width = share(connection.delivered_bps, most).clamp(0.0, 1.0) * 100.0;
    html! {
        li {
            span.who { (connection.index) " " (connection.from) " → " (connection.to) }
            span.bar { i style={ "width:" (px(width)) "%" } {} }
            span.num { (rate(connection.delivered_bps)) }
        }
    }
}

const CONNECTIONS: [Column<'_>; 9] = [
    ("no.", WORDS),
    ("workload", WORDS),
    ("from", WORDS),
    ("to", WORDS),
    ("delivered", NUMBER),
    ("segments", NUMBER),
    ("sent again", NUMBER),
    ("round trip", NUMBER),
    ("congestion control", WORDS),
];

fn row(connection: &Connection) -> Markup {
    let again = share(connection.retransmits as f64, connection.segments as f64);
    // The kernel tells nothing of the kind about datagrams.
    let of_tcp = match connection.datagrams {
        Some(_) => ["–", "–", "–"].map(str::to_owned),
        None => [
            thousands(connection.segments),
            format!("{} ({})", thousands(connection.retransmits), percent(again)),
            round_trip(connection.rtt_us),
        ],
    };
    let how = match connection.subflows {
        Some(subflows) => format!("{}, {}", connection.congestion, plural(subflows as usize, "subflow")),
        None if connection.congestion.is_empty() => connection.transport.clone(),
        None => connection.congestion.clone(),
    };
    html! {
        tr {
            td { (connection.index) }
            td { (connection.workload) }
            td { (connection.from) " " code { (connection.src) } }
            td { (connection.to) " " code { (connection.dst) } }
            td.num { (rate(connection.delivered_bps)) }
            @for figure in &of_tcp { td.num { (figure) } }
            td { (how) }
        }
    }
}

/// Milliseconds with two decimals.
fn round_trip(us: f64) -> String {
    if us.is_finite() { format!("{:.2} ms", us / 1000.0) } else { "–".to_owned() }
}
