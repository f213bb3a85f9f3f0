//! Links that lose frames because they were declared to, and TCP that slows down at each loss.

use nicteam_record::{Connection, Impairments, Link, LinkEnd};

use super::because;
use crate::explain::facts::retransmit_share;
use crate::explain::limits::{Cause, Limit};
use crate::explain::{Explanation, Side};
use crate::units::{percent, rate, share};

/// Declared losses on the way of connections that filled no link and sent segments again.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let run = limit.picture.run;
    let connections: Vec<&Connection> = limit.connections.iter().map(|index| &run.connections[*index]).collect();
    let declared: Vec<&Impairments> = limit
        .passed()
        .flat_map(|hop| hop.links.iter().filter_map(|link| declared(&run.topology.links, hop.node, link.device)))
        .filter(|impairments| impairments.loss > 0.0)
        .collect();
    let greatest = declared.iter().map(|impairments| impairments.loss).fold(0.0, f64::max);
    if limit.cause != Cause::Nothing || declared.is_empty() || retransmit_share(&connections) == 0.0 {
        return None;
    }
    let expected = match declared.as_slice() {
        [one] if one.gemodel.is_none() => mathis(limit, &connections, one.loss),
        _ => String::new(),
    };
    let sentence = format!(
        "Links on the way lose {} of the frames, as declared, and TCP slows down at each loss; no link was full.{expected}",
        percent(greatest),
    );
    because(Side::Links, None, sentence)
}

/// What is declared of the frames that a node sends by a device.
fn declared<'a>(links: &'a [Link], node: &str, device: &str) -> Option<&'a Impairments> {
    let is = |end: &LinkEnd| end.node == node && end.device == device;
    links.iter().find_map(|link| {
        let impaired = link.impaired.as_ref()?;
        match () {
            () if is(&link.a) => Some(&impaired.a_to_b),
            () if is(&link.b) => Some(&impaired.b_to_a),
            () => None,
        }
    })
}

/// What a connection can be expected to get at this loss and its own round trip:
/// sqrt(3/2) segments a round trip over the root of the loss (Mathis, Semke,
/// Mahdavi, Ott: The Macroscopic Behavior of the TCP Congestion Avoidance
/// Algorithm, 1997). It is Reno's, for losses that are independent.
fn mathis(limit: &Limit<'_, '_>, connections: &[&Connection], loss: f64) -> String {
    const HEADERS_BYTES: u32 = 52;
    let mtu = limit.passed().flat_map(|hop| hop.links.iter().map(|link| link.mtu)).min().unwrap_or(0);
    let sum = |of: fn(&Connection) -> f64| connections.iter().map(|connection| of(connection)).sum::<f64>();
    let rtt_us = share(sum(|connection| connection.rtt_us), connections.len() as f64);
    let each_bps = share(sum(|connection| connection.delivered_bps), connections.len() as f64);
    if rtt_us <= 0.0 || mtu <= HEADERS_BYTES {
        return String::new();
    }
    let expected_bps = f64::from(mtu - HEADERS_BYTES) * 8e6 / rtt_us * (1.5 / loss).sqrt();
    format!(
        " Reno would get about {} a connection at this loss and a round trip of {:.1} ms (Mathis et al., 1997); they got {}.",
        rate(expected_bps),
        rtt_us / 1e3,
        rate(each_bps)
    )
}
