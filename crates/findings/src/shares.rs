//! How clients of one host share it, and which client starves.

use nicteam_record::Run;
use nicteam_statistics::jain_index;

use crate::units::{mbps, ratio, share};
use nicteam_expect::clients::{Client, clients};

/// A client with less than this part of an even share starves.
const STARVES: f64 = 0.5;

/// What each client got, and which one got too little, where several clients share a host.
pub fn shares(run: &Run) -> Option<String> {
    let clients = clients(run);
    if clients.len() < 2 {
        return None;
    }
    let totals: Vec<f64> = clients.iter().map(Client::total_bps).collect();
    let jain = jain_index(&totals)?;
    let even = totals.iter().sum::<f64>() / totals.len() as f64;
    let each: Vec<String> =
        clients.iter().map(|client| format!("{} {}", client.name, mbps(client.total_bps()))).collect();
    let least = clients.iter().min_by(|one, other| one.total_bps().total_cmp(&other.total_bps()))?;
    let part = share(least.total_bps(), even);
    if run.traffic_tests.is_empty() && part >= STARVES {
        return None;
    }
    let starves = if part < STARVES {
        format!(" {} starves: {} of an even share.", least.name, ratio(part))
    } else {
        String::new()
    };
    Some(format!("Clients got {} Mbit/s (Jain's index {}).{starves}", each.join(", "), ratio(jain)))
}
