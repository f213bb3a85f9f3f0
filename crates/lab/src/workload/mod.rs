//! Traffic. One file a kind: what it needs, how it runs, what it yields.

mod gate;
mod tcp;
mod udp;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use nicteam_record::ConnectionSample;

use crate::Failure;
use nicteam_experiment::{Direction, Udp, Workload, WorkloadKind};
use crate::protocol::{ConnectionSpec, Transport};

/// First port that workloads listen on; each workload has its own.
const SERVER_PORT: u16 = 5001;
/// First port that connections come from; each connection has its own, so that hashes do not depend on luck.
const CLIENT_PORT: u16 = 40_000;

/// One planned connection: who carries what to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Host of the connecting end.
    pub(crate) client: String,
    /// Host of the other end.
    pub(crate) server: String,
    /// The connection.
    pub(crate) spec: ConnectionSpec,
}

/// Deals a workload's connections to its pairs. `number` and `first_index`
/// number it among the run's; `address` knows where a host lives.
pub(crate) fn plan(
    workload: &Workload,
    number: u16,
    first_index: u32,
    address: impl Fn(&str) -> IpAddr,
) -> Vec<Planned> {
    let ways: &[bool] = match workload.direction {
        Direction::Send => &[true],
        Direction::Receive => &[false],
        Direction::Both => &[true, false],
    };
    let pairs = workload.pairs.iter().cycle().take(workload.connections as usize);
    let dealt = ways.iter().flat_map(|way| pairs.clone().map(move |pair| (pair, *way)));
    dealt
        .zip(first_index..)
        .map(|(((client, server), client_sends), index)| Planned {
            client: client.clone(),
            server: server.clone(),
            spec: ConnectionSpec {
                index,
                client: SocketAddr::new(address(client), CLIENT_PORT + index as u16),
                server: SocketAddr::new(address(server), SERVER_PORT + number),
                client_sends,
                transport: transport(workload, address(server).is_ipv6()),
                processor: None,
            },
        })
        .collect()
}

/// Gives each sender of a stream a processor of its own, if there are enough. The hosts of a lab share the
/// machine's, and the scheduler often leaves two senders on one for many milliseconds while the other is idle for
/// a tenth of one at a time. Of more senders than processors there is always one for it to take.
pub(crate) fn spread<'a>(connections: impl Iterator<Item = &'a mut ConnectionSpec>, processors: usize) {
    let mut streams: Vec<_> = connections.filter(|spec| matches!(spec.transport, Transport::Tcp { .. })).collect();
    if (2..=processors).contains(&streams.len()) {
        for (number, spec) in streams.iter_mut().enumerate() {
            spec.processor = Some(number);
        }
    }
}

fn transport(workload: &Workload, ipv6: bool) -> Transport {
    match &workload.kind {
        WorkloadKind::Tcp(tcp) => Transport::Tcp { congestion: tcp.congestion.clone(), mptcp: tcp.mptcp },
        WorkloadKind::Udp(udp) => {
            let each_bps = (udp.rate_bps / u64::from(workload.connections.max(1))).max(1);
            let bits = u64::from(udp::wire_bytes(udp, ipv6)) * 8;
            Transport::Udp { interval_ns: bits * 1_000_000_000 / each_bps, size_bytes: udp.size_bytes }
        }
    }
}

/// Payload that datagrams carry, of what they take on a wire.
pub(crate) fn payload_share(udp: &Udp, ipv6: bool) -> f64 {
    f64::from(udp.size_bytes) / f64::from(udp::wire_bytes(udp, ipv6))
}

/// The connections that end at an agent.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    tcp: Arc<tcp::Ends>,
    udp: udp::Ends,
}

impl Traffic {
    /// Gets ready for connections whose other ends connect.
    pub(crate) fn serve(&self, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        let (tcp, udp) = by_transport(connections);
        self.udp.open(&udp, false)?;
        self.tcp.serve(tcp)
    }

    /// Opens these connections.
    pub(crate) fn connect(&self, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        let (tcp, udp) = by_transport(connections);
        self.udp.open(&udp, true)?;
        self.tcp.connect(tcp)
    }

    /// Lets the senders send, once every expected end is there.
    pub(crate) fn go(&self) -> Result<(), Failure> {
        self.tcp.go()?;
        self.udp.go();
        Ok(())
    }

    /// Ends every connection.
    pub(crate) fn stop(&self) {
        self.tcp.stop();
        self.udp.stop();
    }

    /// Asks the kernel what it knows of each end, for the samples to come; takes as long as that takes.
    pub(crate) fn ask(&self) {
        self.tcp.ask();
    }

    /// What each end counted, and what the kernel was asked last.
    pub(crate) fn sample(&self) -> Vec<ConnectionSample> {
        let mut samples = self.tcp.sample();
        samples.extend(self.udp.sample());
        samples
    }
}

/// Streams, and datagrams.
fn by_transport(connections: Vec<ConnectionSpec>) -> (Vec<ConnectionSpec>, Vec<ConnectionSpec>) {
    connections.into_iter().partition(|spec| matches!(spec.transport, Transport::Tcp { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processors_of(streams: u32, datagrams: u32, processors: usize) -> Vec<Option<usize>> {
        let stream = Transport::Tcp { congestion: "cubic".to_owned(), mptcp: false };
        let datagram = Transport::Udp { interval_ns: 1000, size_bytes: 100 };
        let transports = (0..datagrams).map(|_| datagram.clone()).chain((0..streams).map(|_| stream.clone()));
        let nowhere = SocketAddr::from(([10, 0, 0, 1], 1));
        let spec = |(index, transport)| ConnectionSpec {
            index,
            client: nowhere,
            server: nowhere,
            client_sends: true,
            transport,
            processor: None,
        };
        let mut specs: Vec<_> = (0..).zip(transports).map(spec).collect();
        spread(specs.iter_mut(), processors);
        specs.iter().map(|spec| spec.processor).collect()
    }

    #[test]
    fn a_sender_has_a_processor_of_its_own_where_there_are_enough() {
        assert_eq!(processors_of(2, 0, 2), [Some(0), Some(1)]);
        assert_eq!(processors_of(2, 1, 4), [None, Some(0), Some(1)], "datagrams are sent on schedule, on any");
        assert_eq!(processors_of(3, 0, 2), [None; 3], "the scheduler has one for each processor");
        assert_eq!(processors_of(1, 0, 2), [None], "one is in nobody's way");
    }
}
