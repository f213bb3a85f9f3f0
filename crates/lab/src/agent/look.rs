//! What an agent's node has, and what passes the paths from it.

use nicteam_netlink::Netlink;
use nicteam_node::Failure;
use nicteam_node::protocol::{Device, PathSeen, PathSpec};
use nicteam_pathmtu::{OneWay, Options, examine};

/// Every device of the node but its loopback.
pub(super) fn devices(netlink: &mut Netlink) -> Result<Vec<Device>, Failure> {
    let links = netlink.links()?.into_iter().filter(|link| link.name != "lo");
    let device = |link: nicteam_netlink::Link| Device {
        name: link.name,
        mtu: link.mtu,
        up: link.up,
        carrier: link.carrier,
        max_packets: link.gso_max_segs,
    };
    Ok(links.map(device).collect())
}

/// What passes each of these paths, all at once.
pub(super) fn paths(paths: &[PathSpec]) -> Result<Vec<PathSeen>, Failure> {
    let one = |path: &PathSpec| {
        let device = Some(path.device.as_str()).filter(|device| !device.is_empty());
        let found = examine(&Options { to: path.server, from: Some(path.client), device, wanted: None })?;
        let way = |way: OneWay| match way {
            OneWay::Passes { bytes } | OneWay::Limited { bytes, .. } | OneWay::Unknown { bytes } => bytes,
        };
        Ok(PathSeen {
            path: path.clone(),
            own_mtu: found.own_mtu,
            there_bytes: found.verdict.map(|verdict| way(verdict.there)),
            back_bytes: found.verdict.map(|verdict| way(verdict.back)),
            is_good: found.is_good(),
            findings: found.findings(),
            round_trip_us: found.round_trip.map(|time| time.as_micros() as u64),
        })
    };
    // Each waits for answers most of the time.
    let found: Vec<nicteam_sys::Result<PathSeen>> = std::thread::scope(|scope| {
        let threads: Vec<_> = paths.iter().map(|path| scope.spawn(move || one(path))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    found.into_iter().map(|path| Ok(path?)).collect()
}
