//! Links that lose frames because they were declared to, and TCP that slows down at each loss.

use nicteam_record::{Connection, Finding, Impairments, Run, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::units::{percent, rate, share};
use crate::view;

/// Below this part of the limit links that lose frames were not what TCP could fill.
const WHOLE: f64 = 0.95;

/// Declared losses on the way of connections that filled no link, or nearly, and sent segments again.
pub(super) struct Lossy;

#[derive(Serialize, Deserialize)]
struct Details {
    /// The greatest loss on the way, as a part of the frames.
    loss: f64,
    /// Whether the links were nearly full.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_full: bool,
    /// What a connection can be expected to get, where that can be said.
    expected: Option<Expected>,
}

#[derive(Serialize, Deserialize)]
struct Expected {
    /// Payload of each connection at this loss and round trip, bit/s.
    each_bps: f64,
    /// Mean round trip, microseconds.
    rtt_us: f64,
    /// What each got, bit/s.
    got_bps: f64,
}

impl Rule for Lossy {
    fn cause(&self) -> &'static str {
        "declared-loss"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let declared = losses(limit);
        let loss = declared.iter().map(|impairments| impairments.loss).fold(0.0, f64::max);
        let is_full = is_below_full(limit);
        if limit.filled_by != FilledBy::Nothing && !is_full || declared.is_empty() || limit.resent() == 0.0 {
            return None;
        }
        let expected = match declared.as_slice() {
            [one] if one.gemodel.is_none() => mathis(limit, one.loss),
            _ => None,
        };
        let lost = if is_full { 1.0 - limit.picture.run.of_limit } else { limit.lost };
        let finding = Finding { side: Side::Links, lost, ..limit.finding(self.cause()) };
        Some(finding.with_details(&Details { loss, is_full, expected }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { loss, is_full, expected } = finding.details()?;
        let expected = expected.map_or_else(String::new, |Expected { each_bps, rtt_us, got_bps }| {
            format!(
                " Reno would get about {} a connection at this loss and a round trip of {:.1} ms (Mathis et al., 1997); this run got {}.",
                rate(each_bps),
                rtt_us / 1e3,
                rate(got_bps),
            )
        });
        let and = if is_full { "" } else { ", and no link was full" };
        Some(format!(
            "Links on the way lose {} of the frames, as declared. TCP slows down at each loss{and}.{expected}",
            percent(loss),
        ))
    }
}

/// Losses that were declared of links on the way.
fn losses<'a>(limit: &Limit<'_, 'a>) -> Vec<&'a Impairments> {
    let run = limit.picture.run;
    let links =
        limit.passed().flat_map(|hop| hop.links.iter().filter_map(move |link| declared(run, hop.node, link.device)));
    links.filter(|impairments| impairments.loss > 0.0).collect()
}

/// Whether links that lose frames count as full, and what is missing is more than a full link leaves.
pub(super) fn is_below_full(limit: &Limit<'_, '_>) -> bool {
    let is_short = limit.is_whole() && !limit.picture.two_way && limit.picture.run.of_limit < WHOLE;
    limit.filled_by == FilledBy::Payload && is_short && limit.resent() > 0.0 && !losses(limit).is_empty()
}

/// What is declared of the frames that a node sends by a device.
fn declared<'a>(run: &'a Run, node: &str, device: &str) -> Option<&'a Impairments> {
    let (link, far) = view::link_at(&run.topology, node, device)?;
    view::declared(link, if *far == link.b { &link.a } else { &link.b })
}

/// What a connection can be expected to get at this loss and its own round trip:
/// sqrt(3/2) segments a round trip over the root of the loss (Mathis, Semke,
/// Mahdavi, Ott: The Macroscopic Behavior of the TCP Congestion Avoidance
/// Algorithm, 1997). It is Reno's, for losses that are independent.
fn mathis(limit: &Limit<'_, '_>, loss: f64) -> Option<Expected> {
    const HEADERS_BYTES: u32 = 52;
    let mtu = limit.passed().flat_map(|hop| hop.links.iter().map(|link| link.mtu)).min().unwrap_or(0);
    let mean =
        |of: fn(&Connection) -> f64| share(limit.connections().map(of).sum::<f64>(), limit.connections.len() as f64);
    let (rtt_us, got_bps) = (mean(|connection| connection.rtt_us), mean(|connection| connection.delivered_bps));
    if rtt_us <= 0.0 || mtu <= HEADERS_BYTES {
        return None;
    }
    let each_bps = f64::from(mtu - HEADERS_BYTES) * 8e6 / rtt_us * (1.5 / loss).sqrt();
    Some(Expected { each_bps, rtt_us, got_bps })
}
