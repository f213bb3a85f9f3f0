//! `ping`: echo requests, each of which is to come back.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::kind::{Kind, Said};
use crate::keys::{self, Key, Need};
use crate::traffic::Task;
use crate::units::show_duration;
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[
        Key {
            name: "packet_size",
            kind: keys::Kind::Integer(0..=LARGEST as u64),
            need: Need::Default("56"),
            doc: "`ping`: payload of an echo request, bytes (`ping -s`). A request that does not fit into the MTU is \
                fragmented.",
        },
        Key {
            name: "dont_fragment",
            kind: keys::Kind::Flag,
            need: Need::Default("false"),
            doc: "`ping`: requests must not be fragmented (`ping -M do`). A request that does not fit is refused.",
        },
        Key {
            name: "interval",
            kind: keys::Kind::Time(Duration::from_millis(1)..=Duration::from_secs(60)),
            need: Need::Otherwise("`1s`; of `requests` `100ms`"),
            doc: "`ping`, `requests`: time from one request to the next (`ping -i`).",
        },
        Key {
            name: "count",
            kind: keys::Kind::Integer(1..=10_000_000),
            need: Need::Otherwise("until the run ends"),
            doc: "`ping`: number of requests (`ping -c`).",
        },
    ],
    also: &["paths"],
    takes_every_path: |_| None,
    // The kernel answers echo requests by itself.
    keeps_to_a_processor: true,
    stays_in_segment: false,
    resolve,
};

const NAME: &str = "ping";
/// What fits into the longest IPv4 packet behind its headers, bytes; that of IPv6 has room for 20 more.
const LARGEST: u32 = 65_507;
const DEFAULT_BYTES: u64 = 56;
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// Echo requests, which `from` sends and the kernel of `to` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// Payload, bytes: 65,507 at most.
    pub payload_bytes: u32,
    /// They must not be cut.
    pub dont_fragment: bool,
    /// From one to the next.
    pub interval: Duration,
    /// How many; none: as long as the run measures.
    pub count: Option<u64>,
    /// By each link of hosts that have an address for each; else by the hosts' addresses.
    pub every_path: bool,
}

impl Task for Ping {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> (&'static str, String) {
        let count = self.count.map_or_else(String::new, |count| format!("{count} times "));
        let whole = if self.dont_fragment { ", not to be cut" } else { "" };
        let paths = if self.every_path { ", by every path" } else { "" };
        let bytes = self.payload_bytes;
        ("ping", format!("{count}{bytes} bytes each {}{whole}{paths}", show_duration(self.interval)))
    }

    fn each(&self, _connections: u32, _ipv6: bool) -> Value {
        json!({
            "payload_bytes": self.payload_bytes,
            "dont_fragment": self.dont_fragment,
            "interval_us": self.interval.as_micros() as u64,
            "count": self.count,
        })
    }

    fn carries_payload(&self) -> bool {
        false
    }

    fn finds_connections(&self) -> bool {
        true
    }

    fn measures_latency(&self) -> bool {
        true
    }

    fn is_finite(&self) -> bool {
        self.count.is_some()
    }

    fn takes_every_path(&self) -> bool {
        self.every_path
    }
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Arc<dyn Task>> {
    if let Some(direction) = said.record.get::<&str>("direction").filter(|at| at.value != "send") {
        let message = format!("workload `{}` pings, and has a `direction`", said.name.value);
        let hint = "remove it: `from` asks, `to` answers; a second workload pings the other way";
        said.problems.push(Problem::at(&direction.span, message).hint(hint));
    }
    let size = said.record.get::<u64>("packet_size");
    let payload_bytes = size.as_ref().map_or(DEFAULT_BYTES, |at| at.value) as u32;
    let dont_fragment = said.record.get::<bool>("dont_fragment").is_some_and(|at| at.value);
    Some(Arc::new(Ping {
        payload_bytes,
        dont_fragment,
        interval: said.record.get("interval").map_or(DEFAULT_INTERVAL, |at| at.value),
        count: said.record.get::<u64>("count").map(|at| at.value),
        every_path: said.record.get::<&str>("paths").is_some_and(|at| at.value == "all"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_does_is_said_in_a_line() {
        let ping = Ping {
            payload_bytes: 65_000,
            dont_fragment: false,
            interval: Duration::from_millis(100),
            count: Some(10),
            every_path: false,
        };
        assert_eq!(ping.words().1, "10 times 65000 bytes each 100ms");
        let endless = Ping { count: None, dont_fragment: true, every_path: true, ..ping };
        assert_eq!(endless.words().1, "65000 bytes each 100ms, not to be cut, by every path");
        assert!(ping.is_finite() && !endless.is_finite());
    }
}
