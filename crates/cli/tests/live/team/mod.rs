//! Teams run on a host: `nicteam team add`, `del`, `set`, `member`, `show`,
//! `activate`, `events`, `list`, `restart`, `record`, `replay`.

mod adding;
mod events;
mod refusals;
mod renamed;
mod replays;
mod restarts;
mod users;

use nicteam_testnet::{Host, cables};
use serde_json::Value;

use crate::common::teams::{Probes, TeamHost};

/// Two hosts with three cables; the far one takes what comes over any of them.
fn cabled() -> (TeamHost, TeamHost) {
    let (mut near, mut far) = (Host::new(), Host::new());
    cables(&mut near, &mut far, 3);
    (TeamHost::new(near), TeamHost::new(far))
}

/// The same, with `team0` on both, which reach each other at 10.3.0.1 and
/// 10.3.0.2. The far one answers by every cable, whatever the near one uses.
fn teamed(near_arguments: &[&str]) -> (TeamHost, TeamHost) {
    let (mut near, mut far) = cabled();
    near.run(&[&["add", "team0"], near_arguments].concat());
    far.run(&["add", "team0", "--mode", "broadcast", "--members", "eth0,eth1,eth2"]);
    near.host.address("team0", &[("10.3.0.1", 24)]);
    far.host.address("team0", &[("10.3.0.2", 24)]);
    (near, far)
}

fn probes(near: &TeamHost, far: &TeamHost) -> Probes {
    Probes::new(&near.host, [10, 3, 0, 1], &far.host, [10, 3, 0, 2])
}

/// What a member gets back, of all devices.
fn identities(host: &mut TeamHost) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let links = host.host.netlink.links().unwrap();
    links.into_iter().map(|link| (link.name, link.mac, link.mtu, link.up, link.addr_gen_mode, link.alias)).collect()
}

fn names(status: &Value) -> Vec<&str> {
    status["members"].as_array().unwrap().iter().map(|member| member["name"].as_str().unwrap()).collect()
}
