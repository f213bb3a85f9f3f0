//! How the connections shared, and the connections themselves.

use maud::{Markup, html};
use nicteam_findings::units::{percent, plural, rate, ratio, share, thousands};
use nicteam_record::{Connection, Datagrams, Run};
use nicteam_statistics::jain_index;

use super::document::{Column, NUMBER, WORDS, plain_table};
use crate::like::{Group, groups};
use crate::svg::px;

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
        @if run.connections.len() <= FEW {
            ul.fair { @for connection in &run.connections { (bar(&named(connection), connection.delivered_bps, most)) } }
        } @else {
            (between_groups(run, most))
        }
        details {
            summary { "Every connection" }
            (plain_table(&CONNECTIONS, &html! { @for connection in run.connections.iter().take(MOST) { (row(connection)) } }))
            @if run.connections.len() > MOST {
                p.quiet { (plural(run.connections.len() - MOST, "connection")) " more are in the record." }
            }
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

/// Up to so many connections have a bar each.
const FEW: usize = 64;
/// The most connections that are listed; the record has all.
const MOST: usize = 256;

fn named(connection: &Connection) -> String {
    format!("{} {} → {}", connection.index, connection.from, connection.to)
}

fn bar(who: &str, bps: f64, most: f64) -> Markup {
    let width = share(bps, most).clamp(0.0, 1.0) * 100.0;
    html! {
        li {
            span.who { (who) }
            span.bar { i style={ "width:" (px(width)) "%" } {} }
            span.num { (rate(bps)) }
        }
    }
}

/// Connections between like hosts together: the slowest, the median and the fastest of each.
fn between_groups(run: &Run, most: f64) -> Markup {
    let connections: Vec<&Connection> = run.connections.iter().collect();
    let groups = groups(&run.topology, &connections);
    let of = |host: &str| {
        let group = groups.iter().find(|group| group.has(run.topology.links_of(host)));
        group.map_or_else(|| host.to_owned(), Group::name)
    };
    let mut between: Vec<(String, Vec<f64>)> = Vec::new();
    for connection in &run.connections {
        let way = format!("{} → {}", of(&connection.from), of(&connection.to));
        match between.iter_mut().find(|(known, _)| *known == way) {
            Some((_, rates)) => rates.push(connection.delivered_bps),
            None => between.push((way, vec![connection.delivered_bps])),
        }
    }
    between.iter_mut().for_each(|(_, rates)| rates.sort_by(f64::total_cmp));
    html! {
        @for (way, rates) in between.iter().take(FEW) {
            p.quiet { (way) ": " (plural(rates.len(), "connection")) }
            ul.fair {
                @for (who, place) in [("slowest", 0), ("median", rates.len() / 2), ("fastest", rates.len() - 1)] {
                    (bar(who, rates[place], most))
                }
            }
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
