//! What the kernel itself has put a device under: a bond, a bridge, a team, Open vSwitch's datapath, a VRF.

use nicteam_formats::quoted;

use super::{Claim, Device, Host, Manager, Severity};

pub(super) struct Kernel;

impl Manager for Kernel {
    fn claims(&self, host: &Host, device: &Device) -> Vec<Claim> {
        let Some(index) = device.link.as_ref().and_then(|link| link.master) else { return Vec::new() };
        let (member, master) = (device.name.as_str(), host.links.iter().find(|link| link.index == index));
        let (name, kind) = master.map_or(("", ""), |link| (link.name.as_str(), link.kind.as_str()));
        let (own, of) = (quoted(member), quoted(name));
        let (manager, why, cure) = match kind {
            "bond" => (
                "the kernel's bonding driver",
                format!("{member} is a member of the kernel's bond {name}"),
                format!("ip link set {own} nomaster"),
            ),
            "bridge" => (
                "bridge",
                format!("{member} is a port of the bridge {name}"),
                format!(
                    "ip link set {own} nomaster\nthen put the team into {name} instead: ip link set TEAM master {of}"
                ),
            ),
            "team" => (
                "the kernel's team driver",
                format!("{member} is a port of the kernel's team {name}, which teamd runs"),
                format!("teamdctl {of} port remove {own}"),
            ),
            "openvswitch" => (
                "Open vSwitch",
                format!("{member} is a port of Open vSwitch's datapath"),
                format!(
                    "ovs-vsctl del-port {own}\nthen give the bridge the team instead: ovs-vsctl add-port BRIDGE TEAM"
                ),
            ),
            "vrf" => (
                "VRF",
                format!("{member} belongs to the VRF {name}"),
                format!(
                    "ip link set {own} nomaster\nthen put the team into {name} instead: ip link set TEAM master {of}"
                ),
            ),
            _ => (
                "the kernel",
                format!(
                    "{member} is under another device{}",
                    if name.is_empty() { String::new() } else { format!(", {name}") }
                ),
                format!("ip link set {own} nomaster"),
            ),
        };
        vec![Claim { manager, place: None, why, cure, severity: Severity::Refuse }]
    }
}
