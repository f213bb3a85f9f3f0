//! `requests`: small questions and answers over TCP at regular moments, as browsing is: how a link feels.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::kind::{Kind, Said};
use super::tcp;
use crate::keys::{self, Key, Need};
use crate::traffic::Task;
use crate::units::{show_bytes, show_duration};
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[
        Key {
            name: "smallest",
            kind: keys::Kind::Bytes(1..=LARGEST),
            need: Need::Default("64b"),
            doc: "`requests`: the smallest answer.",
        },
        Key {
            name: "largest",
            kind: keys::Kind::Bytes(1..=LARGEST),
            need: Need::Default("64kib"),
            doc: "`requests`: the largest answer. The seed draws sizes between `smallest` and `largest`. Each power of \
                two is equally frequent.",
        },
    ],
    also: &["interval", "mptcp"],
    takes_every_path: tcp::takes_every_path,
    keeps_to_a_processor: true,
    stays_in_segment: false,
    resolve,
};

const NAME: &str = "requests";
const LARGEST: u64 = 16 << 20;
const SMALLEST_BYTES: u64 = 64;
const LARGEST_BYTES: u64 = 64 << 10;
const INTERVAL: Duration = Duration::from_millis(100);

/// Requests of 64 bytes, each answered by so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requests {
    /// The smallest answer, bytes.
    pub smallest: u64,
    /// The largest one.
    pub largest: u64,
    /// From one request to the next.
    pub interval: Duration,
    /// True for multipath TCP, a subflow a link.
    pub mptcp: bool,
    /// What the sizes are drawn from.
    pub seed: u64,
}

impl Task for Requests {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> (&'static str, String) {
        let sizes = if self.smallest == self.largest {
            show_bytes(self.largest)
        } else {
            format!("{} to {}", show_bytes(self.smallest), show_bytes(self.largest))
        };
        let kind = if self.mptcp { "requests by MPTCP" } else { "requests" };
        (kind, format!("{sizes} each {}", show_duration(self.interval)))
    }

    fn each(&self, _connections: u32, _ipv6: bool) -> Value {
        json!({
            "smallest": self.smallest,
            "largest": self.largest,
            "interval_us": self.interval.as_micros() as u64,
            "seed": self.seed,
            "mptcp": self.mptcp,
        })
    }

    fn carries_payload(&self) -> bool {
        false
    }

    /// Each power of two between the smallest and the largest is as frequent.
    fn answered_bps(&self) -> Option<f64> {
        let (smallest, largest) = (self.smallest.max(1) as f64, self.largest.max(1) as f64);
        let bytes = if smallest < largest { (largest - smallest) / (largest / smallest).ln() } else { largest };
        Some(bytes * 8.0 / self.interval.as_secs_f64())
    }

    fn finds_connections(&self) -> bool {
        true
    }

    fn takes_every_path(&self) -> bool {
        self.mptcp
    }

    fn is_mptcp(&self) -> bool {
        self.mptcp
    }
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Arc<dyn Task>> {
    if let Some(direction) = said.record.get::<&str>("direction").filter(|at| at.value != "send") {
        let message = format!("workload `{}` asks, and has a `direction`", said.name.value);
        let hint = "remove it: `from` asks, `to` answers; a second workload asks the other way";
        said.problems.push(Problem::at(&direction.span, message).hint(hint));
    }
    let size = |key, otherwise| said.record.get::<u64>(key).map_or(otherwise, |at| at.value);
    let (smallest, largest) = (size("smallest", SMALLEST_BYTES), size("largest", LARGEST_BYTES));
    if smallest > largest {
        let key = if said.record.has("smallest") { "smallest" } else { "largest" };
        let span = said.record.get::<u64>(key).map_or(said.name.span.clone(), |at| at.span);
        let message = format!("the smallest answer has {}, the largest {}", show_bytes(smallest), show_bytes(largest));
        said.problems.push(Problem::at(&span, message).hint("lower `smallest`, or raise `largest`"));
    }
    Some(Arc::new(Requests {
        smallest,
        largest,
        interval: said.record.get("interval").map_or(INTERVAL, |at| at.value),
        seed: said.defaults.get("seed").map_or(1, |at| at.value),
        mptcp: said.record.get("mptcp").is_some_and(|at| at.value),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_does_is_said_in_a_line() {
        let requests = Requests { smallest: 64, largest: 65_536, interval: INTERVAL, seed: 1, mptcp: false };
        assert_eq!(requests.words().1, "64b to 64kib each 100ms");
        assert_eq!(Requests { smallest: 65_536, ..requests }.words().1, "64kib each 100ms");
    }
}
