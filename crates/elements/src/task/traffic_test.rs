//! `traffic-test`: SoftEther's test of throughput (`TrafficServer`, `TrafficClient`), by our generator or by the real
//! one.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kind::{Kind, Said};
use crate::keys::{self, Key, Need};
use crate::resolved::Direction;
use crate::traffic::{Task, Tested};
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[
        Key {
            name: "by",
            kind: keys::Kind::Choice(&[OURS, SOFTETHER]),
            need: Need::Default(OURS),
            doc: "`traffic-test`: the program that makes the connections. `nicteam`: the lab's generator. `softether`: \
                `vpncmd /TOOLS` (Debian's softether-vpncmd). The lab reads its table into the record.",
        },
        Key {
            name: "ethernet_frames",
            kind: keys::Kind::Flag,
            need: Need::Default("true"),
            doc: "`traffic-test`: SoftEther's correction. `true`: figures count Ethernet frames of 1514 bytes for 1460 \
                bytes of payload (`/RAW:no`). `false`: figures count payload (`/RAW:yes`).",
        },
    ],
    also: &["congestion"],
    takes_every_path: |_| None,
    keeps_to_a_processor: true,
    stays_in_segment: false,
    resolve,
};

const NAME: &str = "traffic-test";
const OURS: &str = "nicteam";
const SOFTETHER: &str = "softether";
/// The most connections of SoftEther's client (`/NUMTCP`).
const MOST_OF_SOFTETHER: u32 = 32;
/// Connections of a client where the file does not say, as of SoftEther's.
const USUAL: u32 = 32;

/// A test in SoftEther's scheme: so many connections a client, directions alternating, for a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficTest {
    /// True if SoftEther's own programs carry it out.
    pub by_softether: bool,
    /// Connections of each client.
    pub connections: u32,
    /// Clients and servers that connect.
    pub pairs: u32,
    /// Which way the payload goes: `send` is SoftEther's upload, `both` its full.
    pub direction: Direction,
    /// True if figures count Ethernet frames.
    pub ethernet_frames: bool,
    /// Seconds that SoftEther's client takes: warm-up and measurement.
    pub span_s: u64,
    /// Congestion control of every sending end.
    pub congestion: String,
}

impl TrafficTest {
    /// In SoftEther's words.
    fn kind_of_traffic(&self) -> &'static str {
        match self.direction {
            Direction::Send => "upload",
            Direction::Receive => "download",
            Direction::Both => "full",
        }
    }

    fn server(&self) -> Vec<String> {
        ["vpncmd", "/TOOLS", "/CMD", "TrafficServer", "{port}", "/NOHUP:yes"].map(str::to_owned).to_vec()
    }

    fn client(&self) -> Vec<String> {
        let raw = if self.ethernet_frames { "no" } else { "yes" };
        let mut words = ["vpncmd", "/TOOLS", "/CMD", "TrafficClient", "{address}:{port}"].map(str::to_owned).to_vec();
        words.extend([
            format!("/NUMTCP:{}", self.connections),
            format!("/TYPE:{}", self.kind_of_traffic()),
            format!("/SPAN:{}", self.span_s),
            "/DOUBLE:no".to_owned(),
            format!("/RAW:{raw}"),
        ]);
        words
    }
}

impl Task for TrafficTest {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> (&'static str, String) {
        let by = if self.by_softether { ", by SoftEther" } else { "" };
        ("traffic test", format!("{} connections a client, {}{by}", self.connections, self.kind_of_traffic()))
    }

    fn each(&self, _connections: u32, _ipv6: bool) -> Value {
        match self.by_softether {
            true => json!({ "client": self.client(), "server": self.server(), "congestion": self.congestion }),
            false => json!({ "congestion": self.congestion, "mptcp": false }),
        }
    }

    fn congestion(&self) -> Option<&str> {
        Some(&self.congestion)
    }

    fn programs(&self) -> Vec<&str> {
        if self.by_softether { vec!["vpncmd"] } else { Vec::new() }
    }

    fn planned(&self, _connections: u32) -> u32 {
        match self.by_softether {
            true => self.pairs,
            false if self.direction == Direction::Both => self.connections * self.pairs / 2,
            false => self.connections * self.pairs,
        }
    }

    fn tested(&self) -> Option<Tested> {
        let TrafficTest { by_softether, connections, ethernet_frames, .. } = *self;
        Some(Tested { by_softether, connections, ethernet_frames })
    }
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Arc<dyn Task>> {
    let by_softether = said.record.get::<&str>("by").is_some_and(|at| at.value == SOFTETHER);
    let pairs = said.pairs.max(1);
    let connections = if said.record.has("connections") { said.connections } else { USUAL * pairs };
    let each = connections / pairs;
    let wrong = match said.direction {
        _ if !connections.is_multiple_of(pairs) => {
            Some(format!("{} pairs of hosts share them: take a multiple", pairs))
        }
        Direction::Both if !each.is_multiple_of(2) => {
            Some("half of each client's go down and half up: take an even number".to_owned())
        }
        _ if by_softether && each > MOST_OF_SOFTETHER => {
            Some(format!("SoftEther's client opens at most {MOST_OF_SOFTETHER}; {pairs} pairs of hosts share them"))
        }
        _ => None,
    };
    if let Some(hint) = wrong {
        let span = said.record.get::<u64>("connections").map_or(said.name.span.clone(), |at| at.span);
        let message = format!("workload `{}` cannot have {} connections", said.name.value, connections);
        said.problems.push(Problem::at(&span, message).hint(hint));
        return None;
    }
    Some(Arc::new(TrafficTest {
        by_softether,
        connections: each,
        pairs,
        direction: said.direction,
        ethernet_frames: said.record.get::<bool>("ethernet_frames").is_none_or(|at| at.value),
        span_s: said.span.as_secs_f64().ceil().max(1.0) as u64,
        congestion: said.congestion(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(by_softether: bool, direction: Direction) -> TrafficTest {
        let congestion = "cubic".to_owned();
        TrafficTest {
            by_softether,
            connections: 32,
            direction,
            pairs: 3,
            ethernet_frames: true,
            span_s: 15,
            congestion,
        }
    }

    #[test]
    fn softether_is_called_in_its_own_words() {
        assert_eq!(
            test(true, Direction::Both).client().join(" "),
            "vpncmd /TOOLS /CMD TrafficClient {address}:{port} /NUMTCP:32 /TYPE:full /SPAN:15 /DOUBLE:no /RAW:no"
        );
        assert_eq!(test(true, Direction::Receive).kind_of_traffic(), "download");
    }

    #[test]
    fn half_of_the_connections_go_each_way() {
        let planned = |by_softether, direction| test(by_softether, direction).planned(96);
        assert_eq!(planned(false, Direction::Both), 48, "`both` plans each of them once more");
        assert_eq!((planned(false, Direction::Send), planned(true, Direction::Both)), (96, 3), "one program a client");
    }
}
