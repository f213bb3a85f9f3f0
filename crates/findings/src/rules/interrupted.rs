//! The lab did something to the network, and datagrams were lost or held meanwhile.

use nicteam_record::{Connection, Datagrams, Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::facts::faults;
use crate::limits::{FilledBy, Limit};
use crate::units::{list, percent, share};

/// Losses, or a missing share, for which the longest silence accounts by this part or more came from it.
const ACCOUNTS: f64 = 0.5;

/// Datagrams that filled no link, in a run with events, and most of whose losses fall into one silence; where none was lost,
/// most of the missing share.
pub(super) struct Interrupted;

#[derive(Serialize, Deserialize)]
struct Details {
    /// What was done, in words.
    events: Vec<String>,
    /// The longest time in which no datagram of one of the connections arrived, milliseconds.
    silence_ms: f64,
    /// Part of their datagrams that was lost.
    lost: f64,
}

impl Rule for Interrupted {
    fn cause(&self) -> &'static str {
        "interrupted"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let run = limit.picture.run;
        let events: Vec<String> = faults(run).into_iter().map(str::to_owned).collect();
        if events.is_empty() || limit.filled_by != FilledBy::Nothing {
            return None;
        }
        let datagrams = |connection: &'_ Connection| connection.datagrams;
        let datagrams: Vec<Datagrams> = limit.connections().map(datagrams).collect::<Option<_>>()?;
        let sum = |of: fn(&Datagrams) -> u64| datagrams.iter().map(|of_one| of(of_one) as f64).sum::<f64>();
        let lost = share(sum(|of| of.lost), sum(|of| of.sent));
        let silence_ms = datagrams.iter().map(|of| of.longest_silence_us).max()? as f64 / 1e3;
        let gone = if lost > 0.0 { lost } else { 1.0 - run.of_limit };
        if gone <= 0.0 || share(silence_ms, run.measured_ms) < ACCOUNTS * gone {
            return None;
        }
        let finding = Finding { side: Side::Links, ..limit.finding(self.cause()) };
        Some(finding.with_details(&Details { events, silence_ms, lost }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { events, silence_ms, lost } = finding.details()?;
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        Some(format!(
            "{}: no datagram arrived for up to {silence_ms:.0} ms, and {} were lost; no link was full.",
            list(&events),
            percent(lost)
        ))
    }
}
