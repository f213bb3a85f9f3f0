//! What there is in this network namespace, as Open vSwitch would have it: found out from the kernel and from teams.

use nicteam_daemon::StateStore;
use nicteam_daemon::control::{Client, teams};
use nicteam_netlink::{Link, Netlink};
use nicteam_vsctl::{Bridge, Port, Switch};

use crate::failure::Failure;

/// The alias of a bridge that `add-br` made.
pub(super) const BRIDGE: &str = "nicteam ovs vsctl add-br";
/// The alias of the device of a team that `add-bond` made.
pub(super) const BOND: &str = "nicteam ovs vsctl add-bond";

/// What there is.
#[derive(Debug)]
pub(super) struct Here {
    /// By which devices are found and changed.
    pub(super) netlink: Netlink,
    /// Bridges that `add-br` made, with their ports.
    pub(super) switch: Switch,
    links: Vec<Link>,
}

impl Here {
    /// Looks.
    pub(super) fn look() -> Result<Here, Failure> {
        let mut netlink = Netlink::open()?;
        let links = netlink.links()?;
        let teams: Vec<String> = teams().unwrap_or_default().into_iter().map(|listed| listed.team).collect();
        let mut switch = Switch::default();
        for bridge in links.iter().filter(|link| is_own(link)) {
            let ports = links.iter().filter(|link| link.master == Some(bridge.index));
            let ports = ports.map(|link| (link.name.clone(), port(&link.name, teams.contains(&link.name))));
            switch.bridges.insert(bridge.name.clone(), Bridge { ports: ports.collect() });
        }
        Ok(Here { netlink, switch, links })
    }

    /// True for a bridge that `add-br` did not make.
    pub(super) fn is_other_bridge(&self, name: &str) -> bool {
        self.links.iter().any(|link| link.name == name && link.kind == "bridge" && !is_own(link))
    }

    /// A device that was there.
    pub(super) fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    /// The name of a device that was there.
    pub(super) fn name(&self, index: u32) -> Option<&str> {
        self.links.iter().find(|link| link.index == index).map(|link| link.name.as_str())
    }
}

fn is_own(link: &Link) -> bool {
    link.kind == "bridge" && link.alias == BRIDGE
}

fn port(name: &str, is_team: bool) -> Port {
    let interfaces = if is_team { members(name) } else { Vec::new() };
    match interfaces.is_empty() {
        true => Port { interfaces: vec![name.to_owned()], is_bond: false },
        false => Port { interfaces, is_bond: true },
    }
}

/// The members of a team, also of one whose process has ended; none that the caller may not see.
fn members(team: &str) -> Vec<String> {
    if let Ok(status) = Client::watch(team).and_then(|mut client| client.status()) {
        let present = status.members.into_iter().map(|member| member.name);
        return present.chain(status.missing).collect();
    }
    let persisted = StateStore::here().and_then(|store| store.load(team)).ok().flatten();
    persisted.and_then(|persisted| persisted.spec().ok()).map(|spec| spec.members).unwrap_or_default()
}
