//! What the guest is cabled to: a team of ours as LACP partner, and a plain bridge; and a DHCP server behind the team.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use nicteam_dataplane::Kind;
use nicteam_sys::process;
use nicteam_testnet::Host;
use serde_json::Value;

use super::guest::Nic;
use super::image::at;
use super::probe::Probe;
use crate::failure::Failure;
use crate::product::{Product, TeamProcess};
use crate::tools::{self, Daemon};

/// The guest's devices: the first two are members of `team0`, the next two of `team1`, the last is of no team.
pub(super) const NICS: [Nic; 5] = [
    nic("tap0", "52:54:00:00:00:10", 16),
    nic("tap1", "52:54:00:00:00:11", 17),
    nic("tap2", "52:54:00:00:00:12", 18),
    nic("tap3", "52:54:00:00:00:13", 19),
    nic("tap4", "52:54:00:00:00:14", 20),
];

/// An address of each of the guest's teams.
pub(super) const GUEST: [&str; 2] = ["10.40.0.1", "10.41.0.1"];
/// The addresses in the same networks of the host outside.
const OWN: [&str; 2] = ["10.40.0.2", "10.41.0.2"];
/// Devices of the host outside: partner of `team0`, and neighbour of `team1`.
const DEVICES: [&str; 2] = ["partner", "bridge"];
/// How many frames a TAP keeps while the guest stands still: ten seconds of what the probes send.
const QUEUE: &str = "10000";

const fn nic(tap: &'static str, mac: &'static str, slot: u8) -> Nic {
    Nic { tap, mac, slot }
}

/// The host outside; its devices go with it, and its team.
pub(super) struct Outside {
    /// It.
    pub(super) host: Host,
    product: Product,
    /// Where its team keeps its state.
    state: PathBuf,
    _partner: TeamProcess,
    /// Gives the first team its address by DHCP.
    _dhcp: Daemon,
}

impl Outside {
    /// Makes it, with the TAPs for QEMU.
    pub(super) fn new(product: &Product, scratch: &Path, busybox: &Path) -> Result<Outside, Failure> {
        let mut host = Host::quiet();
        for Nic { tap, .. } in NICS {
            ip(&host, &["tuntap", "add", "dev", tap, "mode", "tap"])?;
            ip(&host, &["link", "set", tap, "txqueuelen", QUEUE])?;
        }
        let [partner, bridge] = DEVICES;
        host.netlink.add_bridge(bridge)?;
        let master = host.index(bridge);
        for Nic { tap, .. } in &NICS[2..4] {
            let index = host.index(tap);
            host.netlink.set_master(index, Some(master))?;
            host.set_up(tap, true);
        }
        host.address(bridge, &[(OWN[1], 24)]);
        let members: Vec<String> = NICS[..2].iter().map(|nic| nic.tap.to_owned()).collect();
        let options = [("mode", "802.3ad"), ("lacp_rate", "fast")];
        let state = scratch.join("partner");
        let process = product.start_team(&host.netns, &state, partner, &members, &options, Kind::Bpf)?;
        nicteam_testnet::eventually("the partner's device", || {
            host.netlink.link(partner).is_ok_and(|link| link.is_some())
        });
        host.address(partner, &[(OWN[0], 24)]);
        let dhcp = dhcp_server(busybox, &host, &scratch.join("dhcp"))?;
        Ok(Outside { host, product: product.clone(), state, _partner: process, _dhcp: dhcp })
    }

    /// Who asks each of the guest's addresses, anew: what is sent to these is answered to no others.
    pub(super) fn probes(&self) -> Result<Vec<Probe>, Failure> {
        GUEST.iter().map(|address| Probe::new(&self.host.netns, parsed(address)?)).collect()
    }

    /// How often LACP changed a member of the partner until now, and what changed.
    pub(super) fn changes_at_partner(&self) -> Result<Vec<String>, Failure> {
        let events = self.product.events(&self.host.netns, &self.state, DEVICES[0])?;
        let changes = events.iter().filter(|event| event["event"] == "lacp" || event["event"] == "member");
        Ok(changes.map(Value::to_string).collect())
    }
}

/// Leases the guest's first address to its first device, and so to the team, which has that one's.
fn dhcp_server(busybox: &Path, host: &Host, folder: &Path) -> Result<Daemon, Failure> {
    let leases = folder.join("leases");
    let text = format!(
        "interface {}\nstart {address}\nend {address}\nstatic_lease {} {address}\noption subnet 255.255.255.0\n\
         lease_file {}\npidfile {}\n",
        DEVICES[0],
        NICS[0].mac,
        leases.display(),
        folder.join("pid").display(),
        address = GUEST[0],
    );
    let configuration = folder.join("udhcpd.conf");
    fs::create_dir_all(folder).map_err(|error| at("make", folder, error))?;
    for (path, text) in [(&leases, ""), (&configuration, text.as_str())] {
        fs::write(path, text).map_err(|error| at("write", path, error))?;
    }
    let mut command = Command::new(busybox);
    command.args(["udhcpd", "-f"]).arg(&configuration);
    Daemon::spawn(&host.netns, command)
}

fn parsed(address: &str) -> Result<IpAddr, Failure> {
    address.parse().map_err(|error| Failure::failed(format!("{address}: {error}")))
}

fn ip(host: &Host, arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("ip");
    command.args(arguments);
    process::in_netns(&mut command, &host.netns);
    tools::output(&mut command).map(drop)
}
