//! Programs that have nothing to send most of the time.

use nicteam_bundles::traffic::Connection;

use super::Rule;
use crate::finding::{Change, Finding, Side, Sure, Weight};
use crate::units::{percent, plural, rate};
use crate::view::{Direction, View};

pub(super) struct IdleSender;

/// The part of the time in which a connection has something to send, or to be acknowledged: below it its program is slow.
const BUSY: f64 = 0.5;
/// The part of the sent bytes that such connections have.
const MOST: f64 = 0.8;
/// Below this rate nobody asks.
const LEAST_BPS: f64 = 1e6;

impl Rule for IdleSender {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        find(view).into_iter().collect()
    }
}

fn find(view: &View<'_>) -> Option<Finding> {
    let seconds = view.facts.rates.seconds;
    let sending: Vec<&Connection> = view.busy_connections().filter(|of| of.sent_bytes > 0).collect();
    let sent: u64 = sending.iter().map(|of| of.sent_bytes).sum();
    let share = |of: &Connection| of.busy_us as f64 / (seconds * 1e6);
    let idle: Vec<&&Connection> = sending.iter().filter(|of| share(of) < BUSY).collect();
    let of_them: u64 = idle.iter().map(|of| of.sent_bytes).sum();
    let first = idle.iter().max_by_key(|of| of.sent_bytes)?;
    let bps = of_them as f64 * 8.0 / seconds;
    let is_full = view.active().iter().any(|of| view.is_full(of, Direction::Out));
    if is_full || (of_them as f64) < MOST * sent as f64 || bps < LEAST_BPS {
        return None;
    }
    let sentence = format!(
        "The programs of this host give {} less than they could carry: {} in all. No link and no receiver limits that.",
        plural(idle.len(), "connection"),
        rate(bps)
    );
    let evidence = format!(
        "the one to {} had something to send in {} of the time (TCP_INFO)",
        first.key.remote,
        percent(share(first))
    );
    let text = "look at the program that sends: it waits for answers, for a disk, or for its own processor";
    let finding = Finding::new("idle-sender", Weight::Notice, Side::Host, sentence);
    Some(Finding { sure: Sure::Likely, ..finding.by(evidence).change(Change::here(text, Vec::new())) })
}
