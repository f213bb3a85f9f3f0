//! Links that lose frames because they were declared to, and TCP that slows down at each loss.

use nicteam_record::{Connection, Finding, Impairments, Run, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::units::{percent, rate, share};
use crate::view;

/// Declared losses on the way of connections that filled no link and sent segments again.
pub(super) struct Lossy;

#[derive(Serialize, Deserialize)]
struct Details {
    /// The greatest loss on the way, as a part of the frames.
    loss: f64,
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
        let run = limit.picture.run;
        let declared: Vec<&Impairments> = limit
            .passed()
            .flat_map(|hop| hop.links.iter().filter_map(move |link| declared(run, hop.node, link.device)))
            .filter(|impairments| impairments.loss > 0.0)
            .collect();
        let loss = declared.iter().map(|impairments| impairments.loss).fold(0.0, f64::max);
        if limit.filled_by != FilledBy::Nothing || declared.is_empty() || limit.resent() == 0.0 {
            return None;
        }
        let expected = match declared.as_slice() {
            [one] if one.gemodel.is_none() => mathis(limit, one.loss),
            _ => None,
        };
        let finding = Finding { side: Side::Links, ..limit.finding(self.cause()) };
        Some(finding.with_details(&Details { loss, expected }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { loss, expected } = finding.details()?;
        let expected = expected.map_or_else(String::new, |Expected { each_bps, rtt_us, got_bps }| {
            format!(
                " Reno would get about {} a connection at this loss and a round trip of {:.1} ms (Mathis et al., 1997); this run got {}.",
                rate(each_bps),
                rtt_us / 1e3,
                rate(got_bps),
            )
        });
        Some(format!(
            "Links on the way lose {} of the frames, as declared. TCP slows down at each loss, and no link was full.{expected}",
            percent(loss),
        ))
    }
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
