//! The hosts at the other ends of a node's connections.

use std::collections::BTreeSet;
use std::net::IpAddr;

use nicteam_node::protocol::{ConnectionSpec, Role};

/// The addresses at the other ends, where this node has these ends of the connections.
pub(super) fn peers(role: Role, connections: &[ConnectionSpec]) -> BTreeSet<IpAddr> {
    let other = |client: IpAddr, server: IpAddr| match role {
        Role::Client => server,
        Role::Server => client,
    };
    let of = |spec: &ConnectionSpec| {
        let by_paths: Vec<IpAddr> = spec.paths.iter().map(|path| other(path.client, path.server)).collect();
        by_paths.into_iter().chain([other(spec.client.ip(), spec.server.ip())])
    };
    connections.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use nicteam_node::protocol::PathSpec;

    #[test]
    fn every_path_leads_to_a_neighbour() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let path = PathSpec { device: "eth1".to_owned(), client: ip("10.0.1.1"), server: ip("10.0.1.2") };
        let spec = ConnectionSpec {
            index: 0,
            place: 0,
            client: SocketAddr::new(ip("10.0.0.1"), 1),
            server: SocketAddr::new(ip("10.0.0.2"), 2),
            interfaces: Default::default(),
            paths: vec![path],
            vlan: None,
            client_sends: true,
            kind: "tcp".to_owned(),
            each: serde_json::Value::Null,
            processor: None,
        };
        let twice = [spec.clone(), spec];
        assert_eq!(peers(Role::Client, &twice), BTreeSet::from([ip("10.0.0.2"), ip("10.0.1.2")]));
        assert_eq!(peers(Role::Server, &twice), BTreeSet::from([ip("10.0.0.1"), ip("10.0.1.1")]));
    }
}
