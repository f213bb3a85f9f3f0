//! A run's connections as flows.

use std::net::SocketAddr;

use nicteam_predict::{ByLink, Cable, Flow};
use nicteam_record::{Connection, Host, Run};
use nicteam_wire::Mac;

/// The flows of a run, and the connection of each. One of multipath TCP is a flow for each link of its hosts.
pub(crate) fn of_run(
    run: &Run,
    cables: &[Cable],
    place: &impl Fn(&str) -> Option<usize>,
) -> Result<(Vec<Flow>, Vec<usize>), String> {
    let (mut flows, mut of_connection) = (Vec::new(), Vec::new());
    for (number, connection) in run.connections.iter().enumerate() {
        let missing =
            || format!("the record lacks an address of the connection from {} to {}", connection.from, connection.to);
        let flow = flow(run, connection, place).ok_or_else(missing)?;
        let links = cables.iter().filter(|cable| cable.ends.contains(&flow.nodes[0])).count().max(1);
        let parts = if connection.transport == "mptcp" { links } else { 1 };
        for link in 0..parts {
            let by_link = (parts > 1).then_some(ByLink::One(link));
            flows.push(Flow { by_link, weight: 1.0 / parts as f64, ..flow.clone() });
            of_connection.push(number);
        }
    }
    Ok((flows, of_connection))
}

fn flow(run: &Run, connection: &Connection, place: &impl Fn(&str) -> Option<usize>) -> Option<Flow> {
    let host = |name: &str| run.topology.hosts.iter().find(|host| host.name == *name);
    let hosts: [&Host; 2] = [host(&connection.from)?, host(&connection.to)?];
    let addresses: [SocketAddr; 2] = [connection.src.parse().ok()?, connection.dst.parse().ok()?];
    let macs: [Mac; 2] = [hosts[0].mac.parse().ok()?, hosts[1].mac.parse().ok()?];
    let nodes = [place(run.topology.links_of(&hosts[0].name))?, place(run.topology.links_of(&hosts[1].name))?];
    Some(Flow {
        macs,
        vlan: connection.vlan,
        guests: hosts.map(|host| host.parent.is_some()),
        ..Flow::tcp(nodes, addresses)
    })
}
