//! Connections of programs that are not ours: found by their sockets, not planned.
//!
//! A socket carries payload both ways. Each way that carried more than a control connection does is a connection of the
//! record; its sending end's socket counts what was sent, its receiving end's what arrived.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use nicteam_record::measure::{Counted, Window};
use nicteam_record::{Connection, ConnectionSample, Sample};

use crate::protocol::FlowSample;
use crate::task::Planned;

/// What a control connection may carry each way in the whole run, bytes; iperf3's has less than 4 KiB. Connections with no
/// more are not recorded.
const CONTROL_BYTES: u64 = 64 << 10;

/// What the agents reported of sockets: in which sample, and what.
#[derive(Debug, Default)]
pub struct Flows(Vec<(usize, Vec<FlowSample>)>);

/// One way of a connection: number of the program, sending end, receiving end.
type Way = (u32, SocketAddr, SocketAddr);

/// A way that is recorded.
#[derive(Debug)]
pub struct Found {
    way: Way,
    index: u32,
    from: String,
    to: String,
    congestion: String,
}

impl Flows {
    /// Takes in what came with the sample at this place.
    pub fn take_in(&mut self, place: usize, flows: Vec<FlowSample>) {
        if !flows.is_empty() {
            self.0.push((place, flows));
        }
    }

    /// Numbers the connections, behind those that were `planned`, and puts what their ends counted into the samples.
    /// The first of a program has the program's own number.
    pub fn attach(mut self, samples: &mut [Sample], planned: &[Planned]) -> Vec<Found> {
        self.name_other_ends();
        let found = self.find(samples, planned);
        let mut seen: BTreeSet<(&str, u32)> = BTreeSet::new();
        let mut begun: Vec<(usize, ConnectionSample)> = Vec::new();
        for (place, flows) in &self.0 {
            for flow in flows {
                for way in &found {
                    let Some(counted) = counted(way, flow) else { continue };
                    // What was not there at the host's sample before had carried nothing then.
                    let host = if flow.local == way.way.1 { &way.from } else { &way.to };
                    if seen.insert((host, way.index))
                        && let Some(before) = samples[..*place].iter().rposition(|sample| sample.host == *host)
                    {
                        let index = way.index;
                        begun.push((before, ConnectionSample { index, ..ConnectionSample::default() }));
                    }
                    begun.push((*place, counted));
                }
            }
        }
        begun.into_iter().for_each(|(place, sample)| samples[place].connections.push(sample));
        found
    }

    /// Gives sockets whose agent does not know their task that of the socket at the other end; those that have none go.
    fn name_other_ends(&mut self) {
        let is_named = |flow: &&FlowSample| flow.program != FlowSample::BY_THE_OTHER_END;
        let all = self.0.iter().flat_map(|(_, flows)| flows);
        let named: BTreeMap<(SocketAddr, SocketAddr), u32> =
            all.filter(is_named).map(|flow| ((flow.local, flow.remote), flow.program)).collect();
        for (_, flows) in &mut self.0 {
            flows.retain_mut(|flow| {
                if !is_named(&&*flow)
                    && let Some(program) = named.get(&(flow.remote, flow.local))
                {
                    flow.program = *program;
                }
                is_named(&&*flow)
            });
        }
    }

    /// Every way that carries payload and carried more than control connections do, in the order in which they were seen.
    fn find(&self, samples: &[Sample], planned: &[Planned]) -> Vec<Found> {
        let mut bytes: BTreeMap<Way, u64> = BTreeMap::new();
        let mut order: Vec<Way> = Vec::new();
        let mut ends: BTreeMap<(u32, SocketAddr), &str> = BTreeMap::new();
        let mut congestion: BTreeMap<Way, &str> = BTreeMap::new();
        for (place, flow) in self.0.iter().flat_map(|(place, flows)| flows.iter().map(move |flow| (*place, flow))) {
            ends.insert((flow.program, flow.local), &samples[place].host);
            let (out, back) = ((flow.program, flow.local, flow.remote), (flow.program, flow.remote, flow.local));
            congestion.insert(out, &flow.congestion);
            for (way, carried) in [(out, flow.acked_bytes), (back, flow.received_bytes)] {
                let most = bytes.entry(way).or_default();
                *most = carried.max(*most);
                if *most > CONTROL_BYTES && !order.contains(&way) {
                    order.push(way);
                }
            }
        }
        let mut next = planned.len() as u32;
        let mut begun = BTreeSet::new();
        let found = order.into_iter().filter_map(|way| {
            let (program, src, dst) = way;
            let planned = planned.iter().find(|planned| planned.spec.index == program)?;
            if !planned.carries(ends.get(&(program, src)).copied(), ends.get(&(program, dst)).copied()) {
                return None;
            }
            // An end that was not seen is the other one of its program.
            let other = |seen: Option<&&str>| match seen {
                Some(host) if **host == planned.client => planned.server.clone(),
                _ => planned.client.clone(),
            };
            let (from, to) = (ends.get(&(program, src)), ends.get(&(program, dst)));
            let index = if begun.insert(program) {
                program
            } else {
                next += 1;
                next - 1
            };
            Some(Found {
                way,
                index,
                from: from.map_or_else(|| other(to), |host| (*host).to_owned()),
                to: to.map_or_else(|| other(from), |host| (*host).to_owned()),
                congestion: congestion.get(&way).map_or_else(String::new, |name| (*name).to_owned()),
            })
        });
        found.collect()
    }
}

