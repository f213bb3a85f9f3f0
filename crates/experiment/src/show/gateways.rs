//! Gateways, and the routes over them.

use std::net::IpAddr;

use nicteam_elements::resolved::{Host, Route, Topology};

/// The addresses of each gateway's links, and for each subnet behind a gateway its hosts and the gateway that they use.
pub(super) fn texts(topology: &Topology) -> Vec<String> {
    let gateways = || topology.hosts.iter().filter(|host| host.forwards);
    let mut texts: Vec<String> = gateways().map(links).collect();
    let mut ways: Vec<(Route, Vec<&str>)> = Vec::new();
    for (host, route) in topology.hosts.iter().flat_map(|host| host.routes.iter().map(move |route| (host, route))) {
        match ways.iter_mut().find(|(known, _)| known == route) {
            Some((_, names)) => names.push(&host.name),
            None => ways.push((*route, vec![&host.name])),
        }
    }
    let has =
        |host: &Host, address: IpAddr| host.address == address || host.further.iter().any(|it| it.address == address);
    texts.extend(ways.iter().map(|(route, names)| {
        let by = gateways().find(|host| has(host, route.via)).map_or("", |host| &host.name);
        let reach = if names.len() == 1 { "reaches" } else { "reach" };
        format!("{} {reach} {}/{} by {by}", names.join(", "), route.to, route.prefix)
    }));
    texts
}

/// `gw: 10.0.0.2/24 on eth0, 10.0.1.2/24 on eth1`
fn links(gateway: &Host) -> String {
    let first = format!("{}/{} on {}", gateway.address, gateway.prefix, gateway.device);
    let further = gateway.further.iter().map(|link| format!("{}/{} on {}", link.address, link.prefix, link.device));
    let links: Vec<String> = std::iter::once(first).chain(further).collect();
    format!("{}: {}", gateway.name, links.join(", "))
}
