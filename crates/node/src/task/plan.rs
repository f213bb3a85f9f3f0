//! Who carries what to whom.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use nicteam_experiment::{CLIENT_PORT, Host, SERVER_PORT, Topology, Workload};

use super::kind::Kind;
use crate::protocol::{ConnectionSpec, Interface, PathSpec};

/// First port of the servers of programs, each of which has its own, and the next for data.
const PROGRAM_PORT: u16 = 20_001;

/// One planned connection: who carries what to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its workload.
    pub workload: String,
    /// Host of the connecting end.
    pub client: String,
    /// Host of the other end.
    pub server: String,
    /// Which ways payload goes: from the client to the server, and back.
    pub ways: [bool; 2],
    /// The connection.
    pub spec: ConnectionSpec,
}

impl Planned {
    /// Whether payload goes from one host to another; of an end that was not seen no host is known.
    pub fn carries(&self, from: Option<&str>, to: Option<&str>) -> bool {
        let goes_there = from.is_some_and(|from| from == self.client) || to.is_some_and(|to| to == self.server);
        self.ways[usize::from(!goes_there)]
    }
}

/// Assigns a workload's connections to its pairs. `number` and `first_index`
/// number it among the run's; `hosts` are those of its topology.
pub fn plan(workload: &Workload, number: u16, first_index: u32, hosts: &[Host]) -> Vec<Planned> {
    let host = |name: &str| hosts.iter().find(|host| host.name == name);
    let address = |name: &str| host(name).map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |host| host.address);
    let interface = |name: &str| {
        host(name).map_or_else(Interface::default, |host| Interface {
            device: host.device.clone(),
            mac: host.mac.to_string(),
        })
    };
    let runs_programs = !workload.task.programs().is_empty();
    let assigned = workload.assigned();
    assigned
        .zip(0..)
        .map(|((client, server, client_sends), place)| (client, server, client_sends, place, first_index + place))
        .map(|(client, server, client_sends, place, index)| Planned {
            workload: workload.name.clone(),
            client: client.to_owned(),
            server: server.to_owned(),
            ways: ways(workload, client_sends),
            spec: ConnectionSpec {
                index,
                place,
                client: SocketAddr::new(address(client), CLIENT_PORT + index as u16),
                server: SocketAddr::new(
                    address(server),
                    if runs_programs { PROGRAM_PORT + 2 * index as u16 } else { SERVER_PORT + number },
                ),
                interfaces: [client, server].map(interface),
                paths: paths(workload, host(client), host(server)),
                vlan: workload.task.vlan(place % workload.connections.max(1)),
                client_sends,
                kind: workload.task.kind().to_owned(),
                each: workload.task.each(workload.connections, address(server).is_ipv6()),
                processor: None,
            },
        })
        .collect()
}

/// Which ways payload goes.
fn ways(workload: &Workload, client_sends: bool) -> [bool; 2] {
    match workload.task.shares() {
        Some(shares) => shares.map(|share| share > 0.0),
        // Who sends is for the programs to know.
        None if !workload.task.programs().is_empty() => [true; 2],
        None => [client_sends, !client_sends],
    }
}

/// The paths between two hosts, link by link, where a workload takes them all.
fn paths(workload: &Workload, client: Option<&Host>, server: Option<&Host>) -> Vec<PathSpec> {
    let (Some(client), Some(server)) = (client, server) else { return Vec::new() };
    if !workload.task.takes_every_path() {
        return Vec::new();
    }
    links_between(client, server)
}

fn links_between(client: &Host, server: &Host) -> Vec<PathSpec> {
    links(client)
        .zip(links(server))
        .map(|((device, client), (_, server))| PathSpec { device: device.to_owned(), client, server })
        .collect()
}

/// The paths between two hosts of a topology, link by link.
pub fn paths_between(topology: &Topology, client: &str, server: &str) -> Vec<PathSpec> {
    let host = |name: &str| topology.hosts.iter().find(|host| host.name == name);
    match (host(client), host(server)) {
        (Some(client), Some(server)) => links_between(client, server),
        _ => Vec::new(),
    }
}

/// A host's links that have an address, in order.
fn links(host: &Host) -> impl Iterator<Item = (&str, IpAddr)> {
    let further = host.further.iter().map(|further| (further.device.as_str(), further.address));
    std::iter::once((host.device.as_str(), host.address)).chain(further)
}

/// Gives each sender that takes a processor one of its own, if there are enough. The hosts of a lab share the
/// machine's, and the scheduler often leaves two senders on one for many milliseconds while the other is idle for
/// a tenth of one at a time. Of more senders than processors there is always one for it to take.
pub fn spread<'a>(kinds: &[&dyn Kind], connections: impl Iterator<Item = &'a mut ConnectionSpec>, processors: usize) {
    let takes_one = |name: &str| kinds.iter().any(|kind| kind.name() == name && kind.takes_a_processor());
    let mut senders: Vec<_> = connections.filter(|spec| takes_one(&spec.kind)).collect();
    if (2..=processors).contains(&senders.len()) {
        for (number, spec) in senders.iter_mut().enumerate() {
            spec.processor = Some(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::KINDS;

    fn processors_of(streams: u32, datagrams: u32, processors: usize) -> Vec<Option<usize>> {
        let kinds = (0..datagrams).map(|_| "udp").chain((0..streams).map(|_| "tcp"));
        let nowhere = SocketAddr::from(([10, 0, 0, 1], 1));
        let spec = |(index, kind): (u32, &str)| ConnectionSpec {
            index,
            place: 0,
            client: nowhere,
            server: nowhere,
            interfaces: Default::default(),
            paths: Vec::new(),
            vlan: None,
            client_sends: true,
            kind: kind.to_owned(),
            each: serde_json::Value::Null,
            processor: None,
        };
        let mut specs: Vec<_> = (0..).zip(kinds).map(spec).collect();
        spread(&KINDS, specs.iter_mut(), processors);
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
