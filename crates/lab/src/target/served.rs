//! The lab's side: targets of a run are served, and something is done with them.

use nicteam_experiment::{Host, Medium, Topology};
use nicteam_node::Error;
use nicteam_node::protocol::{Done, Request, ServeTarget, TargetAct};
use nicteam_record as record;

use crate::testbed::Deployment;

/// Lets hosts serve the targets of a topology, which has its addresses; what there is to record of them.
///
/// # Errors
/// One cannot be served.
pub(crate) fn serve(deployment: &mut dyn Deployment, topology: &Topology) -> Result<Vec<record::Target>, Error> {
    let mut served = Vec::new();
    for target in &topology.targets {
        let host = topology.hosts.iter().find(|host| host.name == target.host);
        let request = Request::Serve(ServeTarget {
            name: target.name.clone(),
            kind: target.kind.to_owned(),
            size_bytes: target.size_bytes,
            on_disk: target.medium == Medium::Disk,
            addresses: host.map(addresses).unwrap_or_default(),
            settings: target.settings.clone(),
        });
        let serves = deployment.call(&target.host, &request)?.serves.unwrap_or_default();
        served.push(record::Target {
            name: target.name.clone(),
            host: target.host.clone(),
            kind: target.kind.to_owned(),
            program: serves.program,
            version: serves.version,
            size_bytes: target.size_bytes,
            medium: target.medium.name().to_owned(),
            portals: serves.portals.iter().map(ToString::to_string).collect(),
            configured: serves.configured,
        });
    }
    Ok(served)
}

/// Does something with a target that a host serves.
///
/// # Errors
/// It cannot be done.
pub(crate) fn act(deployment: &mut dyn Deployment, host: &str, name: &str, act: TargetAct) -> Result<Done, Error> {
    deployment.call(host, &Request::Target { name: name.to_owned(), act })
}

fn addresses(host: &Host) -> Vec<std::net::IpAddr> {
    std::iter::once(host.address).chain(host.further.iter().map(|further| further.address)).collect()
}
