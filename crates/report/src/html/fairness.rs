//! How the connections shared, and the connections themselves.

use nicteam_record::{Connection, Datagrams, Run};

use crate::svg::{esc, px};
use crate::units::{percent, plural, rate, ratio, share, thousands};
use nicteam_statistics::jain_index;

/// A bar a connection, and the table behind it.
pub(super) fn section(run: &Run) -> String {
    if run.connections.is_empty() {
        return String::new();
    }
    let rates: Vec<f64> = run.connections.iter().map(|connection| connection.delivered_bps).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    let bars: String = run.connections.iter().map(|connection| bar(connection, most)).collect();
    let jain = match jain_index(&rates) {
        Some(index) if rates.len() > 1 => format!(", Jain’s index {}", ratio(index)),
        _ => String::new(),
    };
    format!(
        "<h3>{count}{jain}</h3>\n<ul class=\"fair\">\n{bars}</ul>\n{table}",
        count = plural(run.connections.len(), "connection"),
        table = table(&run.connections) + &datagrams(&run.connections),
    )
}

/// What became of datagrams, where there are any.
fn datagrams(connections: &[Connection]) -> String {
    let row = |(connection, datagrams): (&Connection, &Datagrams)| {
        let part =
            |count: u64| format!("{} ({})", thousands(count), percent(share(count as f64, datagrams.sent as f64)));
        format!(
            "<tr><td>{}</td><td>{} → {}</td><td class=\"num\">{}</td><td class=\"num\">{}</td>\
             <td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{:.1} ms</td></tr>\n",
            connection.index,
            esc(&connection.from),
            esc(&connection.to),
            thousands(datagrams.sent),
            part(datagrams.lost),
            part(datagrams.reordered),
            part(datagrams.duplicated),
            datagrams.longest_silence_us as f64 / 1e3,
        )
    };
    let with = connections.iter().filter_map(|connection| Some((connection, connection.datagrams.as_ref()?)));
    let rows: String = with.map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<h3>Datagrams</h3>\n<div class=\"scroll\"><table class=\"plain\">\n<thead><tr><th scope=\"col\">no.</th>\
         <th scope=\"col\">way</th><th scope=\"col\" class=\"num\">sent</th><th scope=\"col\" class=\"num\">lost</th>\
         <th scope=\"col\" class=\"num\">out of order</th><th scope=\"col\" class=\"num\">twice</th>\
         <th scope=\"col\" class=\"num\">longest silence</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn bar(connection: &Connection, most: f64) -> String {
    let width = share(connection.delivered_bps, most).clamp(0.0, 1.0) * 100.0;
    format!(
        "<li><span class=\"who\">{} {} → {}</span><span class=\"bar\"><i style=\"width:{}%\"></i></span><span class=\"num\">{}</span></li>\n",
        connection.index,
        esc(&connection.from),
        esc(&connection.to),
        px(width),
        rate(connection.delivered_bps),
    )
}

fn table(connections: &[Connection]) -> String {
    let rows: String = connections.iter().map(row).collect();
    format!(
        "<details>\n<summary>Every connection</summary>\n<div class=\"scroll\"><table class=\"plain\">\n<thead><tr>\
         <th scope=\"col\">no.</th><th scope=\"col\">workload</th><th scope=\"col\">from</th><th scope=\"col\">to</th>\
         <th scope=\"col\" class=\"num\">delivered</th><th scope=\"col\" class=\"num\">segments</th>\
         <th scope=\"col\" class=\"num\">sent again</th><th scope=\"col\" class=\"num\">round trip</th>\
         <th scope=\"col\">congestion control</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n</details>\n"
    )
}

fn row(connection: &Connection) -> String {
    let again = share(connection.retransmits as f64, connection.segments as f64);
    // The kernel tells nothing of the kind about datagrams.
    let [segments, again, rtt] = match connection.datagrams {
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
    format!(
        "<tr><td>{}</td><td>{}</td><td>{} <code>{}</code></td><td>{} <code>{}</code></td><td class=\"num\">{}</td>\
         <td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td></tr>\n",
        connection.index,
        esc(&connection.workload),
        esc(&connection.from),
        esc(&connection.src),
        esc(&connection.to),
        esc(&connection.dst),
        rate(connection.delivered_bps),
        segments,
        again,
        rtt,
        esc(&how),
    )
}

/// Milliseconds with two decimals.
fn round_trip(us: f64) -> String {
    if us.is_finite() { format!("{:.2} ms", us / 1000.0) } else { "–".to_owned() }
}
