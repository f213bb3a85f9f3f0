//! Connections that wait for a host, not for a link.

use nicteam_bundles::traffic::Connection;

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Sure, Weight};
use crate::units::percent;
use crate::view::View;

pub(super) struct SlowHost;

/// The part of its busy time that a connection waits for the receiver, and the part of the time that it is busy.
const WAITS: f64 = 0.5;
const BUSY: f64 = 0.5;
/// The part of the sent bytes that such connections have.
const MOST: f64 = 0.5;

impl Rule for SlowHost {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        find(view).into_iter().collect()
    }
}

fn find(view: &View<'_>) -> Option<Finding> {
    let time_us = view.facts.rates.seconds * 1e6;
    let is_busy = |of: &&Connection| of.busy_us as f64 > BUSY * time_us;
    let waits = |of: &&Connection| of.rwnd_limited_us as f64 > WAITS * of.busy_us as f64;
    let sent: u64 = view.busy_connections().map(|of| of.sent_bytes).sum();
    let waiting: Vec<&Connection> = view.busy_connections().filter(is_busy).filter(waits).collect();
    let of_them: u64 = waiting.iter().map(|of| of.sent_bytes).sum();
    let first = waiting.iter().max_by_key(|of| of.sent_bytes)?;
    if (of_them as f64) < MOST * sent as f64 {
        return None;
    }
    let sentence = format!(
        "The receiver {} takes data more slowly than this host sends it: no link limits that.",
        first.key.remote
    );
    let share = first.rwnd_limited_us as f64 / first.busy_us.max(1) as f64;
    let evidence = format!("its connection waited {} of its time for the receiver's window (TCP_INFO)", percent(share));
    let change = Change::at(
        Place::OtherHost,
        "look at the program that receives, and at its receive buffer (net.ipv4.tcp_rmem)",
    );
    let finding = Finding::new("slow-host", Weight::Notice, Side::OtherHost, sentence).by(evidence).change(change);
    Some(Finding { sure: Sure::Likely, ..finding })
}
