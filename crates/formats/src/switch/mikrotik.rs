//! MikroTik (RouterOS 7, "Bonding"): a switch of theirs bonds as a host does, and bridges the bond.

use nicteam_options::HashPolicy;

use super::dialect::{Dialect, Group, Hashed, Lines, Words};

/// See the module.
pub(super) struct Mikrotik;

impl Dialect for Mikrotik {
    fn words(&self) -> &'static Words {
        &Words {
            name: "mikrotik",
            title: "the switch's end, MikroTik RouterOS",
            comment: "#",
            place: "",
            most_groups: 31,
            undo: "`/interface bonding remove BOND`, and each port into the bridge",
        }
    }

    fn group(&self, group: &Group<'_>, lines: &mut Lines) {
        let (number, name) = (group.number, &group.team.name);
        let ports: Vec<String> = (1..=group.ports()).map(|port| format!("ether{port}")).collect();
        for port in &ports {
            lines.put(format!("/interface bridge port remove [find interface={port}]"));
        }
        let policy = match Hashed::of(group.config.xmit_hash_policy) {
            Hashed::SrcDstMac | Hashed::SrcMac | Hashed::DstMac => "layer-2",
            Hashed::SrcDstIp | Hashed::SrcIp | Hashed::DstIp => "layer-2-and-3",
            Hashed::Ports => "layer-3-and-4",
        };
        let mut line = format!("/interface bonding add name=bond{number} slaves={}", ports.join(","));
        line.push_str(if group.speaks { " mode=802.3ad" } else { " mode=balance-xor" });
        line.push_str(&format!(" transmit-hash-policy={policy}"));
        if group.speaks {
            line.push_str(if group.is_fast() { " lacp-rate=1sec" } else { " lacp-rate=30secs" });
        }
        if let Some(links) = group.min_links() {
            line.push_str(&format!(" min-links={links}"));
        }
        if let Some(mtu) = group.mtu() {
            for port in &ports {
                lines.put(format!("/interface ethernet set {port} mtu={mtu} l2mtu={}", mtu + 92));
            }
            line.push_str(&format!(" mtu={mtu}"));
        }
        lines.put(format!("{line} comment={name}"));
        lines.put(format!("/interface bridge port add bridge=bridge1 interface=bond{number}"));
    }

    /// Each bond has its own.
    fn balance(&self, _: &[HashPolicy], _: &mut Lines) {}
}
