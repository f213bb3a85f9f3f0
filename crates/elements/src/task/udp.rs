//! `udp`: numbered datagrams at a given rate.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kind::{Kind, Said};
use crate::keys::{self, Key, Need};
use crate::on_wire::{datagram_bytes, is_ipv6, udp_headers_bytes};
use crate::traffic::Task;
use crate::units::show_rate;
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[
        Key {
            name: "rate",
            kind: keys::Kind::Rate,
            need: Need::Otherwise("required by `udp`, `tagged`"),
            doc: "`udp`, `tagged`: rate on the wire of all connections of one direction together.",
        },
        Key {
            name: "size",
            kind: keys::Kind::Integer(16..=9188),
            need: Need::Default("1472"),
            doc: "`udp`, `tagged`: payload of a datagram, bytes. With its headers it has to fit into the MTU.",
        },
    ],
    also: &[],
    takes_every_path: |_| None,
    keeps_to_a_processor: false,
    stays_in_segment: false,
    resolve,
};

const NAME: &str = "udp";
const DEFAULT_SIZE_BYTES: u64 = 1472;

/// Numbered datagrams at a given rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// What all connections of one direction send together, bit/s of the wire.
    pub rate_bps: u64,
    /// Payload of a datagram, 16 to 9188 bytes.
    pub size_bytes: u32,
}

impl Task for Udp {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn datagram_payload(&self) -> Option<u32> {
        Some(self.size_bytes)
    }

    fn words(&self) -> (&'static str, String) {
        ("UDP", format!("{} in datagrams of {} bytes", show_rate(self.rate_bps), self.size_bytes))
    }

    /// Nanoseconds from one datagram to the next, and their size.
    fn each(&self, connections: u32, ipv6: bool) -> Value {
        let each_bps = (self.rate_bps / u64::from(connections.max(1))).max(1);
        let bits = u64::from(datagram_bytes(self.size_bytes, ipv6)) * 8;
        json!({ "interval_ns": bits * 1_000_000_000 / each_bps, "size_bytes": self.size_bytes })
    }

    fn asked_bps(&self, ipv6: bool) -> Option<f64> {
        let payload_share = f64::from(self.size_bytes) / f64::from(datagram_bytes(self.size_bytes, ipv6));
        Some(self.rate_bps as f64 * payload_share)
    }
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Arc<dyn Task>> {
    resolve_datagrams(said).map(|udp| Arc::new(udp) as Arc<dyn Task>)
}

/// What all kinds of datagrams have.
pub(super) fn resolve_datagrams(said: &mut Said<'_, '_>) -> Option<Udp> {
    let Some(rate) = said.record.get::<u64>("rate") else {
        if !said.record.has("rate") {
            let message = format!("workload `{}` does not say at which `rate` it sends", said.name.value);
            said.problems.push(Problem::at(&said.name.span, message).hint("add, for example, `rate = \"100mbit\"`"));
        }
        return None;
    };
    let size = said.record.get::<u64>("size");
    let headers = u64::from(udp_headers_bytes(is_ipv6(said.topology)));
    let least_mtu = said.topology.cables.iter().map(|cable| u64::from(cable.mtu())).min().unwrap_or(u64::MAX);
    let size_bytes = size.as_ref().map_or(DEFAULT_SIZE_BYTES, |at| at.value);
    if size_bytes + headers > least_mtu {
        let span = size.as_ref().map_or(&said.name.span, |at| &at.span);
        let message =
            format!("datagrams of {size_bytes} bytes and headers of {headers} do not fit into an MTU of {least_mtu}");
        let hint = format!("`size` can be {} here", least_mtu.saturating_sub(headers));
        said.problems.push(Problem::at(span, message).hint(hint));
    }
    Some(Udp { rate_bps: rate.value, size_bytes: size_bytes as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_datagram_is_a_full_frame() {
        // 1538 bytes on the wire, at a bit a nanosecond.
        let udp = |size_bytes| Udp { rate_bps: 1_000_000_000, size_bytes };
        assert_eq!(udp(1472).each(1, false)["interval_ns"], 1538 * 8);
        assert_eq!(udp(1452).each(2, true)["interval_ns"], 2 * 1538 * 8);
        assert_eq!(udp(1472).asked_bps(false), Some(1e9 * 1472.0 / 1538.0));
    }
}
