//! Connections that wait for room in the sender's own socket buffer, not for a link.

use nicteam_bundles::traffic::Connection;

use super::Rule;
use crate::finding::{Change, Finding, Side, Sure, Weight};
use crate::units::{bytes, percent, plural, rate};
use crate::view::View;

pub(super) struct SendBuffer;

/// The part of its busy time that a connection waits for its own buffer.
const WAITS: f64 = 0.5;
/// The part of the sent bytes that such connections have.
const MOST: f64 = 0.5;
/// Below this rate nobody asks.
const LEAST_BPS: f64 = 1e6;

impl Rule for SendBuffer {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        find(view).into_iter().collect()
    }
}

fn find(view: &View<'_>) -> Option<Finding> {
    let sent: u64 = view.busy_connections().map(|of| of.sent_bytes).sum();
    let waits = |of: &&Connection| of.busy_us > 0 && of.sndbuf_limited_us as f64 > WAITS * of.busy_us as f64;
    let waiting: Vec<&Connection> = view.busy_connections().filter(waits).collect();
    let of_them: u64 = waiting.iter().map(|of| of.sent_bytes).sum();
    let first = waiting.iter().max_by_key(|of| of.sent_bytes)?;
    let bps = |bytes: u64| bytes as f64 * 8.0 / view.facts.rates.seconds;
    if (of_them as f64) < MOST * sent as f64 || bps(of_them) < LEAST_BPS {
        return None;
    }
    let share = first.sndbuf_limited_us as f64 / first.busy_us as f64;
    let sentence = format!(
        "The send buffers of the programs' sockets hold {} back, the first to {}: no link limits that.",
        plural(waiting.len(), "connection"),
        first.key.remote
    );
    let evidence = format!("it waited {} of its time for room in its own send buffer (TCP_INFO)", percent(share));
    let mut finding = Finding::new("send-buffer", Weight::Notice, Side::Host, sentence).by(evidence);
    finding.sure = Sure::Likely;
    // What one link carries in a round trip, twice: the kernel counts its own structures, too.
    let speed = view.active().iter().filter_map(|of| of.speed_mbps).max().map(|mbps| f64::from(mbps) * 1e6);
    let in_flight = speed.map(|speed| speed / 8.0 * f64::from(first.rtt_us) / 1e6);
    let commands = in_flight.map(|needed| {
        // The kernel's own default is less to nobody.
        format!("sysctl -w net.ipv4.tcp_wmem='4096 16384 {:.0}'", (2.0 * needed).max(4_194_304.0))
    });
    let text =
        "let the program leave SO_SNDBUF alone, so that the kernel sizes the buffer, and raise the bound of that size";
    finding.changes.push(Change::here(text, commands.into_iter().collect()));
    finding.gain = speed.zip(in_flight).map(|(speed, needed)| {
        format!(
            "with {} in flight, one of them fills a link of {} at its round trip of {:.1} ms; it sends {} now",
            bytes(needed),
            rate(speed),
            f64::from(first.rtt_us) / 1e3,
            rate(bps(first.sent_bytes))
        )
    });
    Some(finding)
}
