//! What each client of a run carried, down and up.

use std::collections::BTreeMap;

use nicteam_record::Run;
use nicteam_statistics::jain_index;

/// A host at one end of connections of which one host is the other end: a client of that one.
#[derive(Clone, Debug, PartialEq)]
pub struct Client<'a> {
    /// The host.
    pub name: &'a str,
    /// What it received, bit/s.
    pub download_bps: f64,
    /// What it sent, bit/s.
    pub upload_bps: f64,
}

impl Client<'_> {
    /// Both.
    pub fn total_bps(&self) -> f64 {
        self.download_bps + self.upload_bps
    }
}

/// The clients of a run in the order in which they first appear; none if no host has a part in all connections. Where two hosts
/// speak with each other alone, the one that tests begin at is the client, or else the first of the topology.
pub fn clients(run: &Run) -> Vec<Client<'_>> {
    let Some(server) = server(run) else { return Vec::new() };
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut clients: Vec<Client<'_>> = Vec::new();
    for connection in &run.connections {
        let is_download = connection.from == server;
        let name = if is_download { connection.to.as_str() } else { connection.from.as_str() };
        let place = *places.entry(name).or_insert_with(|| {
            clients.push(Client { name, download_bps: 0.0, upload_bps: 0.0 });
            clients.len() - 1
        });
        let client = &mut clients[place];
        let way = if is_download { &mut client.download_bps } else { &mut client.upload_bps };
        *way += connection.delivered_bps;
    }
    clients
}

/// Jain's index over the clients of a run; none where there are fewer than two.
pub fn jain(run: &Run) -> Option<f64> {
    let totals: Vec<f64> = clients(run).iter().map(Client::total_bps).collect();
    jain_index(&totals).filter(|_| totals.len() > 1)
}

/// The one host that has a part in all connections.
fn server(run: &Run) -> Option<&str> {
    let first = run.connections.first()?;
    let in_all = |name: &str| run.connections.iter().all(|connection| connection.from == name || connection.to == name);
    let tested = run.traffic_tests.first().map(|test| test.to.as_str());
    let place = |name: &str| run.topology.hosts.iter().position(|host| host.name == name);
    let mut both: Vec<&str> =
        [first.from.as_str(), first.to.as_str()].into_iter().filter(|name| in_all(name)).collect();
    both.sort_by_key(|name| (tested != Some(name), std::cmp::Reverse(place(name))));
    both.first().copied()
}