impl Found {
    /// Its number among the run's connections, and that of its program or task.
    pub fn numbers(&self) -> (u32, u32) {
        (self.index, self.way.0)
    }

    /// Payload that arrived until the end of a window, from its beginning, bytes.
    pub fn received_bytes(&self, window: &Window<'_>) -> f64 {
        Counted::new(window, self.index, &self.from, &self.to).received(|sample| sample.received_bytes)
    }

    /// What it did in a window.
    pub fn connection(&self, window: &Window<'_>, planned: &[Planned]) -> Connection {
        let (program, src, dst) = self.way;
        let counted = Counted::new(window, self.index, &self.from, &self.to);
        let whole = |field: fn(&ConnectionSample) -> u64| counted.sent(field).round() as u64;
        let of = planned.iter().find(|planned| planned.spec.index == program);
        Connection {
            workload: of.map_or_else(String::new, |planned| planned.workload.clone()),
            index: self.index,
            from: self.from.clone(),
            to: self.to.clone(),
            src: src.to_string(),
            dst: dst.to_string(),
            delivered_bps: counted.delivered_bps(),
            retransmits: whole(|sample| sample.retransmits),
            segments: whole(|sample| sample.segments),
            rtt_us: counted.sender_mean(|sample| u64::from(sample.rtt_us)),
            congestion: self.congestion.clone(),
            transport: "tcp".to_owned(),
            vlan: None,
            subflows: None,
            datagrams: None,
        }
    }
}

/// What a socket counted of one way of a connection, if it is an end of it.
fn counted(found: &Found, flow: &FlowSample) -> Option<ConnectionSample> {
    let (program, src, dst) = found.way;
    let index = found.index;
    match (flow.local, flow.remote) {
        _ if flow.program != program => None,
        ends if ends == (src, dst) => Some(ConnectionSample {
            index,
            segments: flow.segments,
            retransmits: flow.retransmits,
            rtt_us: flow.rtt_us,
            ..ConnectionSample::default()
        }),
        ends if ends == (dst, src) => {
            Some(ConnectionSample { index, received_bytes: flow.received_bytes, ..ConnectionSample::default() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ConnectionSpec;

    fn end(host: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, host], port))
    }

    fn flow(local: SocketAddr, remote: SocketAddr, received_bytes: u64, acked_bytes: u64) -> FlowSample {
        let congestion = "cubic".to_owned();
        let (segments, retransmits, rtt_us) = (acked_bytes / 1000, 1, 500);
        FlowSample { program: 0, local, remote, received_bytes, acked_bytes, segments, retransmits, rtt_us, congestion }
    }

    fn sample(t_ms: f64, host: &str) -> Sample {
        let (members, connections, relayed) = (Vec::new(), Vec::new(), Vec::new());
        Sample { t_ms, host: host.to_owned(), cpu_ms: 0.0, members, connections, relayed, mac_moves: None }
    }

    fn planned() -> Vec<Planned> {
        let spec = ConnectionSpec {
            index: 0,
            place: 0,
            client: end(1, 40_000),
            server: end(2, 20_001),
            interfaces: Default::default(),
            paths: Vec::new(),
            vlan: None,
            client_sends: true,
            kind: "program".to_owned(),
            each: serde_json::Value::Null,
            processor: None,
        };
        let (client, server) = ("a".to_owned(), "b".to_owned());
        vec![Planned { workload: "w".to_owned(), client, server, ways: [true; 2], spec }]
    }

    #[test]
    fn each_way_that_carries_payload_is_a_connection_and_control_is_none() {
        let (control, one, two, port) = (end(1, 7), end(1, 8), end(1, 9), end(2, 20_001));
        let mut samples: Vec<Sample> =
            [(-100.0, "a"), (-100.0, "b"), (0.0, "a"), (0.0, "b"), (1000.0, "a"), (1000.0, "b")]
                .map(|(t, host)| sample(t, host))
                .to_vec();
        let mut flows = Flows::default();
        // `one` sends from before the window on, `two` is received by the client and begins within it.
        flows.take_in(2, vec![flow(control, port, 300, 200), flow(one, port, 0, 1_000_000)]);
        flows.take_in(3, vec![flow(port, control, 200, 300), flow(port, one, 1_000_000, 0)]);
        flows.take_in(4, vec![flow(one, port, 0, 3_000_000), flow(two, port, 500_000, 0)]);
        flows.take_in(5, vec![flow(port, one, 3_000_000, 0), flow(port, two, 0, 500_000)]);
        let planned = planned();
        let found = flows.attach(&mut samples, &planned);
        let window = Window::new(&samples, 1000.0);
        let connections: Vec<Connection> = found.iter().map(|found| found.connection(&window, &planned)).collect();
        let said: Vec<_> = connections
            .iter()
            .map(|c| (c.index, c.from.as_str(), c.to.as_str(), c.src.as_str(), c.delivered_bps, c.segments))
            .collect();
        assert_eq!(
            said,
            [(0, "a", "b", "10.0.0.1:8", 16_000_000.0, 2000), (1, "b", "a", "10.0.0.2:20001", 4_000_000.0, 500)]
        );
    }
}
